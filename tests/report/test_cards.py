"""The cards of the HTML report: a result each, honest, escaped, and small where there are many."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.profile.histogram import histogram
from pytest_autodeploy.report.anchors import card_id, row_anchor
from pytest_autodeploy.report.budget import bars
from pytest_autodeploy.report.cards import cards_html
from pytest_autodeploy.report.environment import MOST, environment
from pytest_autodeploy.report.pack import MOST_PLAIN, pack, unpack
from pytest_autodeploy.report.results import ResultStore
from pytest_autodeploy.report.row_html import row_html
from tests.helpers.report_examples import BOARD, MODEL, energy, measurement, record, verdict

PLACED = replace(BOARD, model_memory="mram", arena_memory="dtcm")
EVIL = "<img src=x onerror=alert(1)>"


def store(*records: TestRecord) -> ResultStore:
    made = ResultStore()
    for each in records:
        made.add(each)
    return made


def cards(*records: TestRecord) -> str:
    made = store(*records)
    return cards_html(made.results(), made.records(), "out")


def words(page: str) -> str:
    """The text of a page, its spaces made one."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


class TestCard:
    def test_it_has_the_verdict_the_figures_with_their_sources_and_what_the_tests_made(
        self,
    ) -> None:
        times = histogram([320e3, 321e3, 330e3], "modelled")
        # three tests of one result: latency, energy, layers
        powers = tuple(
            measurement(f"{name}_hp", 1234, unit, "measured")
            for name, unit in (("power_time", "us"), ("energy", "uJ"), ("power", "mW"))
        )
        page = cards(
            record("a", histogram=times),
            record("b", power=(energy(),), measurements=powers, profile=None),
        )
        for text in ("320.6 ms modelled", "1.23 mJ measured", "22.4 KB modelled", "Key figures"):
            assert text in words(page), text
        for drawn in ("ad-h", "ad-p", "Time per layer", "data:text/csv"):
            assert drawn in page, drawn
        assert ">pass</b>" in page

    def test_what_failed_stands_on_it(self) -> None:
        page = cards(
            record(outcome="failed", failure_class="over a limit", verdicts=(verdict(False),))
        )
        assert ">FAIL</b>" in page
        assert "latency_budget(ms=400) by marker: latency median is 320.6 ms" in words(page)

    def test_not_judged_is_red(self) -> None:
        row = replace(verdict(None), status="NOT JUDGED", measurement=None)
        assert "<b class=ad-FAIL>NOT JUDGED</b>" in cards(record(verdicts=(row,)))

    def test_boards_of_a_model_stand_side_by_side(self) -> None:
        other = replace(BOARD, id="sim:apollo510_evb")
        page = cards(record("a"), record("b", board=other))
        assert page.count("<h3>kws_ref_model</h3>") == 1
        assert page.count("class='ad-card'") == 2
        assert page.count("class=ad-grid") == 1

    def test_links_lead_to_the_rows_of_the_tests_and_to_the_files(self) -> None:
        page = cards(record("test_it.py::test_a"))
        assert f"<a href=#{row_anchor('test_it.py::test_a')}>test_it.py::test_a</a>" in page
        assert "href='out/kws_ref_model/sim_apollo4p_evb/result.json'" in page

    def test_the_row_of_a_test_leads_to_its_card_and_has_no_layers(self) -> None:
        row = row_html(record())
        ident = card_id("kws_ref_model", "sim:apollo4p_evb")
        assert f"href=#{ident}" in row
        assert f"id={ident}" in cards(record())
        assert "CONV_2D" not in row
        assert '"' not in row

    def test_the_row_of_a_failed_test_has_why(self) -> None:
        failed = record(outcome="failed", message="over", verdicts=(verdict(False, "5 ms over"),))
        assert "5 ms over" in row_html(failed)
        assert "Tolerance" in row_html(failed)
        assert "Tolerance" not in row_html(record())

    def test_without_a_profile_there_is_no_csv(self) -> None:
        assert "data:text/csv" not in cards(record(profile=None))

    def test_names_are_text(self) -> None:
        evil = record(EVIL, model=replace(MODEL, id=EVIL, name=EVIL), message=EVIL)
        assert "<img" not in cards(evil)
        assert "<img" not in row_html(evil)


class TestBars:
    @staticmethod
    def of(**changes: Any) -> dict[str, tuple[str, float]]:
        (result,) = store(record(**changes)).results()
        return {bar.label: (bar.text, bar.share) for bar in bars(result)}

    def test_arena_and_model_are_shares_of_what_the_board_has(self) -> None:
        shown = self.of(board=PLACED)
        assert shown["Arena"] == ("22.4 KB of 234.0 KB DTCM", 9.6)
        assert shown["Model"] == ("52.7 KB of 1.52 MB MRAM", 3.4)

    def test_a_board_that_is_not_known_has_the_arena_that_was_given(self) -> None:
        shown = self.of(board=replace(BOARD, name="mine"))
        assert shown == {"Arena": ("22.4 KB of 128.0 KB given", 17.5)}

    def test_limits_are_what_is_allowed(self) -> None:
        over = replace(verdict(False), bound=300e3)
        assert self.of(verdicts=(over,))["Latency median"] == (
            "320.6 ms of 300.0 ms allowed",
            106.9,
        )


class TestHistogram:
    def test_each_inference_is_counted_once(self) -> None:
        made = histogram([float(number % 17) for number in range(100)], "measured")
        assert made is not None
        assert sum(made.counts) == 100
        assert (made.low_us, made.high_us, len(made.counts)) == (0, 16, 20)

    def test_equal_times_are_one_bin(self) -> None:
        made = histogram([5.0] * 9, "modelled")
        assert made is not None
        assert made.counts == (9,)
        assert "All take 5 us" in words(cards(record(histogram=made)))

    def test_no_times_are_none(self) -> None:
        assert histogram([], "modelled") is None


class TestMany:
    def test_a_few_stand_in_the_page_as_they_are(self) -> None:
        assert pack(["a", "b"]).plain == ["a", "b"]
        assert pack(["a", "b"]).block == ""

    def test_many_are_one_block_that_gives_them_back(self) -> None:
        fragments = ["<p>ä</p>" * MOST_PLAIN, "b"]
        made = pack(fragments)
        assert made.plain == ["", ""]
        assert unpack(made.block) == fragments
        assert len(made.block) < MOST_PLAIN / 10

    @pytest.mark.slow
    def test_800_results_are_small_and_each_is_named_with_its_verdict(self) -> None:
        names = [f"model_{number}" for number in range(400)]
        boards = [replace(BOARD, id=f"sim:apollo{name}_evb") for name in ("4p", "510")]
        made = [
            record(f"test[{name}-{board.id}]", model=replace(MODEL, id=name), board=board)
            for name in names
            for board in boards
        ]
        page = cards(*made)
        rows = sum(len(row_html(each)) for each in made)
        assert (
            len(page) + 1.4 * rows < 1_500_000
        )  # in the attribute a row is about 1.4 times as long
        assert page.count("<summary>model_") == 400
        assert page.count(">pass</b>") == 800


class TestEnvironment:
    def test_it_has_hashes_serial_numbers_and_versions(self) -> None:
        (result,) = store(record(board=replace(BOARD, serial="69012345"))).results()
        found = environment([result])
        assert found["Models (SHA-256)"] == {"kws_ref_model": MODEL.sha256}
        assert found["Boards"]["sim:apollo4p_evb"].startswith("serial 69012345, simulated")
        assert found["Tools"]["pytest-autodeploy"]

    def test_of_many_models_it_says_how_many_more(self) -> None:
        made = [record(str(at), model=replace(MODEL, id=f"m{at}")) for at in range(MOST + 5)]
        models = environment(store(*made).results())["Models (SHA-256)"]
        assert len(models) == MOST + 1
        assert models["and"].startswith("5 more")


@pytest.mark.parametrize("page", ["cards", "row"])
def test_pages_are_valid_for_a_record_of_nothing(page: str) -> None:
    empty = record(measurements=(), agreement=None, profile=None, verdicts=())
    assert (cards(empty) if page == "cards" else row_html(empty)).count("<div") > 0
