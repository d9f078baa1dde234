"""The shared library: opened once, its structs checked, its errors turned into exceptions."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from typing import Any

from . import _binding

ffi = _binding.ffi
HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "share", "foretell")
COMMAND = os.path.join(HERE, "bin", "foretell")

_STATUS = {
    0: "OK",
    -1: "ENOMEM",
    -2: "EINVAL",
    -3: "EIO",
    -4: "EFORMAT",
    -5: "EUNSUPPORTED",
    -6: "ENOTFOUND",
    -7: "EBACKEND",
    -8: "ENEEDED",
}
# Options that sentences name, where keywords have other names.
KEYWORDS = {"dim": "dims", "input": "inputs", "dtype": "precision"}


class Error(Exception):
    """What went wrong.

    status: "EINVAL" (the question), "EIO" and "EFORMAT" (a file), "ENEEDED" (the model leaves a
    value open), "ENOTFOUND" (device, predictor), "EUNSUPPORTED", "EBACKEND" (an engine), "ENOMEM".
    sentence: what, where, and what to do. hint: the keyword that sets it, or "".
    """

    __module__ = "foretell"

    def __init__(self, status: str, sentence: str, hint: str | None = None) -> None:
        if hint is None:
            said = re.sub(r"unknown option \S+|\bforetell .*", "", sentence)
            names = dict.fromkeys(re.findall(r"(?<![\w-])--([a-z][a-z-]+)", said))
            hint = ", ".join(KEYWORDS.get(n, n.replace("-", "_")) + "=" for n in names)
        super().__init__(sentence + (f" (in Python: {hint})" if hint else ""))
        self.status, self.sentence, self.hint = status, sentence, hint

    def __reduce__(self) -> Any:
        return Error, (self.status, self.sentence, self.hint)


def _open() -> Any:
    for name, size in _binding.SIZES.items():
        if ffi.sizeof(name) != size:
            raise ImportError(
                f"foretell: {name} has {ffi.sizeof(name)} bytes here, {size} when "
                "the package was built: install it again"
            )
    library = ffi.dlopen(os.path.join(HERE, "lib", "libforetell.so"))
    running = ffi.string(library.ft_version()).decode()
    if running != _binding.VERSION:
        raise ImportError(
            f"foretell {_binding.VERSION} found a library {running}: install it again"
        )
    return library


lib = _open()


def text(value: Any) -> str:
    """A C string; "" for NULL."""
    return ffi.string(value).decode("utf-8", "replace") if value != ffi.NULL else ""


def check(status: int, err: Any) -> None:
    """Raise foretell.Error unless the status is good."""
    if status:
        raise Error(_STATUS.get(status, str(status)), text(err.msg))


def call(work: Callable[[], Any]) -> Any:
    """Do what may take long so that Ctrl-C ends the wait: the main thread waits while another
    one is inside the library (which finishes there, unheard). Other threads call directly."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    result: list[Any] = []

    def run() -> None:
        try:
            result.extend((work(), None))
        except BaseException as error:  # handed to the caller below
            result.extend((None, error))

    worker = threading.Thread(target=run, name="foretell", daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.2)
    value, error = result
    if error is not None:
        try:
            raise error
        finally:
            error = None
            result.clear()
    return value


def user_folder() -> str:
    """Where `foretell train` writes predictors; as the command has it."""
    xdg = os.environ.get("XDG_DATA_HOME", "")
    if xdg.startswith("/"):
        return os.path.join(xdg, "foretell")
    return os.path.join(os.environ.get("HOME") or ".", ".local", "share", "foretell")


_folders: dict[tuple, Any] = {}
_lock = threading.Lock()


def folders(data_dir: str | None = None) -> Any:
    """The ft_data of a data folder and the user's own, read once; anew when the user's changed."""
    where = os.fspath(data_dir or os.environ.get("FORETELL_DATA") or DATA)
    user = user_folder()
    try:
        changed = os.stat(user).st_mtime_ns
    except OSError:
        changed = 0
    key = (where, user)
    with _lock:
        if key in _folders and _folders[key][0] == changed:
            return _folders[key][1]
        out, err = ffi.new("ft_data **"), ffi.new("ft_error *")
        check(lib.ft_data_open(out, where.encode(), user.encode(), err), err)
        data = ffi.gc(out[0], lib.ft_data_close)
        _folders[key] = (changed, data)
        return data


def forget_folders() -> None:
    """Read devices and predictors again."""
    with _lock:
        _folders.clear()
