"""``--evb-keep-build``, and other choices of a build."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.image.debug_build import HOW, commands
from pytest_autodeploy.image.errors import ToolMissing, TreeError
from pytest_autodeploy.image.toolchain import find_toolchain
from tests.helpers.emulation import image, machine
from tests.helpers.neuralspot_bench import Bench
from tests.helpers.tflite_builder import relu
from tests.helpers.tflm_trees import APACHE, CM4, make_files, tflm


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def told(bench: Bench) -> set[str]:
    return set(bench.log.read_text().split())


def test_a_build_is_kept_with_the_commands_of_a_debugger(bench: Bench, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    builder = bench.builder("apollo510_evb", keep=kept)
    for _ in range(2):  # one that comes from the cache, too
        built = builder.build(image(tmp_path, relu()))
        folder = kept / f"apollo510_evb-{built.build_id}"
        assert (folder / "autodeploy.axf").read_text() == "axf\n"
        server, gdb = (folder / HOW).read_text().splitlines()
        assert server == "JLinkGDBServer -device AP510NFA-CBR -if SWD -speed 4000"
        assert gdb == f'arm-none-eabi-gdb -ex "target remote :2331" "{folder}/autodeploy.axf"'
        (folder / HOW).unlink()


def test_a_machine_of_qemu_waits_for_its_debugger(tmp_path: Path) -> None:
    (tmp_path / "autodeploy.elf").touch()
    server, gdb = commands(tmp_path, machine("mps2-an386"))
    assert "-machine mps2-an386" in server
    assert "-S -gdb tcp::1234" in server
    assert gdb.endswith(f'"target remote :1234" "{tmp_path}/autodeploy.elf"')


def test_a_folder_that_cannot_be_written_is_told(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Exception, match="cannot copy the build to"):
        bench.builder(keep=tmp_path / "file").build(image(tmp_path, relu()))


def test_tflm_goes_to_itcm_only_when_asked(bench: Bench, tmp_path: Path) -> None:
    bench.builder("apollo510_evb").build(image(tmp_path, relu()))
    assert "TFLM_IN_ITCM=1" not in told(bench)
    bench.builder("apollo510_evb", tflm_memory="itcm").build(image(tmp_path, relu()))
    assert "TFLM_IN_ITCM=1" in told(bench)


def test_a_runtime_and_an_ambiqsuite_are_named_as_the_sdk_does(
    bench: Bench, tmp_path: Path
) -> None:
    tflm(bench.sdk / "extern/tensorflow/helia_rt_v1_3_0", CM4, licence=APACHE)
    make_files(bench.sdk, "extern/AmbiqSuite/R4.4.1/module.mk")
    chosen = {"tflm_root": "helia_rt_v1_3_0", "ambiqsuite": "R4.4.1"}
    bench.builder(**chosen).build(image(tmp_path, relu()))
    assert {"TF_VERSION=helia_rt_v1_3_0", "AS_VERSION=R4.4.1"} <= told(bench)


def test_an_ambiqsuite_that_is_not_there_lists_those_that_are(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(TreeError, match=r"no AmbiqSuite R9, only .*R4\.5\.0"):
        bench.builder(ambiqsuite="R9").build(image(tmp_path, relu()))


def test_a_missing_armclang_is_not_told_to_install_gcc(tmp_path: Path) -> None:
    with pytest.raises(ToolMissing) as raised:
        find_toolchain(str(tmp_path / "armclang"))
    assert "developer.arm.com" in str(raised.value)
    assert "gcc" not in str(raised.value)
