"""Code that is repeated: the statistics of its times are the library's."""

from __future__ import annotations

import functools
import itertools
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ._answer import Estimate, with_unit
from ._library import Error, check, ffi, lib
from ._measure import Measurement, _gpus, measure

_ROUNDS, _BATCHES = 5, 5  # as `foretell measure` has them
_Z90 = 1.645


class Reading(NamedTuple):
    """One batch: seconds of all its iterations; outlier: far from the others of its round."""

    seconds: float
    iterations: int
    round: int
    outlier: bool


class Timing:
    """Times of one run. value: s, the median of the rounds' medians, without what other processes
    disturbed; low, high: 90 % of values measured again lie there; error: its standard error; mad
    (scaled to a standard deviation), mean, std: s, of all batches; readings; outliers: those that
    are doubtful; joules: J of a run, NaN where no sensor says (`measurement` has the reason)."""

    def __init__(
        self, readings: Sequence[tuple[float, int, int]], measurement: Measurement | None = None
    ) -> None:
        if any(len(one) != 3 for one in readings):
            raise Error("EINVAL", "a reading is (seconds, iterations, round)", "")
        array = ffi.new("ft_reading[]", len(readings))
        for one, (seconds, iterations, turn) in zip(array, readings):
            one.value, one.iterations, one.round = seconds, iterations, turn
            one.start_s = math.nan
        m, err = ffi.new("ft_measurement *"), ffi.new("ft_error *")
        check(lib.ft_measurement_of_times(m, array, len(readings), err), err)
        self.value, self.error, self.mad = m.value, m.error, m.mad
        self.mean, self.std, self.iterations = m.mean, m.std, m.iterations
        self.low, self.high = self.value - _Z90 * self.error, self.value + _Z90 * self.error
        self.readings = [
            Reading(r.value, r.iterations, r.round, bool(r.marks & lib.FT_READING_OUTLIER))
            for r in array
        ]
        self.measurement = measurement

    @property
    def time(self) -> Estimate:
        """With its 90 % interval."""
        return Estimate(self.value, self.low, self.high, "s", "measured")

    @property
    def outliers(self) -> list[Reading]:
        return [one for one in self.readings if one.outlier]

    @property
    def joules(self) -> float:
        return self.measurement.joules / self.iterations if self.measurement else math.nan

    def __repr__(self) -> str:
        return f"<foretell.Timing {self}>"

    def __str__(self) -> str:
        doubtful = f", {len(self.outliers)} of them doubtful" if self.outliers else ""
        said = f"{self.time}, {len(self.readings)} readings of {self.iterations} runs{doubtful}"
        joules = self.joules
        return said if math.isnan(joules) else f"{said}, {with_unit(joules, 'J')}"


def _wait() -> None:
    cuda = _gpus()
    if cuda:
        cuda.synchronize()


class Timer:
    """Times function(): five rounds of at least five batches, each of as many runs as it takes.

    sensors: as of measure(). The name of blocked_autorange() is that of torch.utils.benchmark."""

    def __init__(self, function: Callable[[], Any], *, sensors: str | None = None) -> None:
        self._function, self._sensors = function, sensors

    def _batch(self, iterations: int) -> float:
        function, runs = self._function, itertools.repeat(None, iterations)
        _wait()
        begin = time.perf_counter()
        for _ in runs:
            function()
        _wait()
        return time.perf_counter() - begin

    def blocked_autorange(self, min_run_time: float = 0.2) -> Timing:
        """min_run_time: s in all batches together, at least; a warm-up of a tenth of it goes
        first. -> Timing, s of one run."""
        least, iterations = min_run_time / (_ROUNDS * _BATCHES), 1
        until = time.perf_counter() + min_run_time / 10
        while True:
            took = self._batch(iterations)
            if took >= least and time.perf_counter() >= until:
                break
            if took < least:
                iterations = max(iterations + 1, int(iterations * min(least / max(took, 1e-9), 8)))
        readings = []
        with measure(sensors=self._sensors) as m:
            for turn in range(_ROUNDS):
                readings += [(self._batch(iterations), iterations, turn) for _ in range(_BATCHES)]
        return Timing(readings, m)


class Measured:
    """A function whose runs are measured: `measurements`, of the last call."""

    def __init__(self, function: Callable[..., Any], repeats: int, sensors: str | None) -> None:
        functools.update_wrapper(self, function)
        self._function, self._repeats, self._sensors = function, repeats, sensors
        self.measurements: list[Measurement] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.measurements = []
        result = None
        for _ in range(self._repeats):
            with measure(sensors=self._sensors) as m:
                result = self._function(*args, **kwargs)
            self.measurements.append(m)
        return result

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    @property
    def timing(self) -> Timing:
        """Of the runs of the last call."""
        return Timing([(m.seconds, 1, 0) for m in self.measurements])

    @property
    def seconds(self) -> float:
        """The median, without what was disturbed."""
        return self.timing.value

    @property
    def mad_s(self) -> float:
        """Median absolute deviation, scaled to a standard deviation."""
        return self.timing.mad

    @property
    def joules(self) -> float:
        """The median; NaN where a run has none."""
        each = sorted(m.joules for m in self.measurements)
        middle = len(each) // 2
        known = each and not any(math.isnan(j) for j in each)
        return (each[middle] + each[-1 - middle]) / 2 if known else math.nan


def measured(
    function: Callable[..., Any] | None = None, *, repeats: int = 1, sensors: str | None = None
) -> Any:
    """@measured, or @measured(repeats=10): each call runs the function so often and keeps the
    measurements of the call: f.seconds (median), f.mad_s, f.timing, f.joules, f.measurements."""
    from ._ask import _whole

    repeats = _whole("repeats", repeats)
    if function is None:
        return lambda f: Measured(f, repeats, sensors)
    return Measured(function, repeats, sensors)
