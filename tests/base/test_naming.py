"""Names that C compilers and file systems accept, for any name of a model."""

from __future__ import annotations

import re

import pytest

from pytest_autodeploy.base.names import c_identifier, file_name

NASTY = [
    "",
    " ",
    ".",
    "..",
    "../../etc/passwd",
    'a\\b:c*d?e"f<g>h|i\n\0j',
    "model v1.2-final (3)",
    "模型",
    "Größe",
    "🚀",
    "\udcff",
    "-rf",
    "x" * 300,
    "ñ" * 300,
    "nul.txt",
    "COM¹",
    "trailing. . ",
    "__init__",
    "int",
    "½",
]


@pytest.mark.parametrize("name", NASTY, ids=ascii)
def test_any_name_gives_a_c_identifier(name: str) -> None:
    identifier = c_identifier(name)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", identifier)
    assert "__" not in identifier
    assert len(identifier) <= 64


@pytest.mark.parametrize("name", NASTY, ids=ascii)
def test_any_name_gives_a_safe_file_name(name: str) -> None:
    safe = file_name(name)
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", safe)
    assert not safe.endswith(".")
    assert ".." not in safe
    assert len(safe) <= 64
    assert not re.match(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)", safe)
    assert file_name(safe) == safe


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("kws_ref_model", "kws_ref_model"),
        ("model v1.2-final", "model_v1_2_final"),
        ("2nd", "m_2nd"),
        ("class", "class_"),
        ("int", "int_"),
        ("Größe", "Gro_e"),
        ("é", "e"),
        ("", "model"),
        ("模型", "model"),
    ],
)
def test_a_c_identifier_stays_readable(name: str, identifier: str) -> None:
    assert c_identifier(name) == identifier


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("kws_ref_model", "kws_ref_model"),
        ("model v1.2-final", "model_v1.2-final"),
        ("sim:apollo4p_evb", "sim_apollo4p_evb"),
        ("models/kws", "models_kws"),
        ("aux", "_aux"),
        (".hidden", "hidden"),
        ("café", "cafe"),
    ],
)
def test_a_file_name_stays_readable(name: str, safe: str) -> None:
    assert file_name(name) == safe


def test_file_names_stay_apart_where_letters_are_lost() -> None:
    names = ["模型", "型模", "x" * 100, "x" * 101, "", "🚀"]
    assert len({file_name(name) for name in names}) == len(names)


def test_identifiers_that_are_cut_stay_apart() -> None:
    assert c_identifier("x" * 100) != c_identifier("x" * 101)
