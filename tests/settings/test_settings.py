"""Settings: option beats ini beats default, and each value knows its source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.limits.declarations import DECLARATIONS
from pytest_autodeploy.settings.options import OPTIONS
from pytest_autodeploy.settings.settings import SettingError, Settings, resolve


def settings(options: dict[str, Any], ini: dict[str, Any]) -> Settings:
    return resolve(
        OPTIONS,
        lambda dest: options.get(dest.removeprefix("autodeploy_")),
        lambda name: ini.get(name.removeprefix("autodeploy_")),
        Path("/start"),
    )


def test_defaults_have_no_source() -> None:
    assert settings({}, {}).sources == {}
    assert settings({}, {}).evb == ("sim:apollo4p_evb",)


def test_an_option_beats_the_ini_file() -> None:
    found = settings({"runs": "3"}, {"runs": 5, "seed": 7})
    assert (found.runs, found.seed) == (3, 7)
    assert found.sources == {"runs": "--tflite-runs", "seed": "ini autodeploy_seed"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("runs", "0"),
        ("runs", "1.5"),
        ("seed", "-1"),
        ("evb_timeout", "nan"),
        ("evb_timeout", "inf"),
        ("evb_clock", "hp"),
        ("reference", "gpu"),
    ],
)
def test_a_wrong_value_names_its_key(name: str, value: str) -> None:
    with pytest.raises(SettingError, match=f"ini autodeploy_{name}: "):
        settings({}, {name: value})


def test_every_option_has_a_setting_and_a_family() -> None:
    names = {option.name for option in OPTIONS}
    own = {"root", "rootdir", "sources", "limits"}
    limits = {declaration.name for declaration in DECLARATIONS}
    assert names == limits | set(Settings.__dataclass_fields__) - own
    prefixes = ("--tflite", "--evb", "--autodeploy-")
    assert all(option.flag.startswith(prefixes) for option in OPTIONS)


def test_a_relative_results_folder_starts_at_the_start_folder() -> None:
    assert settings({"output": "out"}, {}).output_path == Path("/start/out")
    assert settings({"output": "/out"}, {}).output_path == Path("/out")


@pytest.mark.parametrize("text", ["ten", "1.5", ""])
def test_what_is_no_whole_number_is_said_in_plain_words(text: str) -> None:
    with pytest.raises(SettingError, match=f"'{text}' is not a positive whole number"):
        settings({"runs": text}, {})
