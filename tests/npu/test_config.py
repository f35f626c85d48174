"""Accelerators, systems and Vela's configuration files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import MissingExtra, NpuConfigError
from pytest_autodeploy.catalog.accelerators import ACCELERATORS, check_accelerator
from pytest_autodeploy.npu import config_file
from pytest_autodeploy.npu.config_file import choose_system, sample_config

ONE_OF_EACH = """
[System_Config.Mine]
core_clock=1e6
axi0_port=Sram
axi1_port=Dram
[Memory_Mode.Only]
const_mem_area=Axi1
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A configuration file with one system and one memory mode."""
    path = tmp_path / "my.ini"
    path.write_text(ONE_OF_EACH)
    return path


def test_there_are_eleven_accelerators() -> None:
    assert len(ACCELERATORS) == 11
    assert [check_accelerator(name) for name in ACCELERATORS] == list(ACCELERATORS)


@pytest.mark.parametrize("name", ["ethos-u55-129", "Ethos_U55_128", "ETHOS-U55-128"])
def test_an_unknown_accelerator_is_told_with_what_may_have_been_meant(name: str) -> None:
    with pytest.raises(NpuConfigError) as error:
        check_accelerator(name)
    assert f"unknown accelerator {name!r}" in str(error.value)
    assert "Did you mean ethos-u55-12" in str(error.value)
    assert "ethos-u85-2048" in str(error.value)


def test_a_file_with_one_system_and_one_mode_needs_no_names(own: Path) -> None:
    system = choose_system("ethos-u85-256", config=own)
    assert (system.system_config, system.memory_mode, system.name) == ("Mine", "Only", "my.ini")
    assert system.memories == ("sram", "dram")
    assert system.assumed == ()


def test_a_file_with_several_asks_which(own: Path) -> None:
    own.write_text(ONE_OF_EACH + "[System_Config.Other]\ncore_clock=1\n")
    with pytest.raises(NpuConfigError) as error:
        choose_system("ethos-u85-256", config=own)
    assert "which system configuration is not given" in str(error.value)
    assert "my.ini has: Mine, Other" in str(error.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"system_config": "Mime"}, "there is no system configuration 'Mime'"),
        ({"memory_mode": "Onl"}, "there is no memory mode 'Onl'"),
    ],
)
def test_an_unknown_name_is_told_with_what_may_have_been_meant(
    own: Path, given: dict[str, str], words: str
) -> None:
    with pytest.raises(NpuConfigError) as error:
        choose_system("ethos-u85-256", config=own, **given)
    assert words in str(error.value)
    assert "Did you mean" in str(error.value)


def test_ports_may_be_inherited(own: Path) -> None:
    own.write_text(
        ONE_OF_EACH + "[System_Config.Child]\ninherit=System_Config.Mine\naxi1_port=OffChipFlash\n"
    )
    system = choose_system("ethos-u85-256", config=own, system_config="Child")
    assert system.memories == ("sram", "off_chip_flash")


def test_sections_that_inherit_from_each_other_do_not_hang(own: Path) -> None:
    own.write_text(ONE_OF_EACH.replace("core_clock=1e6", "inherit=System_Config.Mine"))
    assert choose_system("ethos-u85-256", config=own).memories == ("sram", "dram")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"core_clock=1", "no Vela configuration"),
        (b"\xff\xfe\x00", "no Vela configuration"),
        (b"[x]\n[x]\n", "no Vela configuration"),
        (b"", "which system configuration is not given"),
        (ONE_OF_EACH.replace("1e6", "-1e6").encode(), r"core_clock = '-1e6' cannot be"),
        (ONE_OF_EACH.replace("1e6", "nan").encode(), r"core_clock = 'nan' cannot be"),
        (ONE_OF_EACH.replace("1e6", "0").encode(), r"core_clock = '0' cannot be"),
        (ONE_OF_EACH.replace("1e6", "fast").encode(), r"core_clock = 'fast' cannot be"),
        (ONE_OF_EACH.replace("Dram", "\x1b[2J").encode(), "axi1_port = .* cannot be"),
        (ONE_OF_EACH.replace("Mine", "--help").encode(), "is no name"),
        (ONE_OF_EACH.encode() + b"Sram_read_latency=-5\n", "sram_read_latency = '-5' cannot be"),
        (b"#" * (config_file.MOST_BYTES + 1), "at most 1024 KB"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(own: Path, content: bytes, words: str) -> None:
    own.write_bytes(content)
    with pytest.raises(NpuConfigError, match=words):
        choose_system("ethos-u85-256", config=own)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.ini")
    with pytest.raises(NpuConfigError, match="is no file"):
        choose_system("ethos-u85-256", config=tmp_path / "pipe.ini")


def test_a_missing_file_is_refused_with_a_sample(tmp_path: Path) -> None:
    with pytest.raises(NpuConfigError, match="cannot be read") as error:
        choose_system("ethos-u85-256", config=tmp_path / "none.ini")
    assert str(sample_config()) in str(error.value)


def test_a_change_of_the_file_changes_its_hash(own: Path) -> None:
    before = choose_system("ethos-u85-256", config=own)
    own.write_text(ONE_OF_EACH.replace("1e6", "2e6"))
    assert choose_system("ethos-u85-256", config=own).sha256 != before.sha256


def test_the_sample_is_marked_as_an_assumption() -> None:
    text = sample_config().read_text()
    assert "ALL FIGURES HERE ARE ASSUMPTIONS" in text
    system = choose_system("ethos-u85-256", config=sample_config(), memory_mode="Weights_In_MRAM")
    assert system.system_config == "Ambiq_Like_U85_250MHz"
    assert system.memories == ("sram", "on_chip_flash")


def test_without_vela_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_file, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pytest-autodeploy\[vela\]"):
        choose_system("ethos-u85-256")


def test_velas_own_systems_are_taken_explicitly_and_with_a_warning() -> None:
    pytest.importorskip("ethosu")
    system = choose_system("ethos-u55-64")
    assert (system.system_config, system.memory_mode) == (
        *("Ethos_U55_High_End_Embedded", "Shared_Sram"),
    )
    assert "none of Vela's systems describes an Ambiq part" in system.assumed[0]
    asked = choose_system(
        "ethos-u55-64", system_config="Ethos_U55_Deep_Embedded", memory_mode="Sram_Only"
    )
    assert asked.assumed == ()


@pytest.mark.parametrize("accelerator", ACCELERATORS)
def test_velas_own_file_has_the_default_of_every_accelerator(accelerator: str) -> None:
    pytest.importorskip("ethosu")
    assert "sram" in choose_system(accelerator).memories
