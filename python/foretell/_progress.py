"""The progress that a command draws on a terminal, as a bar of tqdm."""

from __future__ import annotations

import os
import re
import threading
from typing import Any

from ._library import Error

_DRAWN = re.compile(rb"\] (\d+)/(\d+) ([^\r\n\x1b]*)")


class Bar:
    """`terminal` is for the command's standard error; after close(), `text` is what else it wrote
    there."""

    def __init__(self, name: str) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise Error("EUNSUPPORTED", "progress needs the package tqdm", "progress=") from None
        self._bar: Any = tqdm(desc=name, leave=False)
        self._mine, self.terminal = os.openpty()
        self._read = b""
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        rest = b""
        while True:
            try:
                some = os.read(self._mine, 1 << 16)
            except OSError:
                return  # the command has ended
            if not some:
                return
            self._read += some
            rest = (rest + some)[-1024:]
            drawn = _DRAWN.findall(rest)
            if drawn:
                done, total, what = drawn[-1]
                self._bar.total, self._bar.n = int(total), int(done)
                self._bar.set_postfix_str(what.decode("utf-8", "replace"))

    def started(self) -> None:
        """The command has the terminal."""
        os.close(self.terminal)

    def close(self) -> None:
        self._thread.join()
        os.close(self._mine)
        self._bar.close()

    @property
    def text(self) -> str:
        return re.sub(rb"\r\x1b\[K(\[[#.]+\] [^\r\n]*)?", b"", self._read).decode(
            "utf-8", "replace"
        )
