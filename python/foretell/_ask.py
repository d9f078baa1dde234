"""The one question: a query of the library from Python's arguments."""

from __future__ import annotations

import contextlib
import functools
import math
import operator
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any, TypedDict, overload

from . import _hub, _library
from ._answer import Prediction, Predictions
from ._library import KEYWORDS, Error, call, check, ffi, lib, text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._table import Record

_TEXTS = (
    "dtype",
    "mode",
    "optimizer",
    "loss",
    "loss_on",
    "setting",
    "policy",
    "engine",
    "engine_version",
    "predictor",
    "method",
    "correct",
    "run_mode",
    "host",
)


_PRECISIONS = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
_LONG = {"o": "out"}  # options of one letter
_WEIGHT_BITS = {"fp8": 8, "fp4": 4}  # types that a language model's weights alone have


def _precision(value: Any) -> Any:
    """As the command has it; torch.float16 is "fp16"."""
    return _PRECISIONS.get(str(value).removeprefix("torch."), value)


def _is_language_model(path: Any) -> bool:
    if not isinstance(path, (str, os.PathLike)):
        return False
    try:
        with open(path, "rb") as file:
            begin = file.read(64)
    except OSError:
        return os.path.isdir(path)
    return bool(lib.ft_is_language_model(begin, len(begin)))


def _wrong(name: str, wanted: str, value: Any) -> Error:
    return Error("EINVAL", f"{name} is {wanted}, not {value!r}", name.partition("[")[0] + "=")


def _whole(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if not 0 < number < 1 << 63:
        raise _wrong(name, "a whole number from 1 on", value)
    return number


def device_name(device: Any) -> str:
    """As the library has it; a number, "cuda:1" or a torch.device is this machine's GPU."""
    if isinstance(device, str) and device.partition(":")[0] != "cuda":
        return device
    torch = sys.modules.get("torch")
    if not isinstance(device, (str, int)) and not (torch and isinstance(device, torch.device)):
        raise _wrong("device", 'a name, such as "a100", or a list of them', device)
    try:
        return torch.cuda.get_device_name(device)  # type: ignore[union-attr]
    except (AttributeError, RuntimeError, AssertionError, ValueError):
        raise Error(
            "ENOTFOUND", f"there is no GPU {device} here; name one, such as a100", "device="
        ) from None


def _without_arguments(args: Any, kwargs: dict | None) -> None:
    """Of what is no module: predict("net.onnx", "a100") names no device."""
    if kwargs or not (isinstance(args, (tuple, list)) and not args):
        raise Error(
            "EINVAL",
            'args and kwargs are those of a module; a device is named: device="a100"',
            "device=",
        )


class _Query:
    """An ft_query with what it borrows."""

    def __init__(self, **fields: Any) -> None:
        self.c = ffi.new("ft_query *")
        self.c.size = ffi.sizeof("ft_query")
        self._keep: list[Any] = []
        for name, value in fields.items():
            self.set(name, value)

    def keep(self, value: Any) -> Any:
        self._keep.append(value)
        return value

    def set(self, name: str, value: Any) -> None:
        if value is None:
            return
        given = value
        if isinstance(value, (str, os.PathLike)):
            value = self.keep(ffi.new("char[]", os.fsencode(value)))
        try:
            setattr(self.c, name, value)
        except (TypeError, OverflowError):
            field = dict(ffi.typeof("ft_query").fields)[name]
            kind = "a number" if field.type.kind == "primitive" else "a text"
            raise _wrong(KEYWORDS.get(name, name), kind, given) from None

    def set_list(self, specs: str) -> None:
        raw = specs.encode()
        self.c.list, self.c.list_len = self.keep(ffi.new("char[]", raw)), len(raw)
        self.set("model", "operations")

    def set_dims(self, dims: dict[str, int] | None) -> None:
        if not dims:
            return
        array = self.keep(ffi.new("ft_dim_value[]", len(dims)))
        for one, (name, value) in zip(array, dims.items()):
            one.name = self.keep(ffi.new("char[]", name.encode()))
            one.value = _whole(f"dims[{name!r}]", value)
        self.c.dims, self.c.n_dims = array, len(dims)

    def set_inputs(self, inputs: dict[str, Sequence[int]] | None) -> None:
        if not inputs:
            return
        array = self.keep(ffi.new("ft_input_shape[]", len(inputs)))
        for one, (name, shape) in zip(array, inputs.items()):
            if len(shape) > lib.FT_MAX_RANK:
                raise Error(
                    "EINVAL", f"input {name} has more than {lib.FT_MAX_RANK} dimensions", "inputs="
                )
            one.name, one.shape.rank = self.keep(ffi.new("char[]", name.encode())), len(shape)
            for i, size in enumerate(shape):
                one.shape.dim[i] = _whole(f"inputs[{name!r}][{i}]", size)
        self.c.inputs, self.c.n_inputs = array, len(inputs)

    def read(self) -> Any:
        """The ft_graph of its model, freed when unused."""
        out, err = ffi.new("ft_graph **"), ffi.new("ft_error *")
        check(lib.ft_query_import(out, self.c, err), err)
        return ffi.gc(out[0], lib.ft_graph_free)

    def ask(self, data: Any, device: str, **fields: Any) -> Any:
        """The ft_answer for a device; the query itself stays, so that threads may share it."""
        out, err = ffi.new("ft_answer **"), ffi.new("ft_error *")
        one, name = ffi.new("ft_query *", self.c[0]), ffi.new("char[]", device.encode())
        one.device = name
        for field, value in fields.items():
            setattr(one, field, value)
        check(lib.ft_query_ask(out, data, one, err), err)
        return ffi.gc(out[0], lib.ft_answer_free)


def _settings(setting: str | None, **clocks: Any) -> str | None:
    units = {"clock": "MHz", "memory": "MHz", "power": "W"}
    words = [setting] if setting else []
    words += [
        f"{name}={value}" + (units[name] if not isinstance(value, str) else "")
        for name, value in clocks.items()
        if value is not None
    ]
    return " ".join(words) or None


def _optimizer(value: Any) -> str | None:
    """ "adamw", or torch.optim.AdamW, or one that is set up."""
    if value is None or isinstance(value, str):
        return value
    kind = value if isinstance(value, type) else type(value)
    name = kind.__name__.lower()
    if name == "sgd" and not isinstance(value, type) and value.defaults.get("momentum"):
        return "momentum"
    return name


def is_module(what: Any) -> bool:
    """Whether it is to be exported: a module, an exported program, or a function of tensors."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    program = sys.modules.get("torch.export")
    return (
        isinstance(what, torch.nn.Module)
        or (program is not None and isinstance(what, program.ExportedProgram))
        or (callable(what) and not isinstance(what, (type, str)))
    )


def _compile_context(what: Any) -> Any:
    """What torch.compile keeps of how it was called: a module has it, functions in a closure."""
    import inspect  # torch has it; importing the package is to be quick

    context = getattr(what, "dynamo_ctx", None)
    config = getattr(what, "get_compiler_config", None)
    if context is None and inspect.isfunction(config):
        context = inspect.getclosurevars(config).nonlocals.get("self")
    return context


def _backend(context: Any) -> str | None:
    """The name of torch.compile's backend, which wrappers hold."""
    backend = inner = getattr(context, "callback", None)
    while inner is not None:
        backend = inner
        inner = getattr(backend, "_torchdynamo_orig_backend", None) or getattr(
            backend, "_torchdynamo_orig_callable", None
        )
    return getattr(backend, "compiler_name", None) or getattr(backend, "__name__", None)


_RUN_MODES = {"cudagraphs": "cudagraphs", "eager": "eager", "aot_eager": "eager"}


def _uncompiled(what: Any, run_mode: str | None) -> tuple[Any, str | None]:
    """What torch.compile was given, and the run mode that it makes of it."""
    torch = sys.modules.get("torch")
    if torch is None or not (isinstance(what, torch.nn.Module) or callable(what)):
        return what, run_mode
    inner = getattr(what, "_orig_mod", None) or getattr(what, "_torchdynamo_orig_callable", None)
    if inner is None:
        return what, run_mode
    context = _compile_context(what)
    config = getattr(context, "compiler_config", None) or {}
    inductor = "compiled-graph" if config.get("triton.cudagraphs", False) else "compiled"
    return inner, run_mode or _RUN_MODES.get(_backend(context) or "", inductor)


def _bounded(graph: Any) -> int:
    return graph.n_bounded


def _specs(what: Any) -> str | None:
    """The text of a list of specs; None: it is none."""
    if isinstance(what, (list, tuple)) and all(isinstance(line, str) for line in what):
        return "\n".join(what)
    return None


def _is_quick(what: Any, specs: str | None) -> bool:
    """Whether it is asked in a tenth of a second at most, where Ctrl-C can wait: less than 1 MiB of
    model. On busy cores a thread more takes ten times as long as the answer."""
    try:
        if specs is not None:
            return len(specs) < 1 << 20
        about = os.stat(what)
        return stat.S_ISREG(about.st_mode) and about.st_size < 1 << 20
    except (OSError, TypeError, ValueError):
        return False


# As a shell has it; a comma at its end is the sentence's.
_WORD = r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'",;\\)]|[,;](?=[^\s)]))+"""


def _as_call(command: re.Match) -> str:
    import json  # when it is needed: importing the package is to be quick
    import keyword
    import shlex

    given: dict[str, list[str]] = {}
    for word in shlex.split(command[3]):
        if word.startswith("-"):
            name = word.lstrip("-")
            name = _LONG.get(name, name).replace("-", "_")
            values = given.setdefault(name + "_" * keyword.iskeyword(name), [])
        else:
            values.append(word)
    words = ["model, args"] if command[2] else []
    for name, values in given.items():
        value = json.dumps(values[0] if len(values) == 1 else values, ensure_ascii=False)
        words.append(f"{name}={value if values else True}")
    return f"foretell.{command[1]}({', '.join(words)})"


def _as_calls(sentence: str, archive: str) -> str:
    """Commands about a module's archive, which is gone once it is answered, as calls."""
    import shlex

    options = rf"(?: --?[a-zA-Z][\w-]*(?: (?!-){_WORD})?)*"
    path = "|".join(re.escape(one) for one in (archive, shlex.quote(archive)))
    commands = rf"foretell (collect|train)( (?:{path}))?({options})"
    return re.sub(commands, _as_call, sentence).replace("--correct few.db", 'correct="few.db"')


@contextlib.contextmanager
def files(
    models: Sequence[Any], args: Any, kwargs: Any, options: dict[str, Any]
) -> Iterator[list[Any]]:
    """Paths of models: modules are exported and lists written for as long as this lasts."""
    if not any(is_module(what) for what in models):
        _without_arguments(args, kwargs)
    with contextlib.ExitStack() as stack:
        paths = []
        for what in models:
            specs, what = _specs(what), _hub.path_of(what)
            if specs is not None:
                import tempfile

                file = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".ops"))
                file.write(specs + "\n")
                file.flush()
                what = file.name
            elif is_module(what):
                from . import _export

                what, *_ = _export.export(
                    what,
                    args,
                    kwargs,
                    stack.enter_context(_export.folder()),
                    str,
                    mode=options.get("mode"),
                    batch=options.get("batch") if isinstance(options.get("batch"), int) else None,
                    open_batch="batches" in options,
                )
            paths.append(what)
        try:
            yield paths
        except Error as error:
            written = [path for path, what in zip(paths, models) if _specs(what) is not None]
            for path in written:
                name = r"\S*" + re.escape(os.path.basename(path))
                error = Error(error.status, re.sub(name, "the list", error.sentence), error.hint)
            raise error from None


class _Asked(TypedDict, total=False):
    """Keywords of predict(), for type checkers."""

    batch: int | None
    precision: Any
    dtype: Any
    mode: str | None
    optimizer: Any
    loss: str | None
    loss_on: str | None
    run_mode: str | None
    clock: Any
    memory_clock: Any
    power_cap: Any
    setting: str | None
    policy: str | None
    engine: str | None
    engine_version: str | None
    host: str | None
    threads: int | None
    predictor: Any
    method: str | None
    correct: Any
    dims: dict[str, int] | None
    inputs: dict[str, Sequence[int]] | None
    trips: int | None
    data_dir: Any


class _OfCommand(_Asked, total=False):
    """Those of the command besides, with which it answers."""

    precision_: Any
    top: Any
    summary: Any
    html: Any
    trace: Any
    max_batch: Any
    must_fit: Any
    channels_last: Any
    clocks: Any
    power_caps: Any
    launch_time: Any
    prompt: Any
    generate: Any
    concurrency: Any
    rate: Any
    requests: Any
    num_requests: Any
    vary: Any
    arrivals_seed: Any
    tp: Any
    ep: Any
    max_num_seqs: Any
    max_num_batched_tokens: Any
    no_chunked_prefill: Any
    shared_prefix: Any
    block_size: Any
    gpu_memory_utilization: Any
    kv_tokens: Any
    disaggregated: Any
    step_overhead: Any
    gpus: Any
    pp: Any
    interleave: Any
    sequence: Any
    micro_batch: Any
    global_batch: Any
    zero: Any
    recompute: Any
    lora: Any
    run_tokens: Any
    price: Any
    quiet: Any
    verbose: Any
    db: Any
    plugin_dir: Any


@overload
def predict(
    what: Any,
    args: Any = (),
    kwargs: dict | None = None,
    *,
    device: list | tuple | Set | Iterator,
    **asked: Unpack[_Asked],
) -> Predictions: ...
@overload
def predict(
    what: Any,
    args: Any = (),
    kwargs: dict | None = None,
    *,
    device: Any = "local",
    **asked: Unpack[_Asked],
) -> Prediction: ...
@overload
def predict(
    what: Any,
    args: Any = (),
    kwargs: dict | None = None,
    *,
    device: Any = "local",
    **options: Unpack[_OfCommand],
) -> Record: ...
def predict(
    what: Any,
    args: Any = (),
    kwargs: dict | None = None,
    *,
    device: Any = "local",
    batch: int | None = None,
    precision: Any = None,
    mode: str | None = None,
    optimizer: Any = None,
    loss: str | None = None,
    loss_on: str | None = None,
    run_mode: str | None = None,
    clock: Any = None,
    memory_clock: Any = None,
    power_cap: Any = None,
    setting: str | None = None,
    policy: str | None = None,
    engine: str | None = None,
    engine_version: str | None = None,
    host: str | None = None,
    threads: int | None = None,
    predictor: Any = None,
    method: str | None = None,
    correct: Any = None,
    dims: dict[str, int] | None = None,
    inputs: dict[str, Sequence[int]] | None = None,
    trips: int | None = None,
    data_dir: Any = None,
    **options: Any,
) -> Any:
    """Time, energy, power and memory of a network on a device, before it runs.

    what: a path (.onnx, .pt2, config.json, .gguf, .ops), an id of Hugging Face ("org/name") whose
    model is in the cache of this machine, a list of specs, or, with PyTorch, an nn.Module, a
    function of tensors or an exported program, called as what(*args, **kwargs); tensors may be meta
    or fake ones, and nothing is computed.
    device: a name, an alias ("NVIDIA H100 80GB HBM3"), a product ("h100"), "local" (measured by
    collect() and train()), or a GPU of this machine (0, "cuda:0", a torch.device); of a list of
    them the answer is a list, Predictions, otherwise a Prediction.
    batch: where the model leaves it open; of a module: the first dimension of its tensors is
    made it.
    precision: cast to "fp64", "fp32", "fp16" or "bf16"; "amp-bf16", "amp-fp16": mixed precision,
    as torch.autocast; "tf32": all products by TF32; "fp8", "fp4": the weights of a language model
    alone. One of them. dtype, as the command has it, is the same.
    mode: "inference" or "training" (one step of forward, loss, backward, optimizer).
    optimizer: "sgd", "momentum", "adam", "adamw", "adamw8bit", "none", or a class or object of torch.optim.
    run_mode: "eager", "compiled", "graph", "compiled-graph", "cudagraphs"; None: that of
    torch.compile, where it made the module, else the device's.
    clock, memory_clock: MHz; power_cap: W; inputs: {"x": (1, 3, 224, 224)}; dims: {"seq": 128}. The
    others as of the command (docs/api.md).
    -> a Prediction, of a list of devices Predictions: time in s, energy in J, power in W, memory in
    B, each with its 90 % interval. With further options of the command (prompt=, generate=,
    concurrency=, ...) its answer, a Record, as of llm().
    Raises foretell.Error, whose status is "EINVAL", "ENOTFOUND", ... and whose hint a keyword."""
    what, run_mode = _uncompiled(what, run_mode)
    if "dtype" in options:  # the command's name of it
        if precision is not None:
            raise Error("EINVAL", "dtype and precision are the same: give one", "precision=")
        precision = options.pop("dtype")
    mine = {k: v for k, v in locals().items() if k not in ("what", "args", "kwargs", "options")}
    if options:
        from . import _command

        return _command.predict(what, args, kwargs, {**mine, **options})
    precision = _precision(precision)
    if hasattr(precision, "__iter__") and not isinstance(precision, str):
        raise _wrong("precision", 'one type, such as "fp16"', precision)
    if precision in _WEIGHT_BITS and _is_language_model(path := _hub.path_of(what)):
        dims, precision = {"weight_bits": _WEIGHT_BITS[precision], **(dims or {})}, None
    if batch is not None:
        mine["batch"] = batch = _whole("batch", batch)
    if isinstance(device, str) and "," in device:  # as the command has them
        device = [one.strip() for one in device.split(",")]
    several = hasattr(device, "__iter__") and not isinstance(device, str)
    names = [device_name(one) for one in (device if several else [device])]
    if not names:
        raise Error("EINVAL", "device names none: one, or a list of them", "device=")
    if precision == "tf32":
        precision, policy = None, policy or "tf32"
    fields = dict(
        dtype=precision,
        mode=mode,
        optimizer=_optimizer(optimizer),
        loss=loss,
        loss_on=loss_on,
        setting=_settings(setting, clock=clock, memory=memory_clock, power=power_cap),
        policy=policy,
        engine=engine,
        engine_version=engine_version,
        host=host,
        threads=threads,
        predictor=predictor,
        method=method,
        correct=correct,
        run_mode=run_mode,
        batch=batch,
        trips=trips,
    )
    data = _library.folders(data_dir)
    path = _hub.path_of(what)
    title: str | None = None if path is what else what
    what, specs = path, _specs(what)
    query = _Query(**fields)
    query.set_dims(dims)
    query.set_inputs(inputs)
    notes: list[str] = []
    assumed: list[str] = []
    again: Any = None
    if specs is not None or isinstance(what, (str, os.PathLike)):
        _without_arguments(args, kwargs)
    if specs is not None:
        query.set_list(specs)
    elif isinstance(what, (str, os.PathLike)):
        query.set("model", what)

        def again(p: Prediction) -> int:
            return call(lambda: query.ask(data, p.device, max_batch=1)).max_batch
    elif is_module(what):
        from . import _export, _loss

        def read(path: str) -> Any:
            query.set("model", path)
            return call(query.read)

        query.c.batch = 0
        # In mixed precision the backward pass is derived: types are chosen of a forward pass.
        recorded = mode == "training" and not str(precision).startswith("amp-")
        joint = _loss.Loss(loss, loss_on) if recorded else None
        with _export.folder() as folder:
            graph, notes, way = _export.export(
                what,
                args,
                kwargs,
                folder,
                read,
                mode=mode,
                batch=batch,
                bounded=_bounded,
                loss=joint,
            )
        query.c.graph = query.keep(graph)
        if way == _export.JOINT:
            query.c.loss = query.c.loss_on = ffi.NULL  # it is in the graph
            assumed = joint.said

        def again(p: Prediction) -> int:
            with _export.folder() as folder:
                try:
                    open_batch = _Query(**{**fields, "batch": None})
                    open_batch.c.loss, open_batch.c.loss_on = query.c.loss, query.c.loss_on
                    size = max(p.batch, 2)
                    how = dict(mode=mode, batch=size, loss=joint, way=way, open_batch=True)

                    def read_open(path: str) -> str:
                        open_batch.set("model", path)
                        return path

                    _export.export(what, args, kwargs, folder, read_open, **how)
                    same = call(lambda: open_batch.ask(data, p.device, batch=p.batch))
                    if math.isclose(same.memory.value, p.memory.value, rel_tol=1e-3):
                        return call(lambda: open_batch.ask(data, p.device, max_batch=1)).max_batch
                except Error:
                    pass  # it is exported for each batch

            def memory_at(size: int) -> float:
                return predict(
                    what, args, kwargs, **{**mine, "device": p.device, "batch": size}
                ).memory.value

            return _export.largest_batch(memory_at, p.memory.limit)

        title = _export.name_of(what)
    else:
        raise Error(
            "EINVAL",
            f"{what.__name__} is a class: make one, {what.__name__}(...)"
            if isinstance(what, type)
            else f"the model is a path, a list of specs or an nn.Module, not {type(what).__name__}",
            "",
        )

    def file() -> Any:
        return files([what], args, kwargs, {"mode": mode, "batch": batch})

    archive = text(query.c.model) if is_module(what) else ""
    answers = Predictions()
    quick = _is_quick(what, specs)
    for name in names:
        answer = query.ask(data, name) if quick else call(functools.partial(query.ask, data, name))
        made = Prediction(answer, query, list(notes), again, title, file, assumed)
        if archive:
            made.warnings = [_as_calls(one, archive) for one in made.warnings]
            made.verify_command = ""
        answers.append(made)
    if correct and not any(made._answer.n_known for made in answers):
        raise Error("ENOTFOUND", f"{correct} holds no measurements that correct this", "")
    return answers if several else answers[0]


def devices(data_dir: Any = None) -> list[str]:
    """Names of the devices that can be asked about, beside "local"."""
    names, n, err = ffi.new("char ***"), ffi.new("size_t *"), ffi.new("ft_error *")
    where = os.fsencode(data_dir or os.environ.get("FORETELL_DATA") or _library.DATA)
    check(lib.ft_device_names(names, n, where, err), err)
    try:
        return [text(names[0][i]) for i in range(n[0])]
    finally:
        lib.ft_device_names_free(names[0], n[0])
