"""Stands in for ``labgrid-client`` of labgrid 26.0: its words, and its rules for places.

The lab is a JSON file beside it, changed under a lock. ``broken`` in it maps a command to what
goes wrong with it (``once``: at its next use): hang, garbage, old, crash, away (no coordinator), or
a text that is the error.
"""

from __future__ import annotations

import fcntl
import json
import os
import pprint
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).parent
LAB = HERE / "lab.json"
ME = f"{os.environ.get('LG_HOSTNAME', 'bench')}/{os.environ.get('LG_USERNAME', 'nobody')}"
AWAY = """ERROR              root: coordinator is unavailable: failed to connect to all addresses
Server error: Error: Could not connect to coordinator"""
GARBAGE = "\x1b[31mWARNING\x1b[0m: {'a': [1, 2"
OLD = "labgrid-client: error: argument COMMAND: invalid choice: 'x' (choose from 'help', 'acquire')"


def main(words: list[str]) -> None:
    """Do what the command line says."""
    place = ""
    while words and words[0].startswith("-"):
        flag = words.pop(0)
        if flag == "-p":
            place = words.pop(0)
    command, *arguments = words
    with lab() as state:
        state["log"].append([ME, place, command, *arguments])
        broken = state["broken"].get(command, state["broken"].get("all"))
        broken = state["once"].pop(command, broken)
    if broken:
        fail(broken)
    if command == "wait":
        wait(arguments[0])
        return
    with lab() as state:
        getattr(Commands(state, place), command.replace("-", "_"))(*arguments)


@contextmanager
def lab() -> Iterator[dict[str, Any]]:
    """The lab, to be changed; nobody else sees it meanwhile."""
    with LAB.open("r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        state = json.load(file)
        try:
            yield state
        finally:
            schedule(state)
            file.seek(0)
            file.truncate()
            json.dump(state, file)


def schedule(state: dict[str, Any]) -> None:
    """Give places to those who wait, the first first; reservations follow their places."""
    places, reservations = state["places"], state["reservations"]
    for token, one in reservations.items():
        if one["state"] == "waiting":
            free = [
                name
                for name, place in places.items()
                if not place["acquired"] and not place["reservation"]
                if one["tags"].items() <= {**place["tags"], "name": name}.items()
            ]
            if free:
                one |= {"state": "allocated", "place": free[0]}
                places[free[0]]["reservation"] = token
        elif one["place"]:
            acquired = places[one["place"]]["acquired"]
            one["state"] = "acquired" if acquired else "allocated"
    for place in places.values():
        if place["reservation"] not in reservations:
            place["reservation"] = None


def say(text: str) -> None:
    """Print it."""
    sys.stdout.write(f"{text}\n")


def complain(text: str) -> None:
    """Print it as an error."""
    sys.stderr.write(f"{text}\n")


def fail(how: str) -> NoReturn:
    """End as a broken client does."""
    if how == "hang":
        time.sleep(600)
    if how == "garbage":
        say(GARBAGE)
        sys.exit(0)
    if how == "crash":
        os.abort()
    text = {"away": AWAY, "old": OLD}.get(how, f"labgrid-client: Error: {how}")
    complain(text)
    sys.exit(2 if how == "old" else 1)


def error(text: str) -> NoReturn:
    """labgrid's own way to refuse."""
    complain(f"labgrid-client: Error: {text}")
    sys.exit(1)


def wait(token: str) -> None:
    """Poll, as labgrid does, each second; here more often."""
    while True:
        with lab() as state:
            if token not in state["reservations"]:
                complain(f"Server error: Error: Reservation {token} does not exist")
                sys.exit(1)
            one = state["reservations"][token]
            one["polled"] += 1
            print_reservation(token, one, "")
        if one["state"] != "waiting":
            return
        sys.stdout.flush()
        time.sleep(0.05)


def print_reservation(token: str, one: dict[str, Any], indent: str) -> None:
    """labgrid.remote.common.Reservation.show"""
    lines = [f"owner: {one['owner']}", f"token: {token}", f"state: {one['state']}", "filters:"]
    lines.append("  main: " + " ".join(f"{key}={value}" for key, value in one["tags"].items()))
    if one["place"]:
        lines += ["allocations:", f"  main: {one['place']}"]
    lines += ["created: 2026-12-01 17:40:40.566944", "timeout: 2026-12-01 17:41:40.567008"]
    say("\n".join(indent + line for line in lines))


class Commands:
    """The commands, by their names."""

    def __init__(self, state: dict[str, Any], place: str) -> None:
        self.state = state
        self.name = place
        self.place = state["places"].get(place)
        if place and self.place is None:
            error(f"place pattern {place} matches nothing")

    def places(self) -> None:
        for name in sorted(self.state["places"]):
            self._show(name)

    def show(self) -> None:
        self._show(self.name)
        state = "Acquired" if self.place["acquired"] else "Matching"
        for resource in self.place["resources"]:
            name, kind = resource.get("name", resource["cls"]), resource["cls"]
            path = f"rig/{self.name}/{kind}/{resource.get('exported', kind)}"
            if resource.get("orphaned"):
                say(f"Orphaned resource '{name}' ({path})")
                continue
            say(f"{state} resource '{name}' ({path}):")
            entry = {
                "acquired": self.name if self.place["acquired"] else None,
                "avail": resource.get("avail", True),
                "cls": kind,
                "params": resource["params"] | {"extra": resource["extra"]},
            }
            say("\n".join(f"  {line}" for line in pprint.pformat(entry).splitlines()))

    def reserve(self, *tags: str) -> None:
        token = f"TOKEN{len(self.state['log'])}"
        wanted = dict(tag.split("=") for tag in tags)
        one = {"owner": ME, "state": "waiting", "tags": wanted, "place": None, "polled": 0}
        self.state["reservations"][token] = one
        schedule(self.state)
        say(f"Reservation '{token}':")
        print_reservation(token, one, "  ")

    def reservations(self) -> None:
        for token, one in self.state["reservations"].items():
            say(f"Reservation '{token}':")
            print_reservation(token, one, "  ")

    def cancel_reservation(self, token: str) -> None:
        if self.state["reservations"].pop(token, None) is None:
            error(f"Reservation {token} does not exist")

    def acquire(self) -> None:
        owner, reservation = self.place["acquired"], self.place["reservation"]
        if owner == ME:
            error(f"You have already acquired place {self.name}.")
        if owner:
            error(f"Place {self.name} is already acquired by {owner}. To work simultaneously, …")
        if reservation and self.state["reservations"][reservation]["owner"] != ME:
            error(f"Place {self.name} was not reserved for {ME}")
        if any(resource.get("orphaned") for resource in self.place["resources"]):
            error(f"Match rig/{self.name}/* has no matching remote resource")
        self.place["acquired"] = ME
        self.state["acquired"].append([self.name, ME])
        say(f"acquired place {self.name}")

    def release_from(self, owner: str) -> None:
        if not self.place["acquired"]:
            error(f"place {self.name} is not acquired")
        if self.place["acquired"] == owner:
            self.place["acquired"] = None
        say(f"{owner} has released place {self.name}")

    def power(self, action: str) -> None:
        if self.place["acquired"] != ME:
            error(f"place {self.name} is not acquired")
        if not any("Power" in resource["cls"] for resource in self.place["resources"]):
            error("target has no compatible resource available")
        self.state["power"].append([self.name, action])
        starter = self.state["on_power"]
        if starter:
            Path(starter).touch()

    def _show(self, name: str) -> None:
        place = self.state["places"][name]
        tags = ", ".join(f"{key}={value}" for key, value in sorted(place["tags"].items()))
        say(f"Place '{name}':")
        if place["aliases"]:
            say(f"  aliases: {', '.join(place['aliases'])}")
        if place["comment"]:
            say(f"  comment: {place['comment']}")
        if tags:
            say(f"  tags: {tags}")
        say(f"  matches:\n    rig/{name}/*\n  acquired: {place['acquired']}")
        say("  acquired resources:")
        if place["acquired"]:
            for resource in place["resources"]:
                say(f"    rig/{name}/{resource['cls']}/{resource['cls']}")
        say("  created: 2026-12-01 17:40:27.217118\n  changed: 2026-12-01 17:40:42.090766")
        if place["reservation"]:
            say(f"  reservation: {place['reservation']}")


if __name__ == "__main__":
    main(sys.argv[1:])
