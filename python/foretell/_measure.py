"""Measuring code that runs here: time, energy by sensor, peak memory."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import Any, NamedTuple

from ._answer import _table, with_unit
from ._library import Error, check, ffi, lib, text


class Energy(NamedTuple):
    """Of one domain of a sensor. joules, watts (mean), error (J, one standard deviation, without
    the sensor's calibration); NaN with a reason where unknown. part_of: the domain that contains
    it, "". readings: (s since the beginning, W, J of the counter), NaN where there is none."""

    joules: float
    watts: float
    error: float
    reason: str
    part_of: str
    readings: list[tuple[float, float, float]]


class Module(NamedTuple):
    """Calls of forward() of one module. seconds: inside it; own_s: outside modules that it calls;
    joules: by domain, NaN where the sensor is too slow for it."""

    calls: int
    seconds: float
    own_s: float
    joules: dict[str, float]


_LOOK_AGAIN_S = 10.0  # looking for sensors takes half a millisecond


class _Meter:
    """An ft_meter, opened once and used by one block after the other."""

    _idle: dict[str | None, list[_Meter]] = {}
    _missing: dict[str | None, tuple[float, str, str]] = {}  # when none was there; status, why
    _lock = threading.Lock()

    def __init__(self, sensors: str | None) -> None:
        options = ffi.new("ft_meter_options *")
        if sensors is not None:
            name = ffi.new("char[]", sensors.encode())
            options.sources = name
        out, err = ffi.new("ft_meter **"), ffi.new("ft_error *")
        check(lib.ft_meter_open(out, options, err), err)
        self.c, self._sensors = ffi.gc(out[0], lib.ft_meter_close), sensors

    @classmethod
    def take(cls, sensors: str | None) -> _Meter:
        with cls._lock:
            idle = cls._idle.get(sensors)
            if idle:
                return idle.pop()
            at, *missing = cls._missing.get(sensors, (0.0,))
        if missing and time.monotonic() - at < _LOOK_AGAIN_S:
            raise Error(*missing)
        try:
            return cls(sensors)
        except Error as error:
            with cls._lock:
                cls._missing[sensors] = time.monotonic(), error.status, error.sentence
            raise

    def put_back(self) -> None:
        with self._lock:
            self._idle.setdefault(self._sensors, []).append(self)


class _Watch:
    """A stretch that a meter watches in a thread of its own, begin to end()."""

    def __init__(self, meter: _Meter) -> None:
        self._begun, self._over = threading.Event(), threading.Event()
        self._error: Error | None = None
        self.trace = ffi.gc(ffi.new("ft_trace *"), lib.ft_trace_free)
        self._thread = threading.Thread(target=self._run, args=(meter,), daemon=True)
        self._thread.start()
        self._begun.wait()

    def _run(self, meter: _Meter) -> None:
        @ffi.callback("void(void *)")
        def stretch(_: Any) -> None:
            self._begun.set()
            self._over.wait()

        err, at = ffi.new("ft_error *"), ffi.new("double[2]")
        try:
            done = lib.ft_meter_watch(meter.c, stretch, ffi.NULL, self.trace, at, at + 1, err)
            check(done, err)
            meter.put_back()
        except Error as error:
            self._error = error
        finally:
            self._begun.set()

    def end(self) -> None:
        self._over.set()

    def joined(self) -> Any:
        """The ft_trace; the sensors' last values are waited for here, not in the block."""
        self._thread.join()
        if self._error:
            raise self._error
        return self.trace


def _process_peak() -> int:
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def _gpus() -> Any:
    """torch.cuda where it is in use; otherwise None."""
    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_initialized() else None


class Measurement:
    """A block that ran. seconds; energy: Energy by domain; memory: peak bytes, "process" and, where
    PyTorch uses GPUs, "cuda:0" ...; modules: Module by path; why: why no energy was read."""

    def __init__(self, sensors: str | None = None, module: Any = None) -> None:
        self._sensors, self._module = sensors, module
        self._watch: _Watch | None = None
        self._handles: list[Any] = []
        self._calls: list[tuple[str, float, float]] = []  # path, begin, end
        self._energy: dict[str, Energy] | None = None
        self.seconds = float("nan")
        self.memory: dict[str, int] = {}
        self.why = ""

    def __enter__(self) -> Measurement:
        try:
            self._watch = _Watch(_Meter.take(self._sensors))
        except Error as error:
            if error.status != "EUNSUPPORTED":
                raise
            self.why = error.sentence
        if self._module is not None:
            self._hook()
        with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the peak begins anew
        cuda = _gpus()
        for i in range(cuda.device_count() if cuda else 0):
            cuda.synchronize(i)
            cuda.reset_peak_memory_stats(i)
        self._begin = time.monotonic()
        return self

    def __exit__(self, *_: Any) -> None:
        cuda = _gpus()
        for i in range(cuda.device_count() if cuda else 0):
            cuda.synchronize(i)
        self._end = time.monotonic()
        if self._watch:
            self._watch.end()
        self.seconds = self._end - self._begin
        self.memory = {"process": _process_peak()}
        for i in range(cuda.device_count() if cuda else 0):
            self.memory[f"cuda:{i}"] = cuda.max_memory_allocated(i)
        for handle in self._handles:
            handle.remove()

    # ---- energy ----
    @property
    def energy(self) -> dict[str, Energy]:
        """By domain; {} where no sensor works (`why`). The first look waits for the sensors' last
        values, half a second at most."""
        if self._energy is None:
            self._energy = {}
            trace = self._watch.joined() if self._watch else None
            for i in range(trace.n_domains if trace else 0):
                one = self._between(trace, i, self._begin, self._end)
                readings = [trace.reading[i][k] for k in range(trace.n[i])]
                self._energy[text(trace.domain[i].name)] = Energy(
                    one.joules,
                    one.watts,
                    one.joules_error,
                    text(one.reason),
                    text(trace.domain[i].part_of),
                    [(r.at_s - self._begin, r.watts, r.joules) for r in readings],
                )
        return self._energy

    @property
    def joules(self) -> float:
        """Of all domains that are no part of another; NaN where one is unknown or none is there."""
        whole = [e.joules for e in self.energy.values() if not e.part_of]
        return sum(whole) if whole else float("nan")

    @staticmethod
    def _between(trace: Any, domain: int, begin: float, end: float) -> Any:
        out = ffi.new("ft_power *")
        lib.ft_power_of(out, trace, domain, begin, end)
        return out

    # ---- modules ----
    def _hook(self) -> None:
        begun: list[float] = []

        def now() -> float:
            cuda = _gpus()
            if cuda:
                cuda.synchronize()
            return time.monotonic()

        for path, module in self._module.named_modules():

            def enter(*_: Any) -> None:
                begun.append(now())

            def leave(*_: Any, path: str = path) -> None:
                self._calls.append((path, begun.pop(), now()))

            self._handles.append(module.register_forward_pre_hook(enter))
            self._handles.append(module.register_forward_hook(leave, always_call=True))

    @property
    def modules(self) -> dict[str, Module]:
        """By path, "" is the module itself, in the order in which they first ended. With CUDA, the
        device is waited for at both ends of each module."""
        inside = [0.0] * len(self._calls)  # a module ends behind those that it called
        open_calls: list[int] = []
        for i, (_, begin, _end) in enumerate(self._calls):
            while open_calls and self._calls[open_calls[-1]][1] >= begin:
                child = open_calls.pop()
                inside[i] += self._calls[child][2] - self._calls[child][1]
            open_calls.append(i)
        trace = self._watch.joined() if self._watch else None
        table: dict[str, Module] = {}
        for (path, begin, end), called in zip(self._calls, inside):
            was = table.get(path, Module(0, 0.0, 0.0, {}))
            joules = {
                (name := text(trace.domain[k].name)): was.joules.get(name, 0.0)
                + self._between(trace, k, begin, end).joules
                for k in range(trace.n_domains if trace else 0)
            }
            table[path] = Module(
                was.calls + 1,
                was.seconds + end - begin,
                was.own_s + end - begin - called,
                joules,
            )
        return table

    def __repr__(self) -> str:
        return f"<foretell.Measurement {with_unit(self.seconds, 's')}>"

    def __str__(self) -> str:
        rows = [("time", with_unit(self.seconds, "s"))]
        rows += [(f"memory, {name}", with_unit(b, "B")) for name, b in self.memory.items()]
        rows += [
            (f"energy, {name}", with_unit(e.joules, "J") + (f": {e.reason}" if e.reason else ""))
            for name, e in self.energy.items()
        ]
        return _table(rows) + (f"\nno energy: {self.why}" if self.why else "")


def measure(*, sensors: str | None = None, module: Any = None) -> Measurement:
    """with measure() as m: the block's time (s), energy by domain (J), and peak memory (B).

    sensors: as --power of the command has them ("nvml", "rapl", "replay:FILE"); None: every one
    that works. module: an nn.Module whose submodules are timed (m.modules). A sensor's first value
    is waited for before the block begins. Raises foretell.Error where a named sensor is missing.
    """
    return Measurement(sensors, module)
