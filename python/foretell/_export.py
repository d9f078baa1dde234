"""PyTorch modules -> files that the library reads; nothing is computed and no weight is written.

In this order, the next where one fails: of a training step forward and backward recorded;
torch.export, non-strict; the ATen operations recorded as they are dispatched, on fake tensors;
torch.export, strict; operations recorded on the tensors given."""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.export._trace
from torch.utils import _pytree

from . import _assume, _record
from ._library import Error

_lock = threading.RLock()  # flags of modules are changed and put back


JOINT = "recording forward and backward"
FAKE, RUN, STRICT = "recording on fake tensors", "recording while running", "torch.export, strict"
WITH_GRADIENTS = " with gradients"
ASSUMED = FAKE + ", where what values decide is assumed: sizes the largest, numbers 1"
# Where values decide what runs: ways that have none, of any tensors and on the meta device alone.
VALUELESS = {STRICT, FAKE + WITH_GRADIENTS}
RUNNING = {RUN, RUN + WITH_GRADIENTS}


class _Function(torch.nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def name_of(what: Any) -> str:
    """What the answer calls it."""
    if isinstance(what, torch.export.ExportedProgram):
        return "exported program"
    return (
        type(what).__name__
        if isinstance(what, torch.nn.Module)
        else getattr(what, "__name__", "function")
    )


@contextlib.contextmanager
def _flags(module: torch.nn.Module, mode: str | None) -> Iterator[None]:
    """In the mode that is asked about (None: inference), put back afterwards."""
    before = {m: m.training for m in module.modules()}
    module.train(mode == "training")
    try:
        yield
    finally:
        for m, training in before.items():
            m.training = training


def _tensors_in(result: Any, seen: set[int]) -> Iterator[torch.Tensor]:
    """Of a result, those in objects too that PyTorch does not look into (caches of keys and
    values)."""
    for leaf in _pytree.tree_leaves(result):
        if isinstance(leaf, torch.Tensor):
            yield leaf
        elif hasattr(leaf, "__dict__") and not isinstance(leaf, (type, torch.nn.Module)):
            if id(leaf) not in seen:
                seen.add(id(leaf))
                yield from _tensors_in(vars(leaf), seen)


@contextlib.contextmanager
def _results_as_tensors(module: torch.nn.Module) -> Iterator[None]:
    """What an exporter does not know among its results becomes a list of tensors."""

    def known(x: Any) -> bool:
        return x is None or isinstance(x, (torch.Tensor, bool, int, float, str))

    def flat(_: Any, __: Any, result: Any) -> Any:
        same = all(known(leaf) for leaf in _pytree.tree_leaves(result))
        return None if same else list(_tensors_in(result, set()))

    handle = module.register_forward_hook(flat)
    try:
        yield
    finally:
        handle.remove()


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """PyTorch's exporter warns, logs and prints of what fails, which stands in the notes."""
    names = ("export", "_dynamo", "_subclasses", "fx.experimental.symbolic_shapes")
    logs = [logging.getLogger(f"torch.{name}") for name in names]
    torch.export._trace.print = lambda *_, **__: None  # its own name, in front of the built-in one
    logs = [log for log in logs if log.level == logging.NOTSET]  # nobody wants to hear them
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        del torch.export._trace.print
        for log in logs:
            log.setLevel(logging.NOTSET)


@contextlib.contextmanager
def _no_stack_traces() -> Iterator[None]:
    """Of each operation, which nobody reads here: a fifth of the time of exporting."""
    config = torch.fx.config
    before = getattr(config, "do_not_emit_stack_traces", None)
    if before is None:  # this PyTorch cannot leave them out
        yield
        return
    try:
        config.do_not_emit_stack_traces = True
        yield
    finally:
        config.do_not_emit_stack_traces = before


def _without_values(tensor: Any) -> Any:
    if not isinstance(tensor, torch.Tensor):
        return tensor
    empty = torch.empty_like(tensor, device="meta")
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(empty, requires_grad=tensor.requires_grad)
    return empty


def save(program: Any, path: str) -> None:
    """torch.export.save() without weights; the program stays as it is."""
    kept = program._state_dict, program._constants, program._example_inputs
    try:
        program._state_dict = {k: _without_values(v) for k, v in kept[0].items()}
        program._constants = {k: _without_values(v) for k, v in kept[1].items()}
        program._example_inputs = None
        torch.export.save(program, path)
    finally:
        program._state_dict, program._constants, program._example_inputs = kept


def _arguments(args: Any, kwargs: dict | None, batch: int | None) -> tuple[tuple, dict]:
    """As they are called; with a batch, the first dimension of the tensors that share it is it."""
    if isinstance(args, torch.Tensor):
        args = (args,)
    if isinstance(args, dict):
        raise Error("EINVAL", "args are those without names; the others are kwargs", "kwargs=")
    args, kwargs = tuple(args), dict(kwargs or {})
    tensors = [
        t for t in _pytree.tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor) and t.dim()
    ]
    if batch is None or not tensors:
        return args, kwargs
    old = tensors[0].shape[0]

    def resized(t: Any) -> Any:
        if not isinstance(t, torch.Tensor) or not t.dim() or t.shape[0] != old:
            return t
        make = torch.empty if t.is_floating_point() else torch.zeros
        return make((batch, *t.shape[1:]), dtype=t.dtype, device=t.device)

    return _pytree.tree_map(resized, (args, kwargs))


def _check_call(function: Any, name: str, args: tuple, kwargs: dict) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # of what is no function of Python
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        said = f"{name} is not called so: {error}; args is what it takes, such as (x,)"
        raise Error("EINVAL", said, "args=") from None


def _batch_of(args: tuple, kwargs: dict) -> int:
    """The first dimension of the first tensor."""
    for t in _pytree.tree_leaves((args, kwargs)):
        if isinstance(t, torch.Tensor) and t.dim():
            return t.shape[0]
    raise Error("EINVAL", "without tensors there is no batch")


def _open_shapes(module: torch.nn.Module, args: tuple, kwargs: dict, batch: int) -> Any:
    """For torch.export: the first dimension of the tensors that share the batch is open."""
    shapes, dim = torch.export.ShapesCollection(), torch.export.Dim("batch", min=1)
    for t in _pytree.tree_leaves((args, kwargs)):
        if isinstance(t, torch.Tensor) and t.shape[:1] == (batch,):
            shapes[t] = {0: dim}
    return shapes.dynamic_shapes(module, args, kwargs)


def export(
    what: Any,
    args: Any,
    kwargs: dict | None,
    folder: str,
    read: Callable[[str], Any],
    *,
    mode: str | None = None,
    batch: int | None = None,
    bounded: Callable[[Any], int] = lambda result: 0,
    loss: Callable[[Any], tuple] | None = None,
    way: str | None = None,
    open_batch: bool = False,
) -> tuple[Any, list[str], str]:
    """What `read` makes of the file of a module, an exported program or a function, by the first
    way that works; a sentence about each that did not; and the way. bounded: how many operations of
    what was read have no rule. loss: of a training step, which is recorded with its backward pass
    where that works (_record.record()); way: this one alone; open_batch: the file has no batch.
    Raises Error."""
    path = os.path.join(folder, name_of(what) + ".pt2")
    if isinstance(what, torch.export.ExportedProgram):
        if batch is not None:
            raise Error(
                "EINVAL", "an exported program has its batch: export it with another", "batch="
            )
        save(what, path)
        return read(path), [], "as it was exported"
    module = what if isinstance(what, torch.nn.Module) else _Function(what)
    args, kwargs = _arguments(args, kwargs, batch)
    _check_call(module.forward if module is what else what, name_of(what), args, kwargs)
    size = _batch_of(args, kwargs) if open_batch else None

    def by_export(strict: bool) -> None:
        shapes = _open_shapes(module, args, kwargs, size) if size else None
        with _no_stack_traces():
            program = torch.export.export(
                module, args, kwargs, dynamic_shapes=shapes, strict=strict
            )
        save(program, path)

    def by_recording(
        fake: bool, grad: bool = mode == "training", loss: Any = None, assumes: bool = False
    ) -> None:
        if size and not fake:
            raise ValueError("what runs has a batch")
        how = dict(fake=fake, batch=size, loss=loss, assumes=assumes)
        with torch.set_grad_enabled(grad):
            _record.record(module, args, kwargs, path, **how)

    ways: list[tuple[str, Callable[[], None]]] = [
        (JOINT, lambda: by_recording(True, True, loss)),
        ("torch.export", lambda: by_export(False)),
        (FAKE, lambda: by_recording(True)),
        (STRICT, lambda: by_export(True)),
        (RUN, lambda: by_recording(False)),
    ]
    if mode != "training":  # modules that take gradients as they run
        ways += [
            (FAKE + WITH_GRADIENTS, lambda: by_recording(True, True)),
            (RUN + WITH_GRADIENTS, lambda: by_recording(False, True)),
        ]
    ways.append((ASSUMED, lambda: by_recording(True, assumes=True)))
    ways = [one for one in ways if (one[0] == way if way else loss or one[0] != JOINT)]
    notes: list[str] = []
    hopeless: set[str] = set()
    on_meta = _record.is_on_meta(module, (args, kwargs))
    grad = contextlib.nullcontext() if mode == "training" else torch.no_grad()
    # The loss of a training step is of its results as they are.
    whole = contextlib.nullcontext() if mode == "training" else _results_as_tensors(module)
    with _lock, _flags(module, mode), _silence(), whole:
        for title, write in ways:
            if title in hopeless:
                continue
            try:
                with grad, torch.device("meta") if on_meta else contextlib.nullcontext():
                    write()
                result = read(path)
            except Error as error:
                if error.status not in ("EFORMAT", "EUNSUPPORTED"):
                    raise  # what was asked, not how it was read
                notes.append(f"{title} failed: {error.sentence[:200]}")
                continue
            except _assume.VALUES_DECIDE as error:
                notes.append(f"{title} failed: values decide what {error} gives")
                hopeless = VALUELESS | RUNNING if on_meta else VALUELESS
                continue
            except Exception as error:  # whatever a module or an exporter raises: the next way
                line = (str(error).strip().splitlines() or [type(error).__name__])[0]
                notes.append(f"{title} failed: {line[:200]}")
                continue
            if bounded(result) and title == JOINT and not way:
                notes.append(f"{title} gave operations without a rule")
                continue
            if bounded(result) and title.startswith("torch.export"):
                finer = _finer(lambda: by_recording(True), path, read, bounded, result)
                if finer is not None:
                    notes.append(f"{title} gave operations without a rule")
                    result, title = finer, FAKE
            if notes:
                derives = mode == "training" and title != JOINT
                derived = ", the backward pass is derived" if derives else ""
                notes.append(f"operations are from {title}{derived}")
            return result, notes, title
    each = {note.partition(" failed: ")[2]: note for note in reversed(notes)}  # a reason once
    said = "; ".join(reversed(each.values()))
    raise Error("EUNSUPPORTED", f"{name_of(what)} cannot be read: {said}", "")


def largest_batch(memory_at: Callable[[int], float], limit: float) -> int:
    """The largest batch whose memory is at most the limit: a straight line through what is known,
    then bisection."""
    known: dict[int, bool] = {}

    def fits(batch: int) -> bool:
        if batch not in known:
            known[batch] = memory_at(batch) <= limit
        return known[batch]

    first, second = memory_at(2), memory_at(4)
    if second > first:
        guess = int(min(max(2 + (limit - first) * 2 / (second - first), 1), 1 << 24))
        for batch in (guess, guess + 1):
            fits(batch)
    if not known and not fits(1):
        return 0
    low = max((b for b, good in known.items() if good), default=0)
    high = min((b for b, good in known.items() if not good), default=0)
    while not high and low < 1 << 24:
        if fits(2 * low):
            low = 2 * low
        else:
            high = 2 * low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _finer(
    write: Callable[[], None],
    path: str,
    read: Callable[[str], Any],
    bounded: Callable[[Any], int],
    than: Any,
) -> Any:
    """What is recorded, where it has fewer operations without a rule: composite ones are taken
    apart there. None: it has not, or cannot be recorded."""
    try:
        write()
        result = read(path)
    except Exception:  # as in export()
        return None
    return result if bounded(result) < bounded(than) else None


@contextlib.contextmanager
def folder() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="foretell-") as path:
        yield path
