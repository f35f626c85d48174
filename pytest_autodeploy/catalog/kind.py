"""One kind of boards: a row of the table in ``kinds``, or what an installed package brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_autodeploy.base.measurement import Source
    from pytest_autodeploy.catalog.boards import Part

NEEDS = (
    *("sim", "compiler", "make", "cmake", "ninja_or_make", "tflm_tree", "sdk"),
    *("qemu", "probe_tool", "virtual", "labgrid"),
)
"""What boards may need on the PC: an extra, or what ``autodeploy doctor`` can look for."""

ANSWERS = ("simulated", "emulated", "hardware")
"""What a board may say of itself over RPC."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of boards.

    ``prefix`` stands before names, with its colon; ``name`` is the kind's in reports and baselines,
    ``noun`` one board of it, and ``runs`` says what runs a model. ``source`` is that of its
    figures. NAMEs are those of a ``part`` of the catalog; a kind that ``stands_in`` only has the
    name, memories and clocks of such a board.
    """

    prefix: str
    name: str
    noun: str
    runs: str
    source: Source
    part: Part = "board"
    stands_in: bool = True
    is_hardware: bool = False
    needs: tuple[str, ...] = ()
    """Of ``NEEDS``: what has to be on the PC."""

    attachable: bool = False
    """``--evb-port`` reaches one that runs already; else each is started by the run."""

    answers_as: tuple[str, ...] = ANSWERS
    """What one that is attached to may say of itself, of ``ANSWERS``."""

    own_meter: bool = False
    """A power meter belongs to each that the run starts and that has pins for it."""

    exact: bool = False
    """Times are the same in every run, so that one inference tells them."""

    random_runs: int | None = None
    """Random inputs of a run that does not say how many; None is the default of the option."""

    no_events: str | None = None
    """Why events cannot be chosen whatever the core is; None when a Cortex-M55 counts them."""

    pc_kernels: bool = False
    """It runs the kernels of the package tflite-micro."""

    options: tuple[str, ...] = ()
    """Keys of the fixture ``evb_options`` that it takes."""

    goal: str = ""
    """Its name and title for ``autodeploy doctor``; by default from ``name``."""

    title: str = ""
    example: str = "apollo4p_evb"
    """A NAME of the catalog, for messages."""

    takes: str = "NAME"
    """What stands behind the prefix, for messages."""

    source_text: str = ""
    """What the table of kinds says of the source, where it is not always the same."""

    recorded: str = ""
    """When and from which board the answers were recorded; empty where a board answers."""

    make: Callable[[Any], Any] | None = field(default=None, compare=False)
    """From a ``board.order.Order`` to a ``Board``; None for the kinds of this package."""

    def __post_init__(self) -> None:
        if self.prefix and not (self.prefix.endswith(":") and self.prefix[:-1].isidentifier()):
            raise ValueError(f"the prefix {self.prefix!r} is not a word and a colon")
        for what, given, known in (
            ("needs", self.needs, NEEDS),
            ("answers_as", self.answers_as, ANSWERS),
        ):
            unknown = [each for each in given if each not in known]
            if unknown:
                raise ValueError(f"{what} has {unknown[0]!r}; valid are {', '.join(known)}")

    @property
    def shown(self) -> str:
        """How a board of it is typed: ``sim:NAME``."""
        return f"{self.prefix}{self.takes}"

    @property
    def goal_name(self) -> str:
        """What ``autodeploy doctor`` calls it."""
        return self.goal or self.name

    @property
    def goal_title(self) -> str:
        """The title of ``autodeploy doctor``'s section."""
        return self.title or f"{self.name.capitalize()} boards"
