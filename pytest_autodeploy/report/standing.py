"""How a model on a board ended in one word, and what has to be known beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.metrics.failures import CLASSES, NAMED
from pytest_autodeploy.metrics.run_ledger import ENDED_WELL
from pytest_autodeploy.report.attempts import again_of, attempts_remark
from pytest_autodeploy.report.figures import faults_of, troubles_of

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.result import OutcomeRecord, Result
    from pytest_autodeploy.metrics.result_parts import ResultVerdict

Word = Literal["pass", "FAIL", "ERROR", "NOT JUDGED", "xpassed", "xfailed", "skipped"]
BAD: tuple[Word, ...] = ("FAIL", "ERROR", "NOT JUDGED")
FAILING = ("failed", "error")


@dataclass(frozen=True)
class Standing:
    """The verdict over all tests of a result; ``remarks`` are what it would hide in one word."""

    word: Word
    remarks: tuple[str, ...] = ()

    @property
    def bad(self) -> bool:
        """Whether it is red."""
        return self.word in BAD

    @property
    def text(self) -> str:
        """The word with its remarks, such as ``pass, 2nd try``."""
        return ", ".join((self.word, *self.remarks))


def standing(result: Result) -> Standing:
    """The verdict of a result: red when a test failed, or a limit was owed and not judged."""
    return Standing(_word(result), tuple(_remarks(result)))


def failing(result: Result) -> list[OutcomeRecord]:
    """The tests that failed, and those whose set-up or teardown did."""
    return [test for test in result.tests if test.outcome in FAILING]


def red_verdicts(result: Result) -> list[ResultVerdict]:
    """The limits that make a result red: of failed tests, and those that nothing judged at all."""
    outcomes = {test.nodeid: test.outcome for test in result.tests}
    judged = {row.limit for row in result.verdicts if row.status in ("pass", "FAIL")}
    return [
        row
        for row in result.verdicts
        if row.red
        and (
            outcomes.get(row.test) in FAILING
            or (outcomes.get(row.test) in ENDED_WELL and row.limit not in judged)
        )
    ]


def notes(result: Result) -> list[str]:
    """What a verdict must not be read without, such as faults that a board was given."""
    board, agreement, artifacts = result.board, result.agreement, result.artifacts
    found = [board.recorded] if board.recorded else []
    found += [*faults_of(board), *troubles_of(board)]
    found += agreement.warnings if agreement else ()
    left_out = artifacts.left_out if artifacts else ()
    found += [f"left out: {each.what}: {each.why}" for each in left_out]
    if result.accuracy and (restarts := len(result.accuracy.restarts)):
        found.append(f"the board was restarted {restarts} time{'s' * (restarts > 1)}")
    return [one_line(text) for text in found]


def _word(result: Result) -> Word:
    failed = failing(result)
    outcomes = {test.outcome for test in result.tests}
    if failed:
        if all(test.failure_class == "not judged" for test in failed):
            return "NOT JUDGED"
        return "ERROR" if all(test.outcome == "error" for test in failed) else "FAIL"
    if red_verdicts(result):
        return "NOT JUDGED"
    if "passed" in outcomes:
        return "pass"
    return "xpassed" if "xpassed" in outcomes else "xfailed" if "xfailed" in outcomes else "skipped"


def _remarks(result: Result) -> Iterator[str]:
    classes = {test.failure_class for test in failing(result)}
    gravest = next((name for name in CLASSES if name in classes), None)
    if gravest in NAMED and gravest != "not judged":
        yield gravest
    if attempts := [test.attempts for test in result.tests if test.flaky]:
        yield attempts_remark(max(attempts, key=lambda each: (bool(again_of(each)), len(each))))
    if count := sum(row.allowed for row in result.verdicts):
        yield f"{count} not judged"
    outcomes = [test.outcome for test in result.tests]
    kinds = {name for name in outcomes if name not in (*FAILING, "passed")}
    if len(kinds) > 1 or "passed" in outcomes or failing(result):
        for name in sorted(kinds):
            yield f"{outcomes.count(name)} {name}"
