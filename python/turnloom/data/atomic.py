"""A file that appears under its name only when it is complete."""

import os
import secrets
from pathlib import Path
from types import TracebackType
from typing import IO, Self


class AtomicFile:
    """Write beside a target, and take its place on `commit`; without a commit nothing is left behind.

    A symbolic link is written through: its target is replaced, the link stays.
    """

    def __init__(self, path: Path) -> None:
        self._target = Path(os.path.realpath(path))
        self._temporary = self._target.with_name(f".{self._target.name}.{secrets.token_hex(4)}.tmp")
        # Not tempfile: its files are readable by their owner only, and would stay so after the rename.
        self.file: IO[bytes] = self._temporary.open("xb")

    def commit(self) -> None:
        """Put the written bytes on the disk, then under the target's name."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        os.replace(self._temporary, self._target)
        if os.name == "posix":  # the rename itself is in the folder
            folder = os.open(self._target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.file.close()  # may fail on a full disk
        finally:
            self._temporary.unlink(missing_ok=True)
