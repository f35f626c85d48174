"""This installation: Python, its packages, the plugin, the caches."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.cache_folder import user_cache
from pytest_autodeploy.base.units import si
from pytest_autodeploy.doctor.check import Check, Look
from pytest_autodeploy.doctor.fixes import pip_install
from pytest_autodeploy.doctor.imports import broken_imports
from pytest_autodeploy.image.firmware import BuildOptions

if TYPE_CHECKING:
    from packaging.requirements import Requirement

PROJECT = "pytest-autodeploy"
NO_AUTOLOAD = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
_SIZE_TIMEOUT_S = 2.0


def python(_: BuildOptions) -> Iterable[Check]:
    """The Python that runs this, and the packages that the project always needs."""
    text = f"{platform.python_version()} ({sys.executable}), {platform.platform(terse=True)}"
    yield Check("Python", "ok", text)
    try:
        wanted = list(_requirements(None))
    except PackageNotFoundError:
        yield Check("packages", "trouble", f"{PROJECT} is not installed", pip_install(PROJECT))
        return
    checks = _imported(map(_package, wanted))
    wrong = [replace(check, state="trouble") for check in checks if check.state != "ok"]
    names = (f"{requirement.name} {version(requirement.name)}" for requirement in wanted)
    yield from wrong or [
        Check("packages", "ok", f"{PROJECT} {version(PROJECT)}: {', '.join(names)}")
    ]


def packages_of(name: str, hint: str = "") -> Look:
    """Looks at the packages of an extra; ``hint`` follows the command that installs them."""

    def look(_: BuildOptions) -> Iterable[Check]:
        try:
            checks = _imported(map(_package, _requirements(name)))
        except PackageNotFoundError:
            checks = []
        for check in checks:
            if check.state == "trouble":
                yield check
        missing = [check for check in checks if check.state == "missing"]
        fix = pip_install(f"{PROJECT}[{name}]")
        if missing or not checks:
            found = ", ".join(check.found for check in missing) or f"{PROJECT} is not installed"
            yield Check(f"extra {name}", "missing", found, f"{fix}{hint}")
        elif all(check.state == "ok" for check in checks):
            found = ", ".join(check.found for check in checks)
            yield Check(f"extra {name}", "ok", found)

    return look


def plugin(_: BuildOptions) -> Iterable[Check]:
    """Whether pytest loads the plugin."""
    disabled = os.environ.get(NO_AUTOLOAD)
    registered = _registered()
    if not registered:
        fix = pip_install(PROJECT)
        yield Check("pytest plugin", "trouble", "it is not registered with pytest", fix)
    elif disabled:
        found = f"{NO_AUTOLOAD} keeps pytest from loading it"
        yield Check("pytest plugin", "trouble", found, f"pytest -p {registered} ..., or unset it")
    elif "no:autodeploy" in os.environ.get("PYTEST_ADDOPTS", ""):
        found = "PYTEST_ADDOPTS keeps pytest from loading it"
        yield Check("pytest plugin", "trouble", found, "take -p no:autodeploy out of it")
    else:
        yield Check("pytest plugin", "ok", f"{registered} in pytest {version('pytest')}")


def caches(_: BuildOptions) -> Iterable[Check]:
    """The folder of what need not be computed twice."""
    root = user_cache("firmware").parent
    there = next(folder for folder in (root, *root.parents) if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        fix = "use another folder: pytest --autodeploy-cache=DIR"
        yield Check("cache", "trouble", f"{root} cannot be written: {there}", fix)
    else:
        yield Check("cache", "ok", f"{root}, {_size(root)}")


def _requirements(extra: str | None) -> Iterator[Requirement]:
    """What the installed project needs, always or for an extra. Raises PackageNotFoundError."""
    from packaging.requirements import Requirement

    for text in distribution(PROJECT).requires or []:
        requirement = Requirement(text)
        marker = requirement.marker
        always = marker is None or marker.evaluate({"extra": ""})
        of_extra = marker is not None and not always and marker.evaluate({"extra": extra or ""})
        if always if extra is None else of_extra:
            yield requirement


def _package(requirement: Requirement) -> Check:
    name = requirement.name
    wanted = f"{name}{requirement.specifier}"
    try:
        there = version(name)
    except PackageNotFoundError:
        return Check(name, "missing", f"{name} is not installed", pip_install(wanted))
    if not requirement.specifier.contains(there, prereleases=True):
        found = f"{there} is installed, {requirement.specifier} is needed"
        return Check(name, "trouble", found, pip_install(wanted))
    return Check(name, "ok", f"{name} {there}")


def _imported(checks: Iterable[Check]) -> list[Check]:
    """The same checks; a package that is there and cannot be imported is trouble."""
    checks = list(checks)
    broken = broken_imports([check.name for check in checks if check.state == "ok"])
    return [
        replace(
            check,
            state="trouble",
            found=f"{check.found} is installed but cannot be imported: {broken[check.name]}",
            fix=pip_install(check.name, "--force-reinstall"),
        )
        if check.name in broken
        else check
        for check in checks
    ]


def _registered() -> str | None:
    """The module that is registered with pytest."""
    try:
        points = distribution(PROJECT).entry_points.select(group="pytest11", name="autodeploy")
    except PackageNotFoundError:
        return None
    return next((point.value for point in points), None)


def _size(root: Path) -> str:
    """The size of all files in words; counting ends with its time."""
    deadline = time.monotonic() + _SIZE_TIMEOUT_S
    size = 0
    for path in root.rglob("*"):
        with suppress(OSError):  # another process has removed it
            size += path.stat(follow_symlinks=False).st_size
        if time.monotonic() > deadline:
            return f"more than {si(size, 'B')}"
    return si(size, "B") if size else "empty"
