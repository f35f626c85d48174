"""The command ``autodeploy``: it reads its arguments and prints; what it does is done elsewhere."""

from __future__ import annotations

import sys

import click

from pytest_autodeploy.cli.boards import boards
from pytest_autodeploy.cli.command import Commands
from pytest_autodeploy.cli.commission import commission
from pytest_autodeploy.cli.diff import diff
from pytest_autodeploy.cli.doctor import doctor
from pytest_autodeploy.cli.example import example
from pytest_autodeploy.cli.generate import generate
from pytest_autodeploy.cli.inspect import inspect
from pytest_autodeploy.cli.of_results import OF_RESULTS
from pytest_autodeploy.cli.select_inputs import select_inputs
from pytest_autodeploy.cli.sim import sim
from pytest_autodeploy.run.termination import interrupt_on_sigterm

COMMANDS = (
    *(boards, inspect, doctor, commission, sim, diff, generate, select_inputs, example),
    *OF_RESULTS,
)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pytest-autodeploy")
def autodeploy() -> None:
    """TensorFlow Lite models on Ambiq boards, without pytest.

    Exit codes: 0 all is well, 1 something is wrong or failed, 2 the command was not understood.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # names of models may have letters that a pipe has not
            stream.reconfigure(errors="backslashreplace")


for command in COMMANDS:
    autodeploy.add_command(command)


def main() -> None:
    """Run the command line of this process."""
    interrupt_on_sigterm()
    autodeploy(prog_name="autodeploy")
