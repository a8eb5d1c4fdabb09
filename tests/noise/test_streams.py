"""Random bytes are AES in counter mode, and never handed out twice: to no two threads and to no signal handler.

A block of sixteen bytes occurs twice among a few million with a probability below 2^-80, unless the stream is at fault.
"""

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from types import FrameType
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from numpy.typing import NDArray

from privately.noise import streams
from privately.noise.streams import KEY_BYTES, REKEY_AFTER, Stream, SystemStream, counter_mode, encipher

BLOCK = 16
DRAWN = 4 * BLOCK


class KeyedOnce:
    """A fault: one key for ever, whatever is forked."""

    def __init__(self) -> None:
        self._cipher = counter_mode(os.urandom(KEY_BYTES))

    def take(self, count: int) -> NDArray[np.uint8]:
        out = np.empty(count + BLOCK, np.uint8)
        for start in range(0, count, REKEY_AFTER):
            encipher(self._cipher, out[start:], min(count - start, REKEY_AFTER))
        return out[:count]


class Buffered:
    """A fault: a shared buffer with a position in it, which is read and moved on in two steps."""

    def __init__(self) -> None:
        self._buffer = np.frombuffer(os.urandom(8 << 20), np.uint8)
        self._position = 0

    def take(self, count: int) -> NDArray[np.uint8]:
        start = self._position
        out = self._buffer[start : start + count].copy()
        time.sleep(0)  # widens the gap through which others slip, as they do without it now and then
        self._position = start + count
        return out


def repeated(parts: Iterable[bytes]) -> int:
    """Blocks that were handed out before."""
    blocks = [part[i : i + BLOCK] for part in parts for i in range(0, len(part), BLOCK)]
    return len(blocks) - len(set(blocks))


def drawn(stream: Stream) -> bytes:
    return stream.take(DRAWN).tobytes()


# The key stream


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The keys that the operating system hands out from now on."""
    issued: list[bytes] = []
    urandom = os.urandom

    def recorded(size: int) -> bytes:
        issued.append(urandom(size))
        return issued[-1]

    monkeypatch.setattr(os, "urandom", recorded)
    return issued


def key_stream(key: bytes) -> bytes:
    """All that may come from one key, by enciphering each counter on its own."""
    counters = np.zeros((REKEY_AFTER // BLOCK, 2), ">u8")
    counters[:, 1] = np.arange(REKEY_AFTER // BLOCK)
    return Cipher(AES(key), ECB()).encryptor().update(counters.tobytes())


def check_follows_its_keys(stream: Stream, sizes: list[int], keys: list[bytes]) -> None:
    parts = [stream.take(size) for size in sizes]
    assert [part.size for part in parts] == sizes
    assert {part.dtype for part in parts} == {np.dtype(np.uint8)}
    total = sum(sizes)
    assert {len(key) for key in keys} <= {32}
    assert len(set(keys)) == len(keys)
    assert len(keys) == math.ceil(total / 2**20) or total == 0
    assert b"".join(part.tobytes() for part in parts) == b"".join(map(key_stream, keys))[:total]


def test_the_key_stream_of_the_zero_key_is_the_published_one() -> None:
    """GCM, McGrew-Viega 2005, test cases 13 and 14: H, and what counters 1 and 2 are enciphered to."""
    out = np.empty(3 * BLOCK + 15, np.uint8)
    encipher(counter_mode(bytes(32)), out, 3 * BLOCK)
    published = "dc95c078a2408989ad48a21492842087 530f8afbc74536b9a963b4f1c4cb738b cea7403d4d606b6e074ec5d3baf39d18"
    assert out[: 3 * BLOCK].tobytes() == bytes.fromhex(published) == key_stream(bytes(32))[: 3 * BLOCK]


@pytest.mark.parametrize(
    "sizes",
    [
        [0],
        [1],
        [15],
        [16],
        [17],
        [2**20 - 1],
        [2**20],
        [2**20 + 1],
        [5 * 2**20 + 3],
        [2**20 - 1, 1, 0, 1],
        [2**20 - 7, 16, 2**20 - 7, 2**21],
        [1] * 50 + [2**19 + 3] * 5,
    ],
    ids=lambda sizes: "+".join(map(str, sizes[-5:])),
)
def test_bytes_follow_their_keys_and_a_key_serves_for_a_mebibyte(sizes: list[int], keys: list[bytes]) -> None:
    check_follows_its_keys(SystemStream(), sizes, keys)


def test_a_stream_that_keeps_its_key_would_be_noticed(keys: list[bytes]) -> None:
    check_follows_its_keys(KeyedOnce(), [2**19, 2**19], keys)
    keys.clear()
    with pytest.raises(AssertionError):
        check_follows_its_keys(KeyedOnce(), [2**20, 1], keys)


def test_what_is_drawn_belongs_to_the_caller() -> None:
    stream = SystemStream()
    first, second = stream.take(DRAWN), stream.take(DRAWN)
    assert first.flags.writeable
    assert not np.shares_memory(first, second)
    kept = second.copy()
    first[:] = 0
    assert (second == kept).all()
    assert repeated([drawn(stream), drawn(stream), kept.tobytes(), bytes(BLOCK)]) == 0


class NoEntropy(Exception):
    """What a failing operating system raises here."""


def refuse(size: int) -> bytes:
    raise NoEntropy


def test_without_entropy_nothing_is_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = SystemStream()
    before = stream.take(REKEY_AFTER - DRAWN).tobytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "urandom", refuse)
        for size in (2 * DRAWN, DRAWN, 1):  # the first of them uses up the old key and then fails
            with pytest.raises(NoEntropy):
                stream.take(size)
        with pytest.raises(NoEntropy):
            SystemStream().take(1)
    assert repeated([before, drawn(stream), stream.take(REKEY_AFTER).tobytes()]) == 0


def test_a_thread_without_entropy_gets_nothing_and_may_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, parts = SystemStream(), [drawn(SystemStream())]
    failures = 0

    def work() -> None:
        nonlocal failures
        for _ in range(2):
            try:
                parts.append(drawn(stream))
            except NoEntropy:
                failures += 1
        monkeypatch.undo()
        parts.append(drawn(stream))

    monkeypatch.setattr(os, "urandom", refuse)
    in_threads([work])
    assert failures == 2
    assert len(parts) == 2
    assert repeated([*parts, drawn(stream)]) == 0


# Threads


def in_threads(tasks: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def drawn_by_threads(stream: Stream, *, threads: int = 8, times: int = 32, size: int = 1024 * BLOCK) -> list[bytes]:
    """What many threads draw at the same time, 4 MiB in all."""
    parts: list[bytes] = []
    barrier = threading.Barrier(threads)

    def work() -> None:
        barrier.wait()
        own = [stream.take(size).tobytes() for _ in range(times)]
        parts.extend(own)

    in_threads([work] * threads)
    return parts


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("rekey_after", [REKEY_AFTER, 3 * 1024, 192 * BLOCK * 7])
def test_threads_never_share_a_block(rekey_after: int, hasty: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "REKEY_AFTER", rekey_after)
    parts = drawn_by_threads(SystemStream())
    assert sum(map(len, parts)) == 4 << 20
    assert repeated(parts) == 0


def test_a_shared_buffer_would_be_noticed_by_threads(hasty: None) -> None:
    assert repeated(drawn_by_threads(Buffered())) > 0


# Signals


def drawn_under_signals(stream: Stream, *, interruptions: int = 300) -> list[bytes]:
    """What a program and the handler that keeps interrupting it draw."""
    mine: list[bytes] = []
    handled: list[bytes] = []

    def handle(number: int, frame: FrameType | None) -> None:
        handled.append(stream.take(3 * BLOCK).tobytes())
        signal.setitimer(signal.ITIMER_REAL, 1e-4)  # once at a time: on a busy machine they would pile up

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 1e-4)
    try:
        while len(handled) < interruptions:
            mine.append(stream.take(5 * BLOCK).tobytes())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return mine + handled


def test_a_signal_handler_draws_other_blocks_than_what_it_interrupts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "REKEY_AFTER", 7 * BLOCK)
    assert repeated(drawn_under_signals(SystemStream())) == 0


def test_a_shared_buffer_would_be_noticed_by_a_signal_handler() -> None:
    assert repeated(drawn_under_signals(Buffered())) > 0


def take_interrupted(stream: Stream, size: int, moment: int, interruption: Callable[[], None]) -> tuple[bytes, bool]:
    """Draw, and be interrupted before the operation of that number; also whether there are so many."""
    passed = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal passed
        if frame.f_code.co_filename != streams.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            passed += 1
            if passed == moment:
                interruption()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return stream.take(size).tobytes(), passed >= moment
    finally:
        sys.settrace(before)


def made_here() -> SystemStream:
    stream = SystemStream()
    stream.take(10 * BLOCK)
    return stream


def made_in_another_thread() -> SystemStream:
    """So that the first draw here finds no key yet."""
    made: list[SystemStream] = []
    in_threads([lambda: made.append(SystemStream())])
    return made[0]


@pytest.mark.parametrize("make", [made_here, made_in_another_thread])
@pytest.mark.parametrize("nested", [3 * BLOCK, 6 * BLOCK, 40 * BLOCK])
def test_a_draw_may_be_interrupted_by_another_one_anywhere(
    make: Callable[[], SystemStream], nested: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal handler runs between any two operations of the interpreter, so each of them is tried in turn."""
    monkeypatch.setattr(streams, "REKEY_AFTER", 16 * BLOCK)
    failures = {}
    for moment in count(1):
        stream, parts = make(), []
        try:
            interruption = lambda: parts.append(stream.take(nested).tobytes())  # noqa: E731, B023
            part, reached = take_interrupted(stream, 12 * BLOCK, moment, interruption)
            parts += [part, stream.take(12 * BLOCK).tobytes()]
        except Exception as error:  # noqa: BLE001  (all of them are collected)
            failures[moment] = repr(error)
            continue
        assert repeated(parts) == 0
        if not reached:
            break
    assert moment > 50
    assert failures == {}
