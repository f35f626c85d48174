"""Checks of the settings, made before anything is collected and before any board is touched."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.board.select import check_names
from pytest_autodeploy.board.simulated_link import link_arguments
from pytest_autodeploy.catalog.kinds import kind_of, spec_of
from pytest_autodeploy.limits.declarations import BY_NAME
from pytest_autodeploy.limits.merging import merge, written_text
from pytest_autodeploy.settings.meter_choice import owns_meter
from pytest_autodeploy.settings.settings import SettingError, Settings, named_folder

_RELATIVE = (
    "a relative path starts where pytest was started, one of the ini file at the root folder"
)


def check_settings(settings: Settings, *, write: bool) -> None:
    """Raise SettingError for the first setting that cannot work.

    With ``write`` the results folder of a run with models is made.
    """
    try:
        check_names(settings.evb, settings)
        _check_counters(settings)
        _check_dwt(settings)
        _check_models(settings)
        _check_limits(settings)
        _check_accelerators(settings, read=write)
        _check_power(settings, read=write)
        if settings.over_pins:
            from pytest_autodeploy.run.over_pins_check import check_over_pins

            check_over_pins(settings)
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


def check_kept(settings: Settings) -> None:
    """See that what the end of a run writes can be written, and make nothing. Raises SettingError.

    Baselines, the history and the summary.
    """
    if settings.update_baseline:
        check_folder(settings.baselines_path, settings.sources["update_baseline"])
    if settings.summary:
        check_folder((settings.root / settings.summary).parent, settings.sources["summary"])
    for name in ("result_log", "keep_profiles"):
        if path := getattr(settings, name):
            folder = settings.root / path
            check_folder(folder.parent if name == "result_log" else folder, settings.sources[name])
    _check_exports(settings)
    if settings.history_path:
        from pytest_autodeploy.baseline.history import History

        check_folder(settings.history_path.parent, settings.sources["history"])
        if settings.history_path.exists():
            try:
                History(settings.history_path).check()
            except AutodeployError as error:
                raise SettingError(f"{settings.sources['history']}: {error}") from None


def _check_exports(settings: Settings) -> None:
    try:
        if settings.result_log:
            from pytest_autodeploy.report.result_log import check_header

            check_header(settings.root / settings.result_log)
        if settings.xlsx:
            from pytest_autodeploy.report.xlsx import check_xlsx

            check_xlsx()
    except AutodeployError as error:
        raise SettingError(str(error)) from None


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
            hint="such as --autodeploy-artifacts library",
        )
    if not folder.is_dir():
        raise SettingError(f"{origin}: no such folder: {settings.artifacts_from}", hint=_RELATIVE)


def check_folder(folder: Path, origin: str) -> None:
    """See that files could be written to a folder, and make nothing. Raises SettingError."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise SettingError(
            f"{origin}: cannot write to the folder {folder}",
            hint="choose another folder, or change its permissions",
        )


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


def _check_counters(settings: Settings) -> None:
    """Only a Cortex-M55 on silicon, or a simulated one, counts events that can be chosen."""
    for board_id in settings.evb if settings.evb_counters else ():
        core = spec_of(board_id).core
        why = kind_of(board_id).no_events
        if why or core != "cortex-m55":
            why = why or f"its {core} has none"
            raise SettingError(
                f"{settings.sources['evb_counters']}: {board_id} has no performance monitor: {why}",
                hint="leave it out, or choose an EVB with a Cortex-M55 (autodeploy boards)",
            )


def _check_dwt(settings: Settings) -> None:
    """Only a Cortex-M4 on silicon has the 8-bit counters; elsewhere there is nothing to count."""
    for board_id in settings.evb if settings.evb_dwt_counters != "off" else ():
        kind = kind_of(board_id)
        if not kind.is_hardware or spec_of(board_id).core != "cortex-m4f":
            raise SettingError(
                f"{settings.sources['evb_dwt_counters']}: {board_id} has none of these counters",
                hint="they are those of EVBs with a Cortex-M4, such as apollo4p_evb",
            )


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


def _check_power(settings: Settings, *, read: bool) -> None:
    if settings.power is None:
        return
    from pytest_autodeploy.settings.meter_syntax import parse_choice

    origin = settings.sources["power"]
    try:
        choice = parse_choice(settings.power)
    except ValueError as error:
        raise SettingError(f"{origin}: {error}") from None
    if read and choice.kind == "replay" and not (settings.root / str(choice.what)).exists():
        raise SettingError(f"{origin}: no such file or folder: {choice.what}", hint=_RELATIVE)
    if choice.kind == "sim" and not any(owns_meter(board, settings) for board in settings.evb):
        raise SettingError(
            f"{origin}: sim is for simulated boards that this run starts, and for virtual EVBs",
            hint="choose joulescope or a .jls capture, or --evb sim:NAME without --evb-port",
        )


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
