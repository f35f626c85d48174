"""The declaration of a metric: one function whose signature is the marker, the option and the ini.

What other rooms say of a metric is derived from its declaration: help, options, settings, the
thresholds of `no_regression`, and which built-in test has to judge it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_autodeploy.base.errors import AutodeployError

Needs = Literal["board", "labels", "meter", "accelerator"]
"""What has to be there so that a metric can be measured at all."""

OFF = "off"
"""What a marker is given to opt out of a limit: ``@pytest.mark.latency_budget("off")``."""


class LimitError(AutodeployError, ValueError):
    """A limit was declared wrongly; the text shows the signature."""


@dataclass(frozen=True)
class Group:
    """Measurements that `no_regression` holds against their baseline under the keyword ``name``.

    ``percent`` is what they may be worse by unless the keyword says otherwise. ``floor`` gives
    what they may be worse by in any case, in their unit, from that unit and the baseline's value;
    where ``floor_keyword`` is given, ``floor_default`` is its default. ``suite_test`` is the
    built-in test that measures them, empty for that of the declaration. ``noisy``: repeats of them
    differ on a board that has a clock, so that one of them tells nothing.
    """

    name: str
    measurements: tuple[str, ...]
    percent: float
    floor: Callable[[str, float], float] = lambda _unit, _baseline: 0.0
    floor_keyword: str = ""
    floor_default: float = 0.0
    suite_test: str = ""
    noisy: bool = False


@dataclass(frozen=True)
class Declaration:
    """How a limit on a metric is declared.

    ``signature`` is the function that makes the limit: its keywords are what a user writes. Those
    in ``which`` say which limit it is (a statistic, a clock mode): limits that differ in one of
    them are all judged. The others say how much; of ``alternatives``, such as ms and us, only the
    closest counts. ``suite_test`` is the built-in test that owes a limit of the command line or the
    ini file. ``default`` is what the built-in tests allow when nobody said anything.
    ``listed``: the ini key is a list, as there is a limit for each of several clock modes.
    ``aliases`` are other names of the option.
    """

    name: str
    signature: Callable[..., object]
    flag: str
    marker_help: str
    option_help: str
    suite_test: str
    needs: Needs = "board"
    which: tuple[str, ...] = ()
    alternatives: tuple[tuple[str, ...], ...] = ()
    groups: tuple[Group, ...] = ()
    default: Mapping[str, object] | None = None
    listed: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def fixture(self) -> str:
        """The fixture without which a test cannot judge the limit."""
        return "npu_estimate" if self.needs == "accelerator" else "model_session"

    @property
    def keywords(self) -> Mapping[str, inspect.Parameter]:
        """What a user may write, by name."""
        return inspect.signature(self.signature).parameters

    @property
    def usage(self) -> str:
        """The signature as a user writes it, such as ``latency_budget(ms=, us=)``."""
        parts = (
            f"{p.name}="
            if any(p.default is nothing for nothing in (p.empty, None, False))
            else f"{p.name}={p.default!r}"
            for p in self.keywords.values()
        )
        return f"{self.name}({', '.join(parts)})"
