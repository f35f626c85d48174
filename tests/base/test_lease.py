"""A lease has one owner among all processes of the PC, and falls with it."""

from __future__ import annotations

import os
import pwd
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_autodeploy.base import lease_sockets
from pytest_autodeploy.base.lease import (
    LeaseHeld,
    holder_of,
    take_lease,
    take_one_of,
    try_lease,
)
from pytest_autodeploy.base.port_place import port_place
from pytest_autodeploy.base.progress import Display, shown_on
from tests.helpers.support import ROOT, wait_until
from tests.helpers.users import ATTACKER, BECOME, everybodys_folder, needs_root

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="abstract Unix sockets")

HOLD = """
import sys
import pytest_autodeploy.base.lease_sockets  # who becomes another user may not read it
from pytest_autodeploy.base.lease import take_lease
{before}
leases = [take_lease(identity, 5) for identity in sys.argv[1:]]
print("held", flush=True)
for line in sys.stdin:
    leases.pop().release()
    print("released", flush=True)
"""


@contextmanager
def owner(*identities: str, before: str = "") -> Iterator[subprocess.Popen[str]]:
    """Another process that has leases; each line that it gets lets it give one up."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD.format(before=before), *identities],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def tell(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def test_who_waits_is_told_who_has_it_and_since_when() -> None:
    with owner("board 1", "board 2") as process:
        with pytest.raises(LeaseHeld) as raised:
            take_lease("board 1", 0.05)
        text = raised.value.holder.text
        user = re.escape(pwd.getpwuid(os.getuid()).pw_name)
        assert re.fullmatch(
            rf"process {process.pid} \(-c board 1 board 2\) of {user} since \d\d:\d\d:\d\d", text
        )
        assert raised.value.seconds == 0.05
    assert holder_of("board 1") is None


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_dead_owner_s_lease_falls_and_who_waits_has_it(how: signal.Signals) -> None:
    with owner("board 1") as process:
        process.send_signal(how)
        take_lease("board 1", 20).release()


def test_an_owner_that_is_stopped_still_has_it() -> None:
    with owner("board 1") as process:
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(LeaseHeld, match="board 1 is in use after"):
            take_lease("board 1", 0.05)
        process.send_signal(signal.SIGCONT)


def test_the_first_of_several_that_is_free_is_taken_and_any_is_waited_for() -> None:
    with owner("a", "b") as process:
        number, leases = take_one_of([["a"], ["b", "c"], ["d"]], 0.05, "a board")
        assert (number, [lease.identity for lease in leases]) == (2, ["d"])
        with pytest.raises(LeaseHeld):
            take_one_of([["a"], ["b", "c"]], 0.05, "a board")
        take_lease("c", 0).release()  # nothing is kept of a claim that cannot be had whole
        tell(process, "give up b")
        number, more = take_one_of([["a"], ["b"]], 20, "a board")
        assert number == 1
        for lease in (*leases, *more):
            lease.release()


def test_what_this_process_has_is_not_waited_for() -> None:
    lease = take_lease("board 1", 1)
    with pytest.raises(LeaseHeld) as raised:
        take_lease("board 1", 3600)
    assert raised.value.holder.is_this_process
    lease.release()
    lease.release()
    assert holder_of("board 1") is None


WAIT = """
import sys
from pytest_autodeploy.base.lease import take_lease
lease = take_lease("board 1", 60)
print("held", flush=True)
sys.stdin.readline()
"""


def is_awaited(identity: str, process: subprocess.Popen[str]) -> bool:
    """Whether a process is connected to the socket of the lease and sleeps, so as to wait."""
    name = f"@pytest-autodeploy/lease/{lease_sockets._key(identity)}"
    state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2][0]
    return Path("/proc/net/unix").read_text().count(name) > 1 and state == "S"


def test_who_gives_a_lease_up_does_not_have_it_again_before_those_who_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lease_sockets, "WAY_S", 60.0)
    lease = take_lease("board 1", 1)
    with subprocess.Popen(
        [sys.executable, "-c", WAIT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            wait_until(lambda: is_awaited("board 1", process))
            lease.release()
            assert try_lease("board 1") is None
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            assert try_lease("board 1") is None
        finally:
            process.kill()
    take_lease("board 1", 20).release()


def test_progress_says_for_whom_and_since_when_this_process_waits() -> None:
    lines: list[str] = []
    times = iter(range(0, 1000, 2))

    class Screen:
        live = False

        def show(self, text: str) -> None:
            lines.append(text)
            tell(process, "give up")

        def clear(self) -> None: ...

    with owner("board 1") as process:
        display = Display(Screen(), now=lambda: next(times))
        with shown_on(display, waits_only=True):
            take_lease("board 1", 20, "the board lab3-a").release()
    waiting = r"waiting since [\d:]{8} for the board lab3-a, which "
    assert re.match(rf"{waiting}process {process.pid} \(-c board 1\) of .* has, \d+ s", lines[0])


def test_a_child_of_fork_does_not_keep_what_its_parent_had() -> None:
    lease = take_lease("board 1", 1)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    try:
        lease.release()
        take_lease("board 1", 5).release()
    finally:
        os.close(writer)
        os.waitpid(child, 0)
        os.close(reader)


@needs_root
@pytest.mark.parametrize("how", ["release", "kill"])
def test_the_lease_of_another_user_with_another_tmpdir_is_waited_for(how: str) -> None:
    with everybodys_folder() as folder:
        become = BECOME.format(user=ATTACKER, folder=str(folder))
        with owner("board 1", before=become) as process:
            with pytest.raises(LeaseHeld) as raised:
                take_lease("board 1", 0.05)
            assert f" of uid {ATTACKER} since " in raised.value.holder.text
            if how == "kill":
                process.kill()
            else:
                tell(process, "give up")
            take_lease("board 1", 20).release()


@pytest.mark.parametrize(
    "url",
    [
        "socket://127.0.0.1:5000",
        "socket://localhost:5000",
        "SOCKET://LOCALHOST:5000",
        "socket://[::1]:5000",
        "socket://[::ffff:127.0.0.1]:5000",
        "socket://0.0.0.0:5000",
        "rfc2217://localhost:5000",
        f"socket://{socket.gethostname()}:5000",
        "socket://localhost:5000?logging=debug",
    ],
)
def test_a_server_of_this_host_is_one_by_all_its_names(url: str) -> None:
    assert port_place(url) == "socket://127.0.0.1:5000"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("socket://192.0.2.7:5000", "socket://192.0.2.7:5000"),
        ("socket://[2001:db8::7]:5000", "socket://2001:db8::7:5000"),
        ("socket://no-such-host.invalid:5000", "socket://no-such-host.invalid:5000"),
        ("socket://host", "socket://host"),
        ("loop://", "loop://"),
        ("/dev/no-such-device", "/dev/no-such-device"),
        ("COM3", "COM3"),
    ],
)
def test_what_is_elsewhere_or_unknown_stays_what_it_is(url: str, place: str) -> None:
    assert port_place(url) == place


def test_all_names_of_a_terminal_are_one(tmp_path: Path) -> None:
    master, slave = os.openpty()
    device = os.ttyname(slave)
    link = tmp_path / "ttyEVB"
    link.symlink_to(device)
    (tmp_path / "again").symlink_to(link)
    assert {port_place(str(path)) for path in (device, link, tmp_path / "again")} == {device}
    os.close(master)
    os.close(slave)


@needs_root
def test_another_node_of_a_terminal_is_the_same_one(tmp_path: Path) -> None:
    node = tmp_path / "node"
    try:
        os.mknod(node, 0o20600, os.stat("/dev/ttyS0").st_rdev)  # noqa: PTH116
    except OSError:
        pytest.skip("no /dev/ttyS0, or no right to make nodes")
    assert port_place(str(node)) == port_place("/dev/ttyS0")
