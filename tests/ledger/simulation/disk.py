"""A disk in our hands: a file system of SQLite's that can stop at any operation, and forget what was not synced.

All files live in a directory in memory and nothing is really synced. Beside each file its durable image is kept: what
a power cut leaves for certain. Writes since the last sync may survive it or not, whole or in sectors.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import apsw

SECTOR = 512
_MEMORY_SUFFIX = "-shm"

Operation: TypeAlias = tuple[str, str, int, int]
"""What was done, to which file, where, and to how many bytes."""


class Killed(BaseException):
    """The simulated process is no more."""


@dataclass
class Content:
    """A file: its durable image, and the changes since: (offset, bytes), or (size, None) where it was cut off."""

    durable: bytearray
    changes: list[tuple[int, bytes | None]] = field(default_factory=list)

    def sync(self) -> None:
        for offset, data in self.changes:
            _change(self.durable, offset, data)
        self.changes.clear()

    def after_cut(self, rng: random.Random) -> bytes:
        """The image with some of the changes."""
        survivors = bytearray(self.durable)
        how = rng.choice(["none", "all", "first", "some", "torn", "torn"])
        first = rng.randrange(len(self.changes) + 1)
        for place, (offset, data) in enumerate(self.changes):
            if how == "none" or (how == "first" and place >= first):
                break
            if how in {"some", "torn"} and rng.random() < 0.4:
                continue
            if how == "torn" and data is not None and rng.random() < 0.6:
                for start, sector in _sectors(offset, data):
                    if rng.random() < 0.5:
                        _change(survivors, start, sector)
            else:
                _change(survivors, offset, data)
        return bytes(survivors)


def _change(image: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del image[offset:]
        return
    image.extend(bytes(max(0, offset - len(image))))
    image[offset : offset + len(data)] = data


def _sectors(offset: int, data: bytes) -> list[tuple[int, bytes]]:
    edges = [offset, *range((offset // SECTOR + 1) * SECTOR, offset + len(data), SECTOR), offset + len(data)]
    return [(start, data[start - offset : end - offset]) for start, end in pairwise(edges)]


class Disk:
    """The files in one directory, and what of them is durable. A name is durable once its directory was synced."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.contents: dict[str, Content] = {}
        self._durable_names: dict[str, Content] = {}
        self._renamings: list[tuple[str, Content | None]] = []

    def opened(self, name: str, *, existed: bool) -> None:
        """A file that was not made here was made durable by whoever made it."""
        if name in self.contents:
            return
        self.contents[name] = Content(bytearray(Path(name).read_bytes()) if existed else bytearray())
        if existed:
            self._durable_names[name] = self.contents[name]
        else:
            self._renamings.append((name, self.contents[name]))

    def changed(self, name: str, offset: int, data: bytes | None) -> None:
        self.contents[name].changes.append((offset, data))

    def synced(self, name: str) -> None:
        """With a file that is new, SQLite syncs its directory too."""
        content = self.contents[name]
        content.sync()
        if any(renamed is content for _, renamed in self._renamings):
            self._rename(len(self._renamings))

    def deleted(self, name: str, *, durably: bool) -> None:
        self.contents.pop(name, None)
        self._renamings.append((name, None))
        if durably:
            self._rename(len(self._renamings))

    def cut(self, rng: random.Random) -> None:
        """The power fails; nobody may have a file open any more."""
        self._rename(rng.randrange(len(self._renamings) + 1))
        self._renamings.clear()
        for path in self.directory.iterdir():
            if path.name.endswith(_MEMORY_SUFFIX) or str(path) in self.contents:
                path.unlink()
        for name, content in self._durable_names.items():
            image = content.after_cut(rng)
            Path(name).write_bytes(image)
            self._durable_names[name] = Content(bytearray(image))
        self.contents = dict(self._durable_names)

    def _rename(self, count: int) -> None:
        for name, content in self._renamings[:count]:
            if content is None:
                self._durable_names.pop(name, None)
            else:
                self._durable_names[name] = content
        del self._renamings[:count]


@dataclass
class Fate:
    """At which operation of those that matter a process dies (0: not yet known), and how far that last one gets."""

    after: int = 0
    reach: float = 0.0
    matters: Callable[[Operation], bool] = lambda _: True

    def strikes(self, operation: Operation) -> bool:
        if self.after == 0 or not self.matters(operation):
            return False
        self.after -= 1
        return self.after == 0


class Machine(apsw.VFS):
    """The file system of one simulated process."""

    def __init__(self, name: str, disk: Disk, watch: Callable[[Operation], None]) -> None:
        super().__init__(name, base="", makedefault=False)
        self.name, self.disk, self._watch = name, disk, watch
        self.fate = Fate()
        self.dead = False
        self.last: Operation | None = None
        self.memory: dict[Path, bytes] = {}

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - of apsw
        if self.dead:
            raise Killed
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        existed = path is not None and os.path.exists(path)  # noqa: PTH110 - often
        opened = File(self, path, name, flags)
        if path is not None:
            self.disk.opened(path, existed=existed)
        return opened

    def xDelete(self, name: str, syncdir: bool) -> None:  # noqa: N802 - of apsw
        def whole() -> None:
            super(Machine, self).xDelete(name, syncdir)
            self.disk.deleted(name, durably=syncdir)

        self.operate(("delete", name, 0, 0), whole)

    def operate(
        self, operation: Operation, whole: Callable[[], None], part: Callable[[float], None] | None = None
    ) -> None:
        """Does it, or dies before it, in the middle of it, or after it."""
        if self.dead:
            raise Killed
        self._watch(operation)
        self.last = operation
        if not self.fate.strikes(operation):
            whole()
            return
        if self.fate.reach >= 1:
            whole()
        elif self.fate.reach > 0 and part is not None:
            part(self.fate.reach)
        self.die()
        raise Killed

    def die(self) -> None:
        """Nothing more is written. What is in shared memory now is what the others will find there."""
        self.dead, self.fate.after = True, 0
        shared = [path for path in self.disk.directory.iterdir() if path.name.endswith(_MEMORY_SUFFIX)]
        self.memory = {path: path.read_bytes() for path in shared}

    def bury(self) -> None:
        """Undoes what SQLite tidied up in shared memory while the dead process was taken apart."""
        for path, data in self.memory.items():
            with path.open("r+b") as file:
                file.write(data)
        self.memory = {}


class File(apsw.VFSFile):
    """One open file of a simulated process."""

    def __init__(
        self, machine: Machine, path: str | None, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._machine, self._path = machine, path
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - of apsw
        if self._path is None:
            super().xWrite(data, offset)
            return

        def part(share: float) -> None:
            self._write(data[: int(share * len(data))], offset)

        self._machine.operate(("write", self._path, offset, len(data)), lambda: self._write(bytes(data), offset), part)

    def xSync(self, flags: int) -> None:  # noqa: N802 - of apsw
        if self._path is not None:
            path = self._path
            self._machine.operate(("sync", path, 0, 0), lambda: self._machine.disk.synced(path))

    def xTruncate(self, size: int) -> None:  # noqa: N802 - of apsw
        if self._path is not None:
            self._machine.operate(("truncate", self._path, size, 0), lambda: self._truncate(size))

    def _write(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._machine.disk.changed(self._path or "", offset, data)

    def _truncate(self, size: int) -> None:
        super().xTruncate(size)
        self._machine.disk.changed(self._path or "", size, None)
