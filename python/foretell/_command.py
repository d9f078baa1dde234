"""What the command does, as functions: each runs the packaged `foretell NAME ... --json`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from ._library import COMMAND, DATA, Error, forget_folders

_EXIT = {2: "EINVAL", 3: "EFORMAT", 4: "ENOTFOUND", 70: "EBACKEND"}


def main() -> None:
    """The console script: the packaged command itself takes this process's place."""
    os.execv(COMMAND, ["foretell", *sys.argv[1:]])


def _words(options: dict[str, Any]) -> list[str]:
    """Options as the command has them: limit=["time=10ms", "energy=2J"] is --limit twice."""
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(option)
            elif isinstance(one, dict):
                words += [w for k, v in one.items() for w in (option, f"{k}={v}")]
            elif one is not None and one is not False:
                words += [option, os.fspath(one) if isinstance(one, os.PathLike) else str(one)]
    return words


def _run(command: str, operands: Sequence[Any], options: dict[str, Any], stdin: str = "") -> Any:
    import json  # when it is needed: importing the package is to be quick
    import subprocess

    words = [COMMAND, command, *(os.fspath(x) for x in operands), *_words(options)]
    done = subprocess.run(
        [*words, "--json", "--quiet"],
        input=stdin,
        capture_output=True,
        text=True,
        env={"FORETELL_DATA": DATA, **os.environ},
    )
    if done.returncode not in (0, 1):
        sentence = done.stderr.strip().removeprefix("foretell: ")
        raise Error(
            _EXIT.get(done.returncode, "EBACKEND"),
            sentence or f"{command} ended with {done.returncode}",
        )
    return json.loads(done.stdout) if done.stdout.strip() else None


def measure(path: Any, words: Sequence[str], options: dict[str, Any]) -> Any:
    """The record of `foretell measure`."""
    return _run("measure", [path, *words], options)


def rank(model: Any, **options: Any) -> Any:
    """Order devices, batches and clocks by what a model takes there.

    model: a path, a list of specs, or a module (then `args`, `kwargs` as of predict). Options are
    the command's, dashes as underscores: by="energy", devices="a30,l4", batches="1,8",
    limit=["time=10ms"]. -> the record of `foretell rank --json`. Raises foretell.Error.
    """
    return _on_model("rank", [model], options)


def place(*models: Any, **options: Any) -> Any:
    """Split one network over several devices, or assign several networks to them: the record of
    `foretell place --json`. devices="a30,l4" and link="16GB/s" (one network) are needed."""
    return _on_model("place", models, options)


def explore(action: str, space: Any, **options: Any) -> Any:
    """Design-space exploration: action "run", "resume", "report" or "verify" of a SPACE.yaml; the
    record of `foretell explore --json`. Ctrl-C ends it; what was run is kept."""
    return _run("explore", [action, space], options)


def evaluate(**options: Any) -> Any:
    """Cross-validation and hold-out tests on measured data: the record of `foretell evaluate
    --json`. Options as the command's: db=, leave_out="device", metric="time"."""
    return _run("evaluate", [], options)


def train(**options: Any) -> Any:
    """Train a predictor from the store: the record of `foretell train --json`. out="p.ftp",
    otherwise where predict looks first."""
    try:
        return _run("train", [], options)
    finally:
        forget_folders()


def collect(*models: Any, **options: Any) -> Any:
    """Measure operations of this machine into the store, quick=True: a representative set;
    budget="60s". The record of `foretell collect --json`. Ctrl-C: what was measured is kept."""
    return _on_model("collect", models, options)


def ptx(*files: Any, **options: Any) -> Any:
    """Count what PTX kernels execute, and with device= predict their time: the record of
    `foretell ptx --json`. entry=, grid="64,64", block="16,16", param=["0=1024"], launches=."""
    return _run("ptx", files, options)


def _on_model(command: str, models: Sequence[Any], options: dict[str, Any]) -> Any:
    from . import _ask

    args, kwargs = options.pop("args", ()), options.pop("kwargs", None)
    with _ask.files(models, args, kwargs, options) as paths:
        return _run(command, paths, options)
