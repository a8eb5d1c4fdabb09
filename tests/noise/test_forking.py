"""No two processes draw the same bytes, however one came from the other. Each family lives in a fresh interpreter."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from multiprocessing.connection import Connection

import pytest

from privately.noise.repeatable import RepeatableStream
from privately.noise.streams import SYSTEM, Stream, SystemStream
from tests.meta.tree import ROOT
from tests.noise.test_streams import DRAWN, Buffered, KeyedOnce, NoEntropy, drawn, refuse, repeated

STREAMS: dict[str, Stream] = {
    "system": SYSTEM,
    "keyed once": KeyedOnce(),
    "seeded": RepeatableStream(seed="1"),
}
"""Made when this module is imported, as the stream of the library is; all but the first are at fault somewhere."""


def in_fresh_interpreter(call: str) -> list[bytes]:
    """What a function of this module returns in a process of its own."""
    program = f"from tests.noise.test_forking import *\nprint(*(part.hex() for part in {call}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [bytes.fromhex(text) for text in done.stdout.split()]


def family(stream: Stream, generations: int, *, parent_first: bool) -> list[bytes]:
    """What a process, its two children, their children and so on draw, each of them once or twice."""
    parts = []
    for _ in range(2 if generations else 0):
        wait, go = os.pipe()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.read(wait, 1)
                os.write(write, b"".join(family(stream, generations - 1, parent_first=parent_first)))
            finally:
                os._exit(0)
        os.close(write)
        if parent_first:
            parts.append(drawn(stream))
        os.write(go, b".")
        with os.fdopen(read, "rb") as pipe:
            parts.append(pipe.read())
        os.waitpid(child, 0)
    return [*parts, drawn(stream)]


def families(make: Callable[[], Stream]) -> list[bytes]:
    """One after the other: the stream new or used before, parents or children first."""
    parts = []
    for before, parent_first in product((0, 5), (True, False)):
        stream = make()
        stream.take(before)
        parts += family(stream, 2, parent_first=parent_first)
    return parts


def test_parent_child_and_grandchild_draw_other_blocks() -> None:
    parts = in_fresh_interpreter("families(SystemStream)")
    assert sum(map(len, parts)) == 2 * (13 + 7) * DRAWN
    assert repeated(parts) == 0


@pytest.mark.parametrize("fault", [KeyedOnce, Buffered])
def test_a_stream_that_does_not_see_forks_would_be_noticed(fault: type[Stream]) -> None:
    for parent_first in (True, False):
        assert repeated(in_fresh_interpreter(f"family({fault.__name__}(), 2, parent_first={parent_first})")) > 0


def family_of_one_number() -> list[bytes]:
    os.getpid = lambda: 1
    return family(SystemStream(), 2, parent_first=True)


def test_processes_of_the_same_number_draw_other_blocks() -> None:
    """Numbers are given again when they run out, and the first process in every namespace has number 1."""
    parts = in_fresh_interpreter("family_of_one_number()")
    assert sum(map(len, parts)) == 13 * DRAWN
    assert repeated(parts) == 0


def send(name: str, pipe: "Connection[bytes, bytes]") -> None:
    pipe.send_bytes(drawn(STREAMS[name]))


def drawn_by_processes(name: str, method: str) -> list[bytes]:
    """What three processes draw that multiprocessing starts, and the one that starts them."""
    context = get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["tests.noise.test_forking"])  # the server makes the streams for all of them
    parts = [drawn(STREAMS[name])]
    for _ in range(3):
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=send, args=(name, sending))  # type: ignore[attr-defined]
        process.start()
        sending.close()
        parts.append(receiving.recv_bytes())
        process.join()
    return [*parts, drawn(STREAMS[name])]


def drawn_after_a_while(name: str) -> tuple[int, bytes]:
    time.sleep(0.05)
    return os.getpid(), drawn(STREAMS[name])


def drawn_by_pool(name: str) -> list[bytes]:
    """What the workers of a pool draw, more than one of them."""
    with ProcessPoolExecutor(3, mp_context=get_context("fork")) as pool:
        found = list(pool.map(drawn_after_a_while, [name] * 6))
    assert len({number for number, _ in found}) > 1
    return [part for _, part in found]


PROCESSES = [*(f"drawn_by_processes('{{}}', '{method}')" for method in ("fork", "forkserver")), "drawn_by_pool('{}')"]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("call", [*PROCESSES, "drawn_by_processes('{}', 'spawn')"])
def test_processes_started_by_the_standard_library_draw_other_blocks(call: str) -> None:
    parts = in_fresh_interpreter(call.format("system"))
    assert sum(map(len, parts)) == (6 if "pool" in call else 5) * DRAWN
    assert repeated(parts) == 0


@pytest.mark.parametrize("call", PROCESSES)
def test_a_stream_that_keeps_its_key_would_be_noticed_by_processes(call: str) -> None:
    assert repeated(in_fresh_interpreter(call.format("keyed once"))) > 0


def test_a_child_without_entropy_gets_nothing_of_its_parent() -> None:
    parts = in_fresh_interpreter("child_without_entropy()")
    assert parts == [b"refused", b"refused"]


def child_without_entropy() -> list[bytes]:
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            os.urandom = refuse
            for _ in range(2):
                try:
                    os.write(write, drawn(SYSTEM))
                except NoEntropy:
                    os.write(write, b"refused ")
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        return pipe.read().split()


@pytest.mark.parametrize(("name", "differ"), [("system", True), ("seeded", False)])
def test_two_interpreters_draw_other_blocks_unless_there_is_a_seed(name: str, differ: bool) -> None:
    first, second = (in_fresh_interpreter(f"[drawn(STREAMS['{name}'])]") for _ in range(2))
    assert (repeated(first + second) == 0) is differ
