"""What the command does, as functions: each runs the packaged `foretell NAME ... --json`.

progress=True shows how far a command is, by tqdm; otherwise nothing is shown."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable, Sequence
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


def _option(name: str) -> str:
    """As the command has it; with an underscore behind it, it is the command's own name."""
    return (
        name[:-1].replace("_", "-")
        if name.endswith("_")
        else _SAME.get(name, name.replace("_", "-"))
    )


def _words(options: dict[str, Any]) -> list[str]:
    """Options as the command has them, those of predict() too: limit=["time=10ms", "energy=2J"] or
    {"time": "10ms"} is --limit for each, devices=["a30", "l4"] is --devices a30,l4."""
    words = []
    for name, value in options.items():
        name = _option(name)
        if name == "dtype" and value == "tf32":
            name, value = "policy", "tf32"
        if name in ("optimizer", "dtype"):
            from . import _ask

            value = _ask._optimizer(value) if name == "optimizer" else _ask._precision(value)
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
    given = {k: v for k, v in options.items() if k != "progress"}
    words, bar = [COMMAND, command, *operands, *_words(given), "--json"], None
    if options.get("progress"):
        from ._progress import Bar

        bar = Bar(command)
    with subprocess.Popen(
        words if bar else [*words, "--quiet"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=bar.terminal if bar else subprocess.PIPE,
        encoding="utf-8",
        env={"FORETELL_DATA": DATA, **os.environ},
    ) as child:
        try:
            if bar:
                bar.started()
            out, err = child.communicate()
        except KeyboardInterrupt:
            child.send_signal(signal.SIGINT)  # it ends what it started, and puts clocks back
            child.communicate()
            raise
        finally:
            if bar:
                bar.close()
                err = bar.text
    if child.returncode in (0, 1) and out:
        record = json.loads(out)
        return Record({"answers": record} if isinstance(record, list) else record, command)
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


def _is_model(what: Any) -> bool:
    from ._ask import is_module

    return isinstance(what, (str, os.PathLike, list)) or is_module(what)


def _are_networks(what: Any) -> bool:
    """A list of them, not of operations."""
    return isinstance(what, (list, tuple)) and all(
        _is_model(one) and (not isinstance(one, str) or os.path.exists(one)) for one in what
    )


def place(*models: Any, args: Any = (), kwargs: dict | None = None, **options: Any) -> Record:
    """Split one network over several devices, or assign several networks to them. The arguments of
    one module may follow it: place(net, (x,), ...); several networks may be a list.
    devices=["a30", "l4"] and, of one network, link="16GB/s" are needed. -> a row a part, or a
    network."""
    if len(models) == 1 and _are_networks(models[0]):
        models = tuple(models[0])
    if len(models) == 2 and not _is_model(models[1]):
        models, args = models[:1], models[1]
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


@functools.cache
def _options_of(command: str) -> frozenset[str]:
    """Those that its --help lists."""
    import re
    import subprocess

    text = subprocess.check_output([COMMAND, command, "--help"], text=True)
    return frozenset(re.findall(r"^ +(?:-\w, +)?--([a-z][\w-]*)", text, re.MULTILINE))


def _known(command: str, names: Iterable[str]) -> None:
    """Raise Error for what the command does not have, before anything is exported."""
    for name in names:
        if _option(name) not in _options_of(command):
            import difflib

            known = [one.replace("-", "_") for one in sorted(_options_of(command))]
            near = difflib.get_close_matches(name, known, 1)
            more = f"; did you mean {near[0]}?" if near else ""
            raise Error("EINVAL", f"{command}() has no option {name}{more}", "")


def predict(what: Any, args: Any, kwargs: dict | None, options: dict[str, Any]) -> Record:
    """`foretell predict` itself, for options that the library's question does not have."""
    _known("predict", options)
    return _on_models("predict", [what], args, kwargs, options)


def llm(model: Any, **options: Any) -> Record:
    """What a served language model takes: `foretell predict` with all of its options, of which
    prompt=, generate= (tokens) and concurrency= or rate= (requests, requests/s) say how it is used,
    tp= and the like over how many devices it is split.

    model: a path (config.json, .gguf), or an id of Hugging Face in the cache of this machine.
    device: a name, or a list of them. precision: of weights, where the command has it so. -> a row
    a device and load. Raises foretell.Error."""
    if "precision" in options and "precision" in _options_of("predict"):
        options["precision_"] = options.pop("precision")
    _known("predict", options.keys() - {"progress"})
    return _on_models("predict", [model], (), None, options)


def launches(path: Any, **options: Any) -> Record:
    """The same of a program: path is a launch file, or a folder that Triton, Inductor or XLA left.
    -> a row a launch; the table "libraries" has the calls whose kernels are not in PTX."""
    return _run("ptx", [], {"launches": _operand(path), **options})


def _on_models(
    command: str, models: Sequence[Any], args: Any, kwargs: dict | None, options: dict[str, Any]
) -> Record:
    from . import _ask

    precision = options.get("precision")
    several = precision if _is_list(precision) else [precision]
    if any(one in _ask._WEIGHT_BITS for one in several):
        options["precision_"] = options.pop("precision")
    with _ask.files(models, args, kwargs, options) as paths:
        record = _run(command, [_operand(path) for path in paths], options)
        if models and isinstance(models[0], str) and paths[0] != models[0]:
            for one in record.get("answers", [record]):
                one |= {"model": models[0]} if "model" in one else {}  # an id, not config.json
        return record
