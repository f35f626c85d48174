"""The errors of the project: each says what, on which board, after how long, and what to do."""

from __future__ import annotations

from typing import ClassVar


class AutodeployError(Exception):
    """Root of all errors; its text is one clear message.

    ``what`` happened, on which ``board``, after how many ``seconds``, and a ``hint`` on what to do:
    that of its kind, the ``usual_hint``, unless one is given.
    """

    usual_hint: ClassVar[str | None] = None

    def __init__(
        self,
        what: str,
        *,
        board: str | None = None,
        seconds: float | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.board = board
        self.seconds = seconds
        self.hint = self.usual_hint if hint is None else hint

    def __str__(self) -> str:
        from pytest_autodeploy.base.text import writable

        text = self.what
        if self.board is not None:
            text = f"{self.board}: {text}"
        if self.seconds is not None:
            text += f" after {self.seconds:.3g} s"
        return writable(f"{text}\n  {self.hint}" if self.hint else text)


class MissingExtra(AutodeployError):
    """A feature needs a package of an extra that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the extra {extra!r}",
            hint=f"pip install 'pytest-autodeploy[{extra}]'",
        )


class BrokenPackage(AutodeployError):
    """A package is installed but cannot be imported; no model is to blame."""

    def __init__(self, package: str, reason: str) -> None:
        super().__init__(
            f"the package {package} is installed but cannot be imported: {reason}",
            hint=f"install it again: pip install --force-reinstall {package}; "
            "'autodeploy doctor' checks the others",
        )
        self.package = package
        self.reason = reason


class ModelError(AutodeployError):
    """A model file cannot be used: missing, damaged, or with something that TFLM cannot run."""


class ModelDoesNotFit(ModelError):
    """A model or its arena does not fit the memories of the board."""

    usual_hint = (
        "use a smaller model, another memory (--evb-model-memory, --evb-arena-memory), or a board "
        "with more of it"
    )


class InputsError(AutodeployError):
    """The given inputs, or their labels, cannot be used with the model."""

    usual_hint = "`autodeploy inspect MODEL` tells what its inputs and outputs are"


class NpuConfigError(AutodeployError):
    """No such accelerator, system configuration or memory mode, or a bad configuration file."""


class ReferenceFailed(AutodeployError):
    """The PC could not run the model."""


class ResultsError(AutodeployError):
    """A result file or folder could not be written."""


class BoardError(AutodeployError):
    """Root of what goes wrong with a board, which is not to be trusted until it is restarted."""


class BoardUnavailable(BoardError):
    """The board, or its port, is not there or is in use."""


class BoardTimeout(BoardError):
    """The board did not answer a call within its deadline."""


class BoardDied(BoardError):
    """The board went away during a call."""


class BoardGivenUp(BoardError):
    """An earlier test broke the board; this one was not run."""


class LinkError(BoardError):
    """The link delivered what no board sends: bad CRC, wrong sequence number, malformed reply."""


TRANSIENT = (BoardDied, BoardTimeout, LinkError)
"""What a fresh board may not do again."""


class WrongFirmware(BoardError):
    """The board answers, but it does not run the image that was expected."""


class OtherModel(WrongFirmware):
    """The board is the right one, and runs another model."""


class BoardRefused(BoardError):
    """The board is healthy and refused a call; ``status`` is its Status, ``text`` its own log."""

    def __init__(
        self, what: str, *, status: str, text: str, board: str, hint: str | None = None
    ) -> None:
        super().__init__(f"{what}: {text}" if text else what, board=board, hint=hint)
        self.status = status
        self.text = text


class Unsupported(BoardRefused):
    """The board is healthy, and its firmware has no way to do this."""
