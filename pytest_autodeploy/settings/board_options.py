"""The options of boards: which, how they are reached, flashed and built for."""

from __future__ import annotations

from pytest_autodeploy.catalog.kinds import SIMULATED, syntax
from pytest_autodeploy.catalog.pmu import SYNTAX, parse_events
from pytest_autodeploy.settings.build_options import BUILD_OPTIONS
from pytest_autodeploy.settings.option import Option, age, positive_float, positive_int, tcp_port

DEFAULT_EVB = f"{SIMULATED.prefix}apollo4p_evb"

BOARD_OPTIONS = (
    Option(
        "evb",
        "--evb",
        f"Board to run on: {syntax()} With --evb-rig, name:BOARD is one of the rig. Repeatable "
        f"(default: {DEFAULT_EVB})",
        metavar="NAME",
        ini="args",
        default=(DEFAULT_EVB,),
        repeatable=True,
    ),
    Option(
        "evb_port",
        "--evb-port",
        "Attach to a board that already runs its model: a device, socket://HOST:PORT or "
        "rfc2217://HOST:PORT. With --evb-probe: the port of the board that is flashed",
        metavar="URL",
    ),
    Option(
        "evb_probe",
        "--evb-probe",
        "Serial number of the probe that flashes the EVB (default: the only one there is)",
        metavar="SERIAL",
    ),
    Option(
        "evb_rig",
        "--evb-rig",
        "Rig file: the boards that there are, in TOML. --evb NAME is then any of that type, --evb "
        "name:BOARD one of them (or $AUTODEPLOY_RIG)",
        metavar="FILE",
        env="AUTODEPLOY_RIG",
    ),
    Option(
        "evb_wait",
        "--evb-wait",
        "Seconds to wait for a board, or a meter, that another run or worker uses (default: 3600)",
        metavar="SECONDS",
        ini="float",
        default=3600.0,
        convert=positive_float,
    ),
    Option(
        "evb_labgrid_client",
        "--evb-labgrid-client",
        "labgrid-client, for boards that labgrid lends; it is best in an environment of its own "
        "(default: the one on PATH)",
        metavar="PATH",
    ),
    Option(
        "evb_dialect",
        "--evb-dialect",
        "What the board behind --evb-port speaks: own (firmware of this project), stock (what "
        "neuralSPOT's AutoDeploy has flashed) or auto, which asks it (default: auto)",
        metavar="DIALECT",
        default="auto",
        choices=("auto", "own", "stock"),
    ),
    Option(
        "evb_require_proof",
        "--evb-require-proof",
        "Refuse boards that do not prove which model they run, as those with stock firmware",
        ini="bool",
        default=False,
        switch=True,
    ),
    Option(
        "evb_flash_tool",
        "--evb-flash-tool",
        "What flashes EVBs: jlink (J-Link Commander) or pyocd (default: jlink)",
        metavar="TOOL",
        default="jlink",
        choices=("jlink", "pyocd"),
    ),
    Option(
        "evb_sdk",
        "--evb-sdk",
        "neuralSPOT checkout that firmware for EVBs is built with (or $NEURALSPOT_ROOT)",
        metavar="DIR",
    ),
    Option(
        "evb_tflm_root",
        "--evb-tflm-root",
        "TFLM tree with its static library; for EVBs a runtime of the SDK, by its name such as "
        "helia_rt_v1_3_0 or its folder (or $AUTODEPLOY_TFLM_ROOT; default: the SDK's own)",
        metavar="DIR",
    ),
    Option(
        "evb_toolchain",
        "--evb-toolchain",
        "arm-none-eabi-gcc or armclang: a name, a path or a folder (or $AUTODEPLOY_TOOLCHAIN; "
        "default: arm-none-eabi-gcc on PATH)",
        metavar="PATH",
    ),
    *BUILD_OPTIONS,
    Option(
        "evb_image",
        "--evb-image",
        "Image that a virtual board runs, .axf, .elf or .bin (default: the one that is built)",
        metavar="FILE",
    ),
    Option(
        "evb_image_licence_ok",
        "--evb-image-licence-ok",
        "The licences of what --evb-image contains allow a CPU that is not Ambiq's",
        ini="bool",
        default=False,
        switch=True,
    ),
    Option(
        "evb_gdb",
        "--evb-gdb",
        "TCP port on which a virtual board waits for GDB (target remote :PORT), which may stop it, "
        "step and read registers and memories (default: none)",
        metavar="PORT",
        ini="int",
        default=0,
        convert=tcp_port,
    ),
    Option(
        "evb_clock",
        "--evb-clock",
        "Clock mode: HP (high performance) or LP (low power) (default: HP)",
        metavar="MODE",
        default="HP",
        choices=("HP", "LP"),
    ),
    Option(
        "evb_counters",
        "--evb-counters",
        f"Events of a Cortex-M55 that profiles count per layer: {SYNTAX}; several with commas "
        "between. More than fit at once take several runs (default: default)",
        metavar="EVENTS",
        default=(),
        convert=parse_events,
    ),
    Option(
        "evb_dwt_counters",
        "--evb-dwt-counters",
        "The 8-bit counters of a Cortex-M4 (cpi, exc, sleep, lsu, fold): modulo gives each layer's "
        "count modulo 256, off leaves them out (default: off)",
        metavar="MODE",
        default="off",
        choices=("modulo", "off"),
    ),
    Option(
        "evb_arena_kb",
        "--evb-arena-kb",
        "Tensor arena to give the model, in KB (default: the largest that the board allows)",
        metavar="KB",
        ini="int",
        default=0,
        convert=positive_int,
    ),
    Option(
        "evb_timeout",
        "--evb-timeout",
        "Seconds that one call to the board may take (default: 60)",
        metavar="SECONDS",
        ini="float",
        default=60.0,
        convert=positive_float,
    ),
    Option(
        "evb_require_hardware",
        "--evb-require-hardware",
        "Refuse to run on anything but real boards",
        ini="bool",
        default=False,
        switch=True,
    ),
    Option(
        "evb_commissioned",
        "--evb-commissioned",
        "Refuse boards whose latest green commissioning (autodeploy commission) is older, such as "
        "12h, 7d or 2w",
        metavar="AGE",
        convert=age,
    ),
    Option(
        "evb_second_chance",
        "--evb-second-chance",
        "Try a model whose board broke once more: auto (on another board of the rig, or after its "
        "power was cut), on (boards that the run starts, too, in a fresh process) or off; reports "
        "keep the first failure (default: auto)",
        metavar="WHEN",
        default="auto",
        choices=("auto", "on", "off"),
    ),
    Option(
        "evb_quarantine",
        "--evb-quarantine",
        "File with boards of the rig that broke with two models in a row: no run leases them until "
        "somebody lifts them (autodeploy boards --lift NAME --quarantine FILE)",
        metavar="FILE",
    ),
    Option(
        "evb_record",
        "--evb-record",
        "Record all that the boards answer, one file for each model and board in this folder; "
        "--evb recorded:FILE answers from one",
        metavar="DIR",
    ),
    Option(
        "evb_sim_link",
        "--evb-sim-link",
        "Link of simulated boards, such as bytes_per_s=1000000,latency_ms=1 (default: unlimited)",
        metavar="LINK",
    ),
)
