"""A disk that fails when told to."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw


class Failing(apsw.VFS):
    """The usual file system for `after` more writes; then every write or sync raises `fault`, until told otherwise."""

    def __init__(self, name: str) -> None:
        super().__init__(name, base="")
        self.name = name
        self.fault: type[apsw.Error] | None = None
        self.after = 0
        self.syncs_only = False

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - of apsw
        return _File(self, name, flags)

    def fail(self, fault: type[apsw.Error] | None, *, after: int = 0, syncs_only: bool = False) -> None:
        self.fault, self.after, self.syncs_only = fault, after, syncs_only

    def meet(self, *, sync: bool) -> None:
        """Fails, if it is time."""
        if self.fault is None or (self.syncs_only and not sync):
            return
        if self.after > 0:
            self.after -= 1
            return
        raise self.fault("as told")


class _File(apsw.VFSFile):
    def __init__(self, disk: Failing, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - of apsw
        self._disk.meet(sync=False)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802 - of apsw
        self._disk.meet(sync=True)
        super().xSync(flags)


@contextmanager
def failing_disk(name: str) -> Iterator[Failing]:
    disk = Failing(name)
    yield disk
    disk.unregister()
