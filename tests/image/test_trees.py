"""Trees of others: what they must contain, and where their licence lets them run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.image.errors import TreeError
from pytest_autodeploy.image.licence import ambiq_only
from pytest_autodeploy.image.trees import Sdk, TflmTree, find_sdk, find_tflm
from tests.helpers.tflm_trees import APACHE, CM4, TFLM_FILES, make_files, tflm

SDK_FILES = (
    "Makefile",
    "make/neuralspot_config.mk",
    "make/neuralspot_toolchain.mk",
    "neuralspot/ns-core/module.mk",
    "extern/AmbiqSuite/R4.5.0/module.mk",
)
CM4_LOGS = "lib/libtensorflow-microlite-cm4-gcc-release-with-logs.a"
CM55 = "lib/libtensorflow-microlite-cm55-gcc-release.a"


@pytest.fixture
def sdk(tmp_path: Path) -> Path:
    """What looks like neuralSPOT, with two runtimes."""
    root = make_files(tmp_path / "neuralSPOT", *SDK_FILES)
    (root / "make/neuralspot_config.mk").write_text("ifndef TF_VERSION\n  TF_VERSION := helia_2\n")
    for name in ("helia_2", "helia_3"):
        tflm(root / "extern/tensorflow" / name, CM4)
    return root


def test_without_a_tree_the_error_says_how_to_give_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTODEPLOY_TFLM_ROOT", raising=False)

    with pytest.raises(TreeError, match="--evb-tflm-root=DIR or AUTODEPLOY_TFLM_ROOT"):
        find_tflm()


def test_a_variable_names_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTODEPLOY_TFLM_ROOT", str(tflm(tmp_path / "tree")))

    assert find_tflm().version == "tree"


@pytest.mark.parametrize("missing", TFLM_FILES)
def test_the_piece_that_a_tree_lacks_is_named(tmp_path: Path, missing: str) -> None:
    (tflm(tmp_path / "tree") / missing).unlink()

    with pytest.raises(TreeError, match=f"TensorFlow Lite Micro tree: {missing} is missing"):
        find_tflm(str(tmp_path / "tree"))


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match=r"no such folder: .*gone"):
        find_tflm(str(tmp_path / "gone"))


@pytest.mark.parametrize(
    ("libraries", "core", "chosen"),
    [
        ((CM4, CM4_LOGS, CM55), "cortex-m4f", CM4_LOGS),
        ((CM4, CM55), "cortex-m4f", CM4),
        ((CM4, CM4_LOGS, CM55), "cortex-m55", CM55),
        (
            (
                "gen/cortex_m_generic_cortex-m4+fp_default_cmsis_nn_gcc/lib/libtensorflow-microlite.a",
                "gen/cortex_m_generic_cortex-m55_default_cmsis_nn_gcc/lib/libtensorflow-microlite.a",
            ),
            "cortex-m55",
            "gen/cortex_m_generic_cortex-m55_default_cmsis_nn_gcc/lib/libtensorflow-microlite.a",
        ),
    ],
)
def test_the_library_is_for_the_core_and_has_error_strings_if_possible(
    tmp_path: Path, libraries: tuple[str, ...], core: str, chosen: str
) -> None:
    root = tflm(tmp_path / "tree", *libraries)

    assert TflmTree(root).library(core) == root / chosen


def test_the_smallest_library_is_the_one_without_error_strings(tmp_path: Path) -> None:
    tree = TflmTree(tflm(tmp_path / "tree", CM4, CM4_LOGS, CM55))

    assert tree.library("cortex-m4f", smallest=True) == tree.root / CM4


def test_a_tree_without_a_library_for_the_core_lists_those_it_has(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match=f"no static library for a cortex-m55: it has {CM4}"):
        TflmTree(tflm(tmp_path / "tree", CM4)).library("cortex-m55")


@pytest.mark.parametrize("name", ["tflite-micro", "helia_rt_v1_3_0", "anything"])
def test_apache_trees_run_anywhere(tmp_path: Path, name: str) -> None:
    assert ambiq_only(tflm(tmp_path / name)) is None


@pytest.mark.parametrize(
    "name", ["helia_rt_v1_4_0", "helia_rt_v2_0_0", "ns_tflm_v1_7_0", "tflm_nov_25"]
)
def test_trees_that_are_known_for_ambiq_only_are_refused_whatever_their_text(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(TreeError, match=f"{name} is licensed for Ambiq CPUs only") as caught:
        TflmTree(tflm(tmp_path / name)).require_emulation("qemu:mps2-an386")

    assert "upstream tflite-micro" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "has no file LICENSE"),
        ("Any use on a CPU that is not manufactured by Ambiq is prohibited", "is not the Apache"),
        ("", "is not the Apache"),
        (APACHE.replace("royalty-free", "royalty-bearing"), "is not the Apache"),
        (APACHE + "\nUse is permitted solely for Ambiq CPUs.", "is not the Apache"),
        ("Licensed under the Apache License Version 2.0", "is not the Apache"),
    ],
)
def test_a_licence_in_doubt_is_refused(tmp_path: Path, text: str | None, complaint: str) -> None:
    reason = ambiq_only(tflm(tmp_path / "helia_rt_v1_3_0", licence=text))

    assert reason is not None
    assert complaint in reason


def test_a_link_with_another_name_does_not_hide_a_tree(tmp_path: Path) -> None:
    (tmp_path / "tflm").symlink_to(tflm(tmp_path / "helia_rt_v1_6_0"))

    assert ambiq_only(tmp_path / "tflm") is not None


@pytest.mark.parametrize("missing", ["Makefile", "neuralspot/ns-core/module.mk"])
def test_the_piece_that_an_sdk_lacks_is_named(sdk: Path, missing: str) -> None:
    (sdk / missing).unlink()

    with pytest.raises(TreeError, match=f"is not a neuralSPOT checkout: {missing} is missing"):
        find_sdk(str(sdk))


def test_an_sdk_builds_with_its_own_runtime_or_the_one_that_is_given(
    sdk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AUTODEPLOY_TFLM_ROOT", raising=False)

    assert find_sdk(str(sdk)).runtime().version == "helia_2"
    assert Sdk(sdk).runtime(str(sdk / "extern/tensorflow/helia_3")).version == "helia_3"


def test_an_sdk_cannot_link_a_runtime_from_elsewhere(sdk: Path, tmp_path: Path) -> None:
    with pytest.raises(TreeError, match="Name one of helia_2, helia_3"):
        Sdk(sdk).runtime(str(tflm(tmp_path / "tree")))


def test_a_version_of_ambiqsuite_that_is_not_there_is_refused(sdk: Path) -> None:
    with pytest.raises(TreeError, match=r"no AmbiqSuite R5\.3\.0, only R4\.5\.0"):
        Sdk(sdk).ambiqsuite("R5.3.0")
