"""Models of Hugging Face by their ids, from the cache on this machine; nothing is downloaded."""

from __future__ import annotations

import os
import re
from typing import Any

from ._library import Error

_FILES = (".onnx", ".pt2", ".json", ".gguf", ".ops", ".txt")


def _cache() -> str:
    """Where huggingface_hub keeps it, by the same variables."""
    env = os.environ
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if env.get(name):
            return os.path.expanduser(env[name])
    home = env.get("HF_HOME") or os.path.join(
        env.get("XDG_CACHE_HOME") or os.path.join("~", ".cache"), "huggingface"
    )
    return os.path.expanduser(os.path.join(home, "hub"))


def _snapshot(folder: str) -> str | None:
    """The revision that "main" stands for, else the one that was written last."""
    snapshots = os.path.join(folder, "snapshots")
    try:
        with open(os.path.join(folder, "refs", "main"), encoding="ascii") as file:
            found = os.path.join(snapshots, file.read().strip())
        if os.path.isdir(found):
            return found
    except (OSError, UnicodeDecodeError):
        pass  # downloaded by a revision
    try:
        each = [os.path.join(snapshots, name) for name in os.listdir(snapshots)]
    except OSError:
        return None
    return max(each, key=os.path.getmtime, default=None)


def path_of(what: Any) -> Any:
    """A path for an id ("org/name") whose model is in the cache: of its config.json, or of its one
    .gguf; anything else as it is. Raises Error: it is no file either."""
    if not isinstance(what, str) or not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", what):
        return what
    if what.endswith(_FILES) or what[0] in ".-" or os.path.exists(what):
        return what
    folder = _snapshot(os.path.join(_cache(), "models--" + what.replace("/", "--")))
    if folder is None:
        if "/" not in what or os.path.isdir(what.partition("/")[0]):
            return what  # a path that is not there
        said = f"{what} is no file, and no model of that id is in {_cache()}"
        raise Error("EIO", f"{said}: hf download {what} config.json", "")
    config = os.path.join(folder, "config.json")
    if os.path.exists(config):
        return config
    # Of one in parts the first has the header.
    ggufs = [
        name
        for name in sorted(os.listdir(folder))
        if name.endswith(".gguf") and not re.search(r"-(?!0*1-of)\d+-of-\d+\.gguf$", name)
    ]
    if len(ggufs) == 1:
        return os.path.join(folder, ggufs[0])
    has = f"several .gguf files, of which one is to be named by its path: {', '.join(ggufs)}"
    raise Error("EIO", f"{folder} has {has if ggufs else 'neither config.json nor a .gguf'}", "")
