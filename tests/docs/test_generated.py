"""What the pages take from the code: every place is filled; messages are found by their words."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from docs._ext.generated import MAKERS, fill
from docs._ext.messages import ELLIPSIS, messages
from docs._ext.tables import options, schema, types
from pytest_autodeploy import AutodeployError, MissingExtra, __all__
from pytest_autodeploy.catalog.kinds import spec_of
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.input_files import read_arrays
from pytest_autodeploy.settings.options import OPTIONS
from tests.helpers.pages import pages
from tests.helpers.support import MODELS


def no_inputs(folder: Path) -> None:
    """Inputs in a file that is none."""
    path = folder / "inputs.npy"
    path.write_bytes(b"nothing")
    read_arrays(path, load_model(MODELS / "digits_cnn.tflite"))


def missing_extra(folder: Path) -> None:
    raise MissingExtra("a simulated board", "sim")


def no_model(folder: Path) -> None:
    load_model(folder / "none.tflite")


def no_board(folder: Path) -> None:
    spec_of("nonsense:apollo4p_evb")


@pytest.mark.parametrize("problem", [no_inputs, missing_extra, no_model, no_board])
def test_a_message_that_a_user_meets_is_found_by_its_words(
    problem: Callable[[Path], object], tmp_path: Path
) -> None:
    with pytest.raises(AutodeployError) as caught:
        problem(tmp_path)
    listed = re.findall(r"^\| `` (.*) `` \|", messages(), re.MULTILINE)
    patterns = [re.escape(text).replace(re.escape(ELLIPSIS), ".*") for text in listed]
    what = caught.value.what.replace("`", "'")
    assert [pattern for pattern in patterns if len(pattern) > 12 and re.fullmatch(pattern, what)]


def test_every_place_is_filled_and_every_maker_has_one() -> None:
    texts = [page.read_text(encoding="utf-8") for page in pages()]
    used = {name for text in texts for name in re.findall(r"<!-- generated: (\S+) -->", text)}

    assert used == set(MAKERS)
    assert not any("<!-- generated" in fill(text) for text in texts)


def test_every_option_has_a_row_and_every_public_name_a_place() -> None:
    rows = "".join(options(group) for group in ("models", "boards", "measuring", "results"))

    assert all(rows.count(f"| `{option.flag}") >= 1 for option in OPTIONS)
    assert rows.count("\n| `--") == len(OPTIONS)
    made = types() + MAKERS["errors"]()
    assert all(f"pytest_autodeploy.{name}\n" in made or f"`{name}`" in made for name in __all__)
    assert "[ResultMeasurement](#resultmeasurement)" in schema()
