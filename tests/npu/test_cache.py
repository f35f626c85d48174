"""The cache of Vela's output: what decides an entry, damage, and processes side by side."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_autodeploy.base.private_folder import NotPrivate
from pytest_autodeploy.npu.cache import VelaCache, cache_key, default_folder
from pytest_autodeploy.npu.vela import VelaOutput
from tests.helpers.vela_csv import LayerSpec, vela_output

OUTPUT = vela_output([LayerSpec("y\u2028\x00", cycles=5)], 1)
KEY = cache_key("model", "config", "5.2.0", ["--accelerator-config", "ethos-u55-128"])


def entry(folder: Path) -> Path:
    (file,) = folder.rglob("*.json")
    return file


def test_what_was_put_is_got_by_another_process(tmp_path: Path) -> None:
    VelaCache(tmp_path).put(KEY, OUTPUT)
    assert VelaCache(tmp_path).get(KEY) == OUTPUT


def test_what_was_never_put_is_absent(tmp_path: Path) -> None:
    assert VelaCache(tmp_path / "none").get(KEY) is None


def test_everything_that_decides_the_figures_is_in_the_key() -> None:
    keys = {
        KEY,
        cache_key("model2", "config", "5.2.0", ["--accelerator-config", "ethos-u55-128"]),
        cache_key("model", "config2", "5.2.0", ["--accelerator-config", "ethos-u55-128"]),
        cache_key("model", "config", "5.1.0", ["--accelerator-config", "ethos-u55-128"]),
        cache_key("model", "config", "5.2.0", ["--accelerator-config", "ethos-u55-256"]),
        cache_key("model", "config", "5.2.0", ["--accelerator-config ethos-u55-128"]),
    }
    assert len(keys) == 6


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"output": {}, "sha256": ""}', b"[" * 100_000],
)
def test_a_damaged_entry_is_absent_and_can_be_written_again(tmp_path: Path, damage: bytes) -> None:
    cache = VelaCache(tmp_path)
    cache.put(KEY, OUTPUT)
    entry(tmp_path).write_bytes(damage)
    assert cache.get(KEY) is None
    cache.put(KEY, OUTPUT)
    assert cache.get(KEY) == OUTPUT


def test_an_entry_whose_text_was_changed_is_absent(tmp_path: Path) -> None:
    cache = VelaCache(tmp_path)
    cache.put(KEY, OUTPUT)
    plain = json.loads(entry(tmp_path).read_bytes())
    plain["output"]["summary"] += "1"
    entry(tmp_path).write_text(json.dumps(plain))
    assert cache.get(KEY) is None


def test_writers_at_the_same_time_leave_one_whole_entry(tmp_path: Path) -> None:
    cache = VelaCache(tmp_path)

    def write_and_read(_: int) -> VelaOutput | None:
        cache.put(KEY, OUTPUT)
        return cache.get(KEY)

    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(write_and_read, range(40)))
    assert set(got) == {OUTPUT}
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == [f"{KEY}.json"]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = VelaCache(tmp_path / "file")
    cache.put(KEY, OUTPUT)
    assert cache.get(KEY) is None


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_folder_that_every_user_may_write_to_is_not_used(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(NotPrivate, match="every user may write to") as raised:
        VelaCache(tmp_path)
    assert "--autodeploy-cache=DIR" in str(raised.value.hint)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has LOCALAPPDATA")
def test_the_folder_is_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "pytest-autodeploy" / "vela"
    monkeypatch.setenv("HOME", "/home/someone")
    for unusable in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", unusable)
        assert default_folder() == Path("/home/someone/.cache/pytest-autodeploy/vela")
