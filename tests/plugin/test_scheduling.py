"""Under xdist a model is flashed once to each board, and a board that is shared has one worker."""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from pytest_autodeploy.plugin.scheduler import group_of
from pytest_autodeploy.settings.options import OPTIONS
from pytest_autodeploy.settings.settings import Settings, resolve
from tests.helpers.support import DIGITS

RAN = re.compile(r"\[(gw\d)\] \[ *\d+%\] PASSED autodeploy::\w+\[(.*)\]")


def settings(port: str | None = None) -> Settings:
    given = {"autodeploy_evb_port": port}
    return resolve(OPTIONS, given.get, lambda _name: None, Path())


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("autodeploy::test_latency[kws-sim:apollo4p_evb]", "kws-sim:apollo4p_evb"),
        ("autodeploy::test_latency[a-b.c-qemu:mps2-an386]", "a-b.c-qemu:mps2-an386"),
        ("tests/test_x.py::test_it[kws-sim:apollo510_evb-3-x]", "kws-sim:apollo510_evb"),
        ("tests/test_x.py::test_it[kws-apollo4p_evb]", "apollo4p_evb"),
        ("tests/test_x.py::test_it[a-labgrid:lab-3.b]", "labgrid:lab-3.b"),
        (
            "tests/test_x.py::test_it[a-labgrid:b+board=apollo4p_evb]",
            "labgrid:b+board=apollo4p_evb",
        ),
        ("a::t[kws-labgrid:+board=apollo4p_evb,x=y]", "kws-labgrid:+board=apollo4p_evb,x=y"),
        ("tests/test_x.py::TestIt::test_it[apollo4p_evb_like]", None),
        ("autodeploy::test_npu[kws-ethos-u55-128]", None),
        ("tests/test_x.py::test_it[3-4]", None),
        ("tests/test_x.py::test_it", None),
    ],
)
def test_the_id_of_a_test_says_its_model_and_board(nodeid: str, group: str | None) -> None:
    assert group_of(nodeid, settings()) == group


def test_a_board_behind_a_port_is_one_for_all_workers() -> None:
    nodeid = "autodeploy::test_latency[kws-sim:apollo4p_evb]"
    assert group_of(nodeid, settings("socket://h:1")) == "sim:apollo4p_evb"


@pytest.mark.slow
def test_each_model_and_board_has_one_worker(pytester: pytest.Pytester) -> None:
    for name in ("a", "b"):
        shutil.copy(DIGITS, f"{name}.tflite")
    pytester.makepyfile("def test_of_others(): pass")
    boards = ("--evb", "sim:apollo4p_evb", "--evb", "sim:apollo510_evb")
    chosen = ("-k", "fits or others or size or profile", "-n", "2", "-v")
    run = pytester.runpytest_subprocess("--tflite=a.tflite", "--tflite=b.tflite", *boards, *chosen)
    assert run.ret == 0
    workers = defaultdict(set)
    for worker, case in RAN.findall(run.stdout.str()):
        workers[case].add(worker)
    assert len(workers) == 4
    assert all(len(of_case) == 1 for of_case in workers.values())
    assert set.union(*workers.values()) == {"gw0", "gw1"}
