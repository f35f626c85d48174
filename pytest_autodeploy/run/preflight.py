"""Checks of the settings, made before anything is collected and before any board is touched."""

from __future__ import annotations

import errno
import os
from typing import Any
from urllib.parse import urlsplit

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.board.simulated_link import link_arguments
from pytest_autodeploy.limits.declarations import BY_NAME
from pytest_autodeploy.limits.declared import merge, written_text
from pytest_autodeploy.run.board_checks import check_boards
from pytest_autodeploy.settings.settings import SettingError, Settings, named_folder

_RELATIVE = (
    "a relative path starts where pytest was started, one of the ini file at the root folder"
)


def check_settings(settings: Settings, *, write: bool) -> None:
    """Raise SettingError for the first setting that cannot work.

    With ``write`` the results folder of a run with models is made.
    """
    try:
        check_boards(settings)
        _check_models(settings)
        _check_limits(settings)
        _check_accelerators(settings, read=write)
        if settings.power is not None or settings.over_pins:
            from pytest_autodeploy.run.power_check import check_power

            check_power(settings, read=write)
    except AutodeployError as error:
        raise SettingError(str(error)) from None
    link_arguments(settings.evb_sim_link)
    _check_port(settings.evb_port)
    if settings.evb_port is not None and len(settings.evb) > 1:
        raise SettingError(
            "--evb-port is the port of one board; give --evb once", hint="start one run per board"
        )
    for name, file in (("inputs", settings.inputs), ("labels", settings.labels)):
        if file is not None and not (settings.root / file).is_file():
            raise SettingError(f"{settings.sources[name]}: no such file: {file}", hint=_RELATIVE)
    if settings.search_inputs and settings.labels:
        raise SettingError(
            f"{settings.sources['search_inputs']}: labels are of the inputs of a file, and searched"
            " inputs have none",
            hint="give one of them",
        )
    if settings.compare and settings.update_baseline:
        raise SettingError(
            f"{settings.sources['compare']} compares with the baselines that "
            "--autodeploy-update-baseline is to replace",
            hint="give one of them",
        )
    if settings.sources.get("accuracy", "").startswith("--") and not settings.labels:
        raise SettingError(
            "--tflite-accuracy: there are no labels; give --tflite-labels=FILE",
            hint="one label per input, as .npz, .npy or .csv",
        )
    _check_named(settings)
    _check_artifacts(settings)
    if write and settings.tflite:
        check_output(settings)


def _check_named(settings: Settings) -> None:
    """Baselines that are asked for by name have to be there, unless this run makes them."""
    folder = settings.baselines_path
    if settings.baseline_against is None or settings.update_baseline or folder.is_dir():
        return
    known = sorted(path.name[1:] for path in folder.parent.glob(f"{named_folder('')}*"))
    raise SettingError(
        f"{settings.sources['baseline_against']}: no baselines of that name: {folder}",
        hint=f"there are {', '.join(known)}"
        if known
        else "keep those of now by `autodeploy baseline keep NAME`",
    )


def _check_artifacts(settings: Settings) -> None:
    asked = settings.sources.get("artifacts", "").startswith("--")
    if asked and (settings.no_suite or not settings.tflite):
        raise SettingError(
            "--autodeploy-artifacts needs the built-in tests: give --tflite=PATH",
            hint="for tests of your own there is the fixture autodeploy_artifacts",
        )
    folder = settings.artifacts_from_path
    if folder is None:
        return
    origin = settings.sources["artifacts_from"]
    if not settings.artifacts and not settings.over_pins:
        raise SettingError(
            f"{origin} needs --autodeploy-artifacts, which says what to make",
            hint="such as --autodeploy-artifacts library; a board that answers is measured without "
            f"{origin.partition('=')[0]}, one without a link with --autodeploy-power-link pins",
        )
    if not folder.is_dir():
        raise SettingError(f"{origin}: no such folder: {settings.artifacts_from}", hint=_RELATIVE)


def _check_port(url: str | None) -> None:
    if url is None or not url.startswith(("socket://", "rfc2217://")):
        return
    try:
        parts = urlsplit(url)
        known = bool(parts.hostname and parts.port)
    except ValueError:
        known = False
    if not known:
        scheme = url.partition(":")[0]
        raise SettingError(
            f"--evb-port {url}: use {scheme}://HOST:PORT", hint="such as socket://127.0.0.1:2217"
        )


def npu_arguments(settings: Settings) -> dict[str, Any]:
    """What the settings say of the system around an accelerator."""
    config = settings.root / settings.npu_config if settings.npu_config else None
    return {
        "config": config,
        "system_config": settings.npu_system_config,
        "memory_mode": settings.npu_memory_mode,
        "core": settings.npu_core,
    }


def check_output(settings: Settings) -> None:
    """Make the results folder and see that it can be written. Raises SettingError."""
    folder = settings.output_path
    origin = settings.sources.get("output", "--autodeploy-output")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".gitignore"
        if not probe.exists():
            probe.write_text("# made by pytest-autodeploy\n*\n", encoding="utf-8")
        elif not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingError(
            f"{origin}: cannot write to the folder {folder}: {reason}",
            hint="choose another folder, or change its permissions",
        ) from None


def _check_models(settings: Settings) -> None:
    if settings.tflite:
        from pytest_autodeploy.model.find import find_models, named

        named(find_models(settings.tflite, settings.root), settings.name)


def _check_accelerators(settings: Settings, *, read: bool) -> None:
    if not settings.npu:
        return
    from pytest_autodeploy.catalog.accelerators import check_accelerator
    from pytest_autodeploy.npu.config_file import choose_system

    for name in settings.npu:
        check_accelerator(name)
        if read:
            choose_system(name, **npu_arguments(settings))


def _check_limits(settings: Settings) -> None:
    for name, texts in settings.limits.items():
        for declared in merge(
            each
            for text, origin in texts
            for each in written_text(BY_NAME[name], text, origin, origin.startswith("ini"))
        ):
            against = getattr(declared.limit, "against", None)
            if against and not settings.against_path(against, declared.origin).is_file():
                raise SettingError(
                    f"{declared.origin}: no such model file: {against}", hint=_RELATIVE
                )
        typed = [origin for _, origin in texts if origin.startswith("--")]
        if typed and (settings.no_suite or not settings.tflite):
            raise SettingError(
                f"{typed[0]} is for the built-in tests",
                hint="give --tflite=PATH, or mark your own tests with "
                f"@pytest.mark.{BY_NAME[name].usage}",
            )
