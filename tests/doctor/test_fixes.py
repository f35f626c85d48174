"""The commands that the doctor tells people to type: those of their own system."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from pathlib import Path

import pytest

from pytest_autodeploy.doctor import fixes
from tests.helpers.fake_tools import fake_program

RELEASES = {
    "debian": {"ID": "debian"},
    "ubuntu": {"ID": "linuxmint", "ID_LIKE": "ubuntu debian"},
    "fedora": {"ID": "rocky", "ID_LIKE": "rhel centos fedora"},
    "arch": {"ID": "arch"},
    "unknown": {"ID": "plan9"},
}


@pytest.fixture(autouse=True)
def somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)


@pytest.mark.parametrize(
    ("release", "program", "command"),
    [
        ("debian", "ninja", "sudo apt install ninja-build"),
        ("ubuntu", "qemu-system-arm", "sudo apt install qemu-system-arm"),
        ("fedora", "arm-none-eabi-gcc", "sudo dnf install arm-none-eabi-gcc-cs "),
        ("arch", "cmake", "sudo pacman -S cmake"),
        ("unknown", "cmake", "install cmake and put it on PATH"),
    ],
)
def test_linux_is_known_by_its_release_file(
    monkeypatch: pytest.MonkeyPatch, release: str, program: str, command: str
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: RELEASES[release])

    assert fixes.install(program).startswith(command)


def test_macos_has_brew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    assert fixes.install("qemu-system-arm") == "brew install qemu"
    assert fixes.install("arm-none-eabi-gcc") == "brew install --cask gcc-arm-embedded"


def test_root_needs_no_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)

    assert fixes.as_root("udevadm trigger") == "udevadm trigger"


def test_a_system_without_a_release_file_gets_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> dict[str, str]:
        raise OSError

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "freedesktop_os_release", missing)

    assert fixes.install("make") == "install make and put it on PATH"


def test_packages_go_into_the_python_that_runs_this(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))
    assert fixes.pip_install("a[b]") == f'{tmp_path}/python -m pip install "a[b]"'

    fake_program(tmp_path, "pip", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fixes.pip_install("a[b]") == 'pip install "a[b]"'

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert fixes.pip_install("a") == f'uv pip install --python {tmp_path}/python "a"'
