"""Answers: estimates with intervals, operations with module paths, and what is made of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ._library import Error, check, ffi, lib, text

_PREFIXES = {"B": [(1024.0**i, p) for i, p in enumerate(["", "Ki", "Mi", "Gi", "Ti"])]}
_SI = [
    (1e-9, "n"),
    (1e-6, "u"),
    (1e-3, "m"),
    (1.0, ""),
    (1e3, "k"),
    (1e6, "M"),
    (1e9, "G"),
    (1e12, "T"),
    (1e15, "P"),
]


def with_unit(value: float, unit: str) -> str:
    """3.14 ms, 107 MiB; "unknown" for NaN."""
    if value is None or math.isnan(value):
        return "unknown"
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {unit}"
    scale, prefix = (_PREFIXES.get(unit) or _SI)[0]
    for factor, name in _PREFIXES.get(unit) or _SI:
        if abs(value) >= factor * 0.9995:
            scale, prefix = factor, name
    number = value / scale
    return f"{number:.{max(0, 2 - int(math.log10(max(abs(number), 1))))}f} {prefix}{unit}"


class Estimate(NamedTuple):
    """A value with its 90 % interval [low, high], NaN where unknown. unit: "s", "J", "W", "B".
    basis: "measured", "learned", "scaled", "roofline", "analytic", "unavailable", "none"
    (it takes no time); why: the reason where it is unavailable."""

    value: float
    low: float
    high: float
    unit: str
    basis: str
    why: str = ""

    def __float__(self) -> float:
        return self.value

    def __bool__(self) -> bool:
        return not math.isnan(self.value)

    def __str__(self) -> str:
        if not self:
            return f"unavailable: {self.why}"
        ends = ""
        if not math.isnan(self.low):
            ends = f"{with_unit(self.low, self.unit)} .. {with_unit(self.high, self.unit)}, "
        return f"{with_unit(self.value, self.unit)} ({ends}{self.basis})"


class Memory(Estimate):
    """Peak memory, bytes. parts: bytes by part at the peak ("weights", "inputs", "gradients",
    "state", "saved", "activations", "workspace", "context"), NaN where unknown; limit: of the
    device."""

    parts: dict[str, float]
    limit: float


class Verified(NamedTuple):
    """Predicted and measured time (s) and memory (B), and the record of `foretell measure`."""

    time: Estimate
    measured_s: float
    memory: Estimate
    measured_b: float
    record: dict

    def __str__(self) -> str:
        rows = [("", "predicted", "measured", "ratio")]
        for name, guess, value in (
            ("time", self.time, self.measured_s),
            ("memory", self.memory, self.measured_b),
        ):
            ratio = f"{guess.value / value:.3f}" if guess and value else ""
            rows.append((name, str(guess), with_unit(value, guess.unit), ratio))
        return _table(rows)


class Op(NamedTuple):
    """One operation of the network, in the order in which they run.

    module: path ("layer3.0.conv2"), "" at the top or where the model does not say. count: runs
    in a pass. total_s: device time of all of them; share: of the network's time. time: s, of one
    alone in this run mode; device_time: s, without the launch; power: W; energy: J. flops,
    bytes: of all `count`; product_flops: of convolutions and matrix products alone."""

    module: str
    name: str
    kind: str
    spec: str
    phase: str
    count: int  # type: ignore[assignment]  # a field, not tuple's method
    total_s: float
    share: float
    time: Estimate
    device_time: Estimate
    power: Estimate
    energy: Estimate
    flops: float
    product_flops: float
    bytes: float
    parameters: float


def _estimate(e: Any, unit: str, of: type = Estimate) -> Any:
    return of(
        e.value, e.low, e.high, unit, text(lib.ft_name(lib.FT_NAMES_BASIS, e.basis)), text(e.why)
    )


class Prediction:
    """What a network takes on one device. time: s per pass or training step, energy: J, power:
    W,
    memory: B, peak; each an Estimate. batch; flops; assumptions, warnings: sentences;
    unmodelled: operations without a rule (lower bounds); notes: how a module was exported, and
    what fell back."""

    def __init__(
        self,
        answer: Any,
        keep: Any,
        notes: list[str],
        again: Callable[..., Any] | None = None,
        title: str | None = None,
        file: Callable[[], Any] | None = None,
        assumed: Sequence[str] = (),
    ) -> None:
        self._answer, self._keep, self._again, self._file = answer, keep, again, file
        self._ops: list[Op] | None = None
        self._timeline: Any = None
        a = answer
        self.model, self.device, self.title = title or text(a.model), text(a.device), text(a.title)
        self.mode, self.step, self.dtype = text(a.mode), text(a.step), text(a.dtype)
        self.batch: int = a.batch
        self.setting, self.engine = text(a.setting), text(a.engine)
        self.run_mode, self.host, self.method = text(a.run_mode), text(a.host), text(a.method)
        self.predictor = text(a.predictor)
        self.time: Estimate = _estimate(a.time, "s")
        self.energy: Estimate = _estimate(a.energy, "J")
        self.power: Estimate = _estimate(a.power, "W")
        self.memory: Memory = _estimate(a.memory, "B", Memory)
        self.memory.limit = a.limit_bytes
        self.memory.parts = {
            text(lib.ft_name(lib.FT_NAMES_PART, i)): a.part_bytes[i]
            for i in range(lib.FT_PART_COUNT)
        }
        self.memory.parts["context"] = a.context_bytes
        self.flops: float = a.flops
        self.lower_bound = bool(a.lower_bound)
        self.assumptions = [*assumed] + [text(a.assumption[i].text) for i in range(a.n_assumptions)]
        self.warnings = [text(a.warning[i].text) for i in range(a.n_warnings)]
        self.unmodelled = [text(a.unmodelled[i]) for i in range(a.n_unmodelled)]
        self._verify = self.verify_command = text(a.verify)
        self.notes = notes

    def fits(self) -> bool | None:
        """Whether its memory is at most the device's; None where either is unknown."""
        if math.isnan(self.memory.value) or math.isnan(self.memory.limit):
            return None
        return self.memory.value <= self.memory.limit

    def max_batch(self) -> int:
        """The largest batch that fits the device's memory, 0: not even 1. The model is read at
        several batches; a module is exported once, where its batch can be left open. Raises Error
        where a file's batch is fixed."""
        if self._again is None:
            raise Error("EINVAL", "a list of operations has no batch", "")
        return self._again(self)

    def verify(self, **options: Any) -> Verified:
        """Run it on this machine (`foretell measure`, options as there: time="2s") and put both
        side by side. Raises Error where no engine runs it here: an answer for device="local"
        says which does, others need their device."""
        from . import _command

        _, engine, rest = self._verify.partition(" --engine ")
        if not engine or self._file is None:
            raise Error("ENOTFOUND", f"no engine runs it on {self.device} from here", "")
        with self._file() as paths:
            try:
                record = _command.measure(paths[0], ["--engine", *rest.split()], options)
            except Error as error:
                if error.status != "ENOTFOUND" or self.device == "local":
                    raise
                where = f"{self.device} cannot be measured on this machine"
                raise Error(error.status, f"{where}: {error.sentence}", error.hint) from None
        peak = "total" if "device=cuda" in rest else "process_peak"  # of a GPU's, or of the host's
        measured_b = record["memory"][peak]
        return Verified(self.time, record["time"]["value"], self.memory, measured_b, record)

    @property
    def ops(self) -> list[Op]:
        """Every operation, in the order in which they run."""
        if self._ops is None:
            self._ops = list(self._each_op())
        return self._ops

    def _each_op(self) -> Iterator[Op]:
        a, graph = self._answer, self._answer.graph
        cost, products = ffi.new("ft_cost *"), ffi.new("ft_product[]", lib.FT_MAX_PRODUCTS)
        unique = []
        for i in range(graph.n_ops if a.op != ffi.NULL else 0):
            o = a.op[i]
            lib.ft_op_cost(o.op, cost)
            n = lib.ft_op_products(o.op, products)
            unique.append(
                (
                    text(lib.ft_kind_name(o.op.kind)),
                    text(o.spec),
                    o.total_s,
                    o.share,
                    o.count,
                    _estimate(o.time, "s"),
                    _estimate(o.device_time, "s"),
                    _estimate(o.power, "W"),
                    _estimate(o.energy, "J"),
                    cost.flops,
                    sum(lib.ft_product_flops(products + k) * products[k].count for k in range(n)),
                    cost.bytes_read + cost.bytes_written,
                    cost.weight_elements,
                )
            )
        timeline = self._modules() if unique else None
        for i in range(graph.n_nodes if unique else 0):
            node = graph.node[i]
            kind, spec, total, share, count, time, device, power, energy, *costs = unique[node.op]
            part, name = node.repeat / count if count else 0.0, text(node.name)
            yield Op(
                text(timeline.module[timeline.run[i].module].path),
                name,
                kind,
                spec,
                text(lib.ft_name(lib.FT_NAMES_PHASE, node.phase)),
                node.repeat,
                total * part,
                share * part,
                time,
                device,
                power,
                energy,
                costs[0] * node.repeat,
                costs[1] * node.repeat,
                costs[2] * node.repeat,
                costs[3],
            )

    def _modules(self) -> Any:
        """The library's ft_timeline of the answer."""
        if self._timeline is None:
            out, err = ffi.new("ft_timeline **"), ffi.new("ft_error *")
            check(lib.ft_timeline_make(out, self._answer.graph, self._answer, err), err)
            self._timeline = ffi.gc(out[0], lib.ft_timeline_free)
        return self._timeline

    def to_pandas(self) -> Any:
        """A row an operation: module, name, kind, spec, phase, count, total_s, share, time_s with
        low and high, power_w, energy_j, flops, bytes, parameters, basis. Needs pandas."""
        rows = [
            {
                "module": o.module,
                "name": o.name,
                "kind": o.kind,
                "spec": o.spec,
                "phase": o.phase,
                "count": o.count,
                "total_s": o.total_s,
                "share": o.share,
                "time_s": o.time.value,
                "time_low_s": o.time.low,
                "time_high_s": o.time.high,
                "power_w": o.power.value,
                "energy_j": o.energy.value,
                "flops": o.flops,
                "product_flops": o.product_flops,
                "bytes": o.bytes,
                "parameters": o.parameters,
                "basis": o.time.basis,
            }
            for o in self.ops
        ]
        return _pandas().DataFrame(rows)

    def modules(self) -> dict[str, dict[str, float]]:
        """Sums by module path, what lies inside included, modules before what is in them; "" is the
        network: ops, total_s, share, flops, product_flops, parameters (a module that is called
        twice counts them twice), memory (most alive while it runs)."""
        timeline = self._modules() if self._answer.op != ffi.NULL else None
        return {
            text(m.path): {
                "ops": m.n_ops,
                "total_s": m.time.value,
                "share": m.time.value / self.time.value,
                "flops": m.flops,
                "product_flops": m.product_flops,
                "parameters": m.parameters,
                "memory": m.peak_bytes,
            }
            for m in (timeline.module[i] for i in range(timeline.n_modules if timeline else 0))
        }

    def tree(self, depth: int | None = None) -> str:
        """A text table of modules and their sums, to `depth` levels."""
        rows = [("module", "time", "share", "FLOPs", "parameters")]
        for path, row in self.modules().items():
            level = path.count(".") + 1 if path else 0
            if depth is not None and level > depth:
                continue
            name = "  " * level + (path.rsplit(".", 1)[-1] or self.model or "network")
            rows.append(
                (
                    name,
                    with_unit(row["total_s"], "s"),
                    f"{100 * row['share']:.1f} %",
                    with_unit(row["flops"], ""),
                    with_unit(row["parameters"], ""),
                )
            )
        return _table(rows)

    def compare(self, other: Prediction) -> str:
        """A text table of both, with the ratio of their values (theirs over ours)."""
        if not isinstance(other, Prediction):
            raise Error("EINVAL", f"compare() takes a Prediction, not {type(other).__name__}", "")
        names = [self._label(), other._label()]
        if names[0] == names[1]:
            ways = [
                (f"{p.step}, {p.dtype} {p.setting}".strip(), p.run_mode, p.method, p.engine)
                for p in (self, other)
            ]
            names = next(([a or "-", b or "-"] for a, b in zip(*ways) if a != b), names)
        rows = [("", *names, "ratio")]
        for name in ("time", "energy", "power", "memory"):
            ours, theirs = getattr(self, name), getattr(other, name)
            ratio = theirs.value / ours.value if ours and theirs and ours.value else math.nan
            cells = (str(e) if e else "unavailable" for e in (ours, theirs))
            rows.append((name, *cells, "" if math.isnan(ratio) else f"{ratio:.3f}"))
        return _table(rows)

    def trace(self, path: str | os.PathLike) -> None:
        """Write the operations in time as Chrome trace events (Perfetto shows them): tracks of host,
        device and modules, counters of memory by part and power, as `foretell predict --trace`."""
        err = ffi.new("ft_error *")
        check(lib.ft_answer_trace(self._answer, os.fsencode(path), err), err)

    def html(self, path: str | os.PathLike | None = None) -> str:
        """A page without scripts: values with intervals drawn, memory by part, modules. Also
        written to `path`."""
        from . import _page

        return _page.written(_page.page(self), path)

    def _repr_html_(self) -> str:
        from . import _page

        return _page.fragment([self])

    def _label(self) -> str:
        return f"{self.model} on {self.device}" + (f", batch {self.batch}" if self.batch else "")

    def __repr__(self) -> str:
        return f"<foretell.Prediction {self._label()}: {self.time}>"

    def __str__(self) -> str:
        fits = {True: ", fits", False: ", does not fit", None: ""}[self.fits()]
        lines = [
            f"{self._label()}, {self.dtype}, {self.step}",
            f"  time    {self.time}",
            f"  energy  {self.energy}",
            f"  power   {self.power}",
            f"  memory  {self.memory}{fits}",
        ]
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  assumed: {a}" for a in self.assumptions]
        lines += [f"  warning: {w}" for w in self.warnings]
        return "\n".join(lines)


class Predictions(list):
    """Predictions of several devices, a list in the order asked."""

    def to_pandas(self) -> Any:
        """A row a device: model, device, batch, time_s, energy_j, power_w, memory_b, each with
        low and high, basis, fits. Needs pandas."""
        rows = []
        for p in self:
            row = {"model": p.model, "device": p.device, "batch": p.batch}
            for name in ("time", "energy", "power", "memory"):
                e = getattr(p, name)
                unit = e.unit.lower()
                row |= {
                    f"{name}_{unit}": e.value,
                    f"{name}_low_{unit}": e.low,
                    f"{name}_high_{unit}": e.high,
                }
            rows.append(row | {"basis": p.time.basis, "fits": p.fits()})
        return _pandas().DataFrame(rows)

    def html(self, path: str | os.PathLike | None = None) -> str:
        """A page without scripts: values of all with intervals drawn, then what was assumed of
        each and its warnings. Also written to `path`."""
        from . import _page

        return _page.written(_page.page_of_all(self), path)

    def _repr_html_(self) -> str:
        from . import _page

        return _page.fragment(self)

    def __str__(self) -> str:
        rows = [("device", "time", "energy", "power", "memory", "fits")]
        rows += [
            (
                p.device,
                str(p.time),
                *(with_unit(float(e), e.unit) for e in (p.energy, p.power, p.memory)),
                {True: "yes", False: "no", None: ""}[p.fits()],
            )
            for p in self
        ]
        return _table(rows)


def _table(rows: list[tuple]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    )


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise Error("ENOTFOUND", "tables need pandas: pip install pandas", "") from None
    return pandas
