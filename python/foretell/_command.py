"""What the command does, as functions: each runs the packaged `foretell NAME ... --json`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from ._library import COMMAND, DATA, Error, forget_folders
from ._table import Record

_EXIT = {1: "ENOTFOUND", 2: "EINVAL", 3: "EFORMAT", 4: "ENOTFOUND", 70: "EBACKEND"}
# As predict() has them; given once for each value; about what is printed.
_SAME = {"precision": "dtype", "dims": "dim", "inputs": "input"}
_REPEATED = {"limit", "price", "predictor", "dim", "input", "param"}
_NOT_HERE = {"csv", "help", "json", "stdin", "version"}


def main() -> None:
    """The console script: the packaged command itself takes this process's place."""
    os.execv(COMMAND, ["foretell", *sys.argv[1:]])


def _is_list(value: Any) -> bool:
    """Lists, tuples, ranges, keys of dicts, arrays."""
    return hasattr(value, "__iter__") and not isinstance(value, (str, os.PathLike))


def _text(value: Any, between: str) -> str:
    """A value as the command has it: [1, 8] is "1,8"."""
    if _is_list(value):
        return between.join(_text(one, between) for one in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _words(options: dict[str, Any]) -> list[str]:
    """Options as the command has them, those of predict() too: limit=["time=10ms", "energy=2J"] or
    {"time": "10ms"} is --limit for each, devices=["a30", "l4"] is --devices a30,l4."""
    words = []
    for name, value in options.items():
        name = _SAME.get(name.rstrip("_"), name.rstrip("_").replace("_", "-"))
        if name == "dtype" and value == "tf32":
            name, value = "policy", "tf32"
        if name == "optimizer":
            from . import _ask

            value = _ask._optimizer(value)
        if isinstance(value, dict):
            between = "x" if name == "input" else ","
            value = [f"{k}={_text(v, between)}" for k, v in value.items()]
            value = value if name in _REPEATED else " ".join(value)
        if value is True:
            words.append("--" + name)
        elif value is not None and value is not False:
            for one in value if name in _REPEATED and _is_list(value) else [value]:
                words += ["--" + name, _text(one, ",")]
    return words


def _operand(what: Any) -> str:
    """The path of a file that is there."""
    if not isinstance(what, (str, os.PathLike)):
        raise Error("EINVAL", f"a path or a module is wanted, not {type(what).__name__}", "")
    path = os.fspath(what)
    try:
        os.stat(path)
    except (OSError, ValueError) as error:
        raise Error("EIO", f"{path}: {getattr(error, 'strerror', error)}", "") from None
    return os.path.join(".", path) if path.startswith("-") else path


def _run(command: str, operands: Sequence[Any], options: dict[str, Any]) -> Record:
    import json  # when it is needed: importing the package is to be quick
    import signal
    import subprocess

    for name in _NOT_HERE & options.keys():
        raise Error("EINVAL", f"{command}() has no option {name}", "")
    words = [COMMAND, command, *operands, *_words(options), "--json", "--quiet"]
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={"FORETELL_DATA": DATA, **os.environ},
    ) as child:
        try:
            out, err = child.communicate()
        except KeyboardInterrupt:
            child.send_signal(signal.SIGINT)  # it ends what it started, and puts clocks back
            child.communicate()
            raise
    if child.returncode in (0, 1) and out:
        return Record(json.loads(out), command)
    try:
        sentence = json.loads(err[err.index("{") :])["message"]
    except ValueError:
        sentence = err.strip() or f"{command} ended with {child.returncode}"
    raise Error(_EXIT.get(child.returncode, "EBACKEND"), sentence)


def measure(path: Any, words: Sequence[str], options: dict[str, Any]) -> Record:
    """The record of `foretell measure`."""
    return _run("measure", [path, *words], options)


def rank(model: Any, args: Any = (), kwargs: dict | None = None, **options: Any) -> Record:
    """Order devices, batches and clocks by what a model takes there.

    model, args, kwargs: as of predict(). Options are the command's, dashes as underscores, and
    predict()'s: by="energy", devices=["a30", "l4"], batches=[1, 8], limit={"time": "10ms"},
    price={"a30": "0.6/h"}. -> a row a choice; ["best"] is None where nothing meets the limits.
    Raises foretell.Error."""
    return _on_models("rank", [model], args, kwargs, options)


def place(*models: Any, args: Any = (), kwargs: dict | None = None, **options: Any) -> Record:
    """Split one network over several devices, or assign several networks to them.
    devices=["a30", "l4"] and, of one network, link="16GB/s" are needed. -> a row a part, or a
    network."""
    return _on_models("place", models, args, kwargs, options)


def explore(action: str, space: Any, **options: Any) -> Record:
    """Design-space exploration: action "run", "resume", "report" or "verify" of a SPACE.yaml.
    Ctrl-C ends it; what was run is kept."""
    return _run("explore", [action, _operand(space)], options)


def evaluate(**options: Any) -> Record:
    """Cross-validation and hold-out tests on measured data: db=, leave_out="device",
    metric="time", where={"device": ["a30", "l4"]}. -> a row a kind, or what by= says."""
    return _run("evaluate", [], options)


def train(**options: Any) -> Record:
    """Train a predictor from the store: out="p.ftp", otherwise where predict() looks first. -> a
    row a regressor."""
    try:
        return _run("train", [], options)
    finally:
        forget_folders()


def collect(*models: Any, args: Any = (), kwargs: dict | None = None, **options: Any) -> Record:
    """Measure operations of this machine into the store, quick=True: a representative set;
    budget="60s". Ctrl-C: what was measured is kept. -> one row."""
    return _on_models("collect", models, args, kwargs, options)


def ptx(*files: Any, **options: Any) -> Record:
    """Count what PTX kernels execute, and with device= predict their time. entry=, grid=(64, 64),
    block=256, param={"n": 1024}. -> a row a launch, or, without a grid, a kernel."""
    return _run("ptx", [_operand(file) for file in files], options)


def launches(path: Any, **options: Any) -> Record:
    """The same of a program: path is a launch file, or a folder that Triton, Inductor or XLA left.
    -> a row a launch; the table "libraries" has the calls whose kernels are not in PTX."""
    return _run("ptx", [], {"launches": _operand(path), **options})


def _on_models(
    command: str, models: Sequence[Any], args: Any, kwargs: dict | None, options: dict[str, Any]
) -> Record:
    from . import _ask

    with _ask.files(models, args, kwargs, options) as paths:
        return _run(command, [_operand(path) for path in paths], options)
