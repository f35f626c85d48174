"""``autodeploy doctor``: what is there, what is missing, what does not work, each with its fix."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

import pytest
from serial.tools import list_ports

from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.cli.doctor import GOAL_NAMES, doctor
from pytest_autodeploy.doctor import boards, fixes, installation, meter, tools, usb
from pytest_autodeploy.doctor.goals import GOALS
from pytest_autodeploy.image import toolchain, trees
from tests.helpers.cli_support import keys_of, only_path, run, run_json
from tests.helpers.fake_tools import fake_program

HANGS = "exec /bin/sleep 60"
GCC = 'case "$1" in --version) echo "gcc 13.2.1 20231009";; *) echo /lib/"$1";; esac'
MACHINES = "Supported machines are:\nmps2-an386 X\nmps3-an547 Y"
QEMU = f'case "$1" in --version) echo "QEMU emulator version 8.2.0";; *) echo "{MACHINES}";; esac'


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The only folder of PATH, empty, on a Debian without any device."""
    folder = tmp_path / "bin"
    only_path(monkeypatch, folder)
    monkeypatch.setattr(fixes, "system", lambda: "debian")
    monkeypatch.setattr(fixes, "as_root", lambda command, **_: f"sudo {command}")
    monkeypatch.setattr(boards, "find_pyocd", list)
    monkeypatch.setattr(list_ports, "comports", list)
    monkeypatch.setattr(usb, "DEVICES", tmp_path / "no-devices")
    # tests/doctor/test_imports.py has it: TensorFlow alone takes seconds
    monkeypatch.setattr(installation, "broken_imports", lambda _: {})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "TIMEOUT_S", 0.2)
    monkeypatch.setattr(boards, "TIMEOUT_S", 0.2)
    monkeypatch.setattr(meter, "TIMEOUT_S", 0.2)
    monkeypatch.setattr(toolchain, "_TIMEOUT_S", 0.2)


def checks_of(goal: str, *arguments: str | Path) -> dict[str, Any]:
    """The checks of a goal by their names."""
    _, document = run_json("doctor", goal, *arguments)
    (found,) = document["goals"]
    return {check["name"]: check for check in found["checks"]}


def test_a_bare_machine_is_told_what_to_install_for_each_goal() -> None:
    result = run("doctor")

    assert "Emulated boards: not ready, lacks Arm compiler, CMake, ninja or make" in result.stdout
    for fix in (
        "sudo apt install gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib",
        "sudo apt install cmake",
        "sudo apt install ninja-build",
        "sudo apt install qemu-system-arm",
        "git clone --depth 1 https://github.com/AmbiqAI/neuralSPOT",
        'export AUTODEPLOY_TFLM_ROOT="$PWD/neuralSPOT"/extern/tensorflow/helia_rt_v1_3_0',
        'export NEURALSPOT_ROOT="$PWD/neuralSPOT"',
        "https://www.segger.com/downloads/jlink",
        "connect the board's debug USB port",
    ):
        assert fix in result.stdout


def test_what_is_missing_is_trouble_only_for_a_goal_that_is_named() -> None:
    assert run("doctor").exit_code == 0
    assert run("doctor", "emulated").exit_code == 1
    assert run("doctor", "installation").exit_code == 0


def test_json_has_every_goal_and_every_check() -> None:
    code, document = run_json("doctor")

    assert (code, document["healthy"]) == (0, True)
    assert tuple(goal["name"] for goal in document["goals"]) == GOAL_NAMES
    assert tuple(goal.name for goal in GOALS) == GOAL_NAMES
    states = {check["state"] for goal in document["goals"] for check in goal["checks"]}
    assert states <= {"ok", "missing", "trouble"}
    undocumented = {key for key in keys_of(document) if key not in str(doctor.help)}
    assert undocumented == {"schema"}


def test_everything_that_is_not_well_has_a_fix() -> None:
    _, document = run_json("doctor")

    for goal in document["goals"]:
        for check in goal["checks"]:
            assert (check["state"] == "ok") == (check["fix"] is None), check


def test_tools_that_are_there_are_named_with_their_versions(bare: Path) -> None:
    fake_program(bare, "arm-none-eabi-gcc", GCC)
    fake_program(bare, "cmake", "echo cmake version 3.28.1")
    fake_program(bare, "make", "echo GNU Make 4.3")
    fake_program(bare, "qemu-system-arm", QEMU)

    found = checks_of("emulated")

    assert found["Arm compiler"]["found"].startswith("gcc 13.2.1 20231009")
    assert found["CMake"]["found"].startswith("cmake version 3.28.1")
    assert found["make"]["found"].startswith("GNU Make 4.3")
    assert found["QEMU"]["found"].endswith(": mps2-an386, mps3-an547")
    assert {found[name]["state"] for name in ("Arm compiler", "CMake", "make", "QEMU")} == {"ok"}


@pytest.mark.parametrize(
    ("program", "script", "name", "words"),
    [
        ("arm-none-eabi-gcc", "echo gcc 9.1.1", "Arm compiler", "is version 9.1.1, older than"),
        ("cmake", "echo cmake version 3.16.3", "CMake", "older than 3.20"),
        ("cmake", "echo hello", "CMake", "does not answer as it should: it exited with code 0"),
        ("ninja", "exit 3", "ninja or make", "it exited with code 3"),
        ("ninja", "kill -9 $$", "ninja or make", "it died of SIGKILL"),
        ("qemu-system-arm", "echo QEMU emulator version 5.2.0", "QEMU", "does not answer"),
    ],
)
def test_a_tool_that_does_not_do_is_trouble(
    bare: Path, program: str, script: str, name: str, words: str
) -> None:
    fake_program(bare, program, script)

    check = checks_of("emulated")[name]

    assert (check["state"], words in check["found"]) == ("trouble", True), check
    assert check["fix"]


def test_a_compiler_without_its_libraries_is_trouble(bare: Path) -> None:
    fake_program(bare, "arm-none-eabi-gcc", GCC.replace('/lib/"$1"', '"${1#*=}"'))

    check = checks_of("emulated")["Arm compiler"]

    assert check["state"] == "trouble"
    assert "has no libc.a and no libstdc++.a" in check["found"]
    assert "libnewlib-arm-none-eabi" in check["fix"]


def test_a_qemu_without_a_machine_is_trouble(bare: Path) -> None:
    fake_program(bare, "qemu-system-arm", QEMU.replace("mps3-an547 Y", ""))

    check = checks_of("emulated")["QEMU"]

    assert "has no machine mps3-an547" in check["found"]
    assert check["fix"] == "install QEMU 6.0 or newer"


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("program", "goal", "name"),
    [
        ("arm-none-eabi-gcc", "emulated", "Arm compiler"),
        ("cmake", "emulated", "CMake"),
        ("ninja", "emulated", "ninja or make"),
        ("qemu-system-arm", "emulated", "QEMU"),
        ("make", "evb", "make"),
        ("JLinkExe", "evb", "probe"),
    ],
)
def test_a_tool_that_hangs_is_given_up_and_named(
    bare: Path, program: str, goal: str, name: str
) -> None:
    fake_program(bare, program, HANGS)

    check = checks_of(goal)[name]

    assert check["state"] == "trouble"
    assert "0.2 s" in check["found"]


def test_a_file_that_is_no_program_is_trouble(bare: Path) -> None:
    fake_program(bare, "cmake", "").write_text("#!/no/such/interpreter\n")

    check = checks_of("emulated")["CMake"]

    assert check["state"] == "trouble"
    assert "cannot be run: No such file or directory" in check["found"]


def test_a_probe_tool_that_prints_rubbish_lists_no_probe(bare: Path) -> None:
    fake_program(bare, "JLinkExe", "head -c 300 /dev/urandom")

    found = checks_of("evb")

    assert found["probe tool"]["state"] == "ok"
    assert found["probe"]["state"] == "missing"


def test_a_folder_that_is_no_tree_is_trouble(tmp_path: Path) -> None:
    tree = checks_of("emulated", "--tflm-root", tmp_path)["TFLM tree"]
    sdk = checks_of("evb", "--sdk", tmp_path)["neuralSPOT"]

    assert "is not a TensorFlow Lite Micro tree" in tree["found"]
    assert "is not a neuralSPOT checkout" in sdk["found"]
    assert (tree["state"], sdk["state"]) == ("trouble", "trouble")


def make_tree(folder: Path, licence: str, *libraries: str) -> Path:
    """A TFLM tree as far as anyone looks before a build."""
    for part in (*trees._TFLM_PARTS, *(f"lib/{name}" for name in libraries)):
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        (folder / part).touch()
    (folder / "LICENSE").write_text(licence)
    return folder


CM55 = "libtensorflow-microlite-cm55-gcc-release.a"


def test_a_tree_that_may_run_on_any_cpu_is_named_with_its_cores(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tflm", resource("LICENSE").read_text(), CM55)

    check = checks_of("emulated", "--tflm-root", tree)["TFLM tree"]

    assert check["state"] == "ok", check
    assert check["found"].startswith("tflm for cortex-m55, may run on any CPU")


def test_a_tree_for_ambiq_cpus_only_is_trouble_for_emulated_boards(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "helia_rt_v1_7_0", "proprietary", CM55)

    check = checks_of("emulated", "--tflm-root", tree)["TFLM tree"]

    assert check["state"] == "trouble"
    assert "licensed for Ambiq CPUs only" in check["found"]


def test_a_tree_without_libraries_is_trouble(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tflm", resource("LICENSE").read_text())

    check = checks_of("emulated", "--tflm-root", tree)["TFLM tree"]

    assert "has no static library for cortex-m4f or cortex-m55" in check["found"]


def test_the_runtime_of_a_neuralspot_that_is_there_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = tmp_path / "extern/tensorflow/helia_rt_v1_3_0"
    make_tree(runtime, resource("LICENSE").read_text(), CM55)
    monkeypatch.setenv("NEURALSPOT_ROOT", str(tmp_path))

    assert checks_of("emulated")["TFLM tree"]["fix"] == f"export AUTODEPLOY_TFLM_ROOT={runtime}"


def test_the_oldest_cmake_is_that_of_the_firmware() -> None:
    wanted = ".".join(map(str, tools.OLDEST_CMAKE))
    text = resource("firmware", "CMakeLists.txt").read_text()

    assert f"cmake_minimum_required(VERSION {wanted})" in text


def test_a_plugin_that_pytest_does_not_load_is_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks_of("installation")["pytest plugin"]["state"] == "ok"
    monkeypatch.setenv(installation.NO_AUTOLOAD, "1")

    check = checks_of("installation")["pytest plugin"]

    assert check["state"] == "trouble"
    assert check["fix"] == "pytest -p pytest_autodeploy.plugin ..., or unset it"


def test_a_cache_is_named_with_its_size(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "pytest-autodeploy"
    folder.mkdir(parents=True)
    (folder / "image").write_bytes(bytes(2048))

    assert checks_of("installation")["cache"]["found"] == f"{folder}, 2.00 KB"


def test_a_cache_that_cannot_be_written_is_trouble(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")

    check = checks_of("installation")["cache"]

    assert check["state"] == "trouble"
    assert "--autodeploy-cache=DIR" in check["fix"]
    assert run("doctor").exit_code == 1


def test_a_missing_extra_is_installed_into_this_very_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:

    def version(name: str) -> str:
        if name == "ethos-u-vela":
            raise importlib.metadata.PackageNotFoundError(name)
        return importlib.metadata.version(name)

    monkeypatch.setattr(installation, "version", version)

    check = checks_of("estimates")["extra vela"]

    assert check["state"] == "missing"
    assert check["fix"] == fixes.pip_install("pytest-autodeploy[vela]")
