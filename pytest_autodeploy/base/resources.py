"""Where what ships beside the code is: ``firmware/``, ``templates/``, some of ``examples/``."""

from __future__ import annotations

from pathlib import Path

from pytest_autodeploy.base.errors import AutodeployError

_PACKAGE = Path(__file__).parent.parent


def resource(*parts: str) -> Path:
    """The path of a shipped file or folder, such as ``resource("firmware", "autodeploy.erpc")``.

    A wheel carries the folders inside the package, a checkout beside it.
    """
    for root in (_PACKAGE, _PACKAGE.parent):
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise AutodeployError(
        f"{'/'.join(parts)} is missing from the installation of pytest-autodeploy",
        hint="install it again",
    )
