"""Code measured here; the sensor is a recorded trace of 50 W, whatever runs."""

import math
import threading
import time

import pytest

import foretell


@pytest.fixture
def sensor(tmp_path):
    path = tmp_path / "trace.csv"
    columns = "domain,part_of,counts,tells_power,all_fresh,period_s,window_s,duty,least_s"
    path.write_text(
        f"# foretell trace 1\n# {columns}\n# wall,,0,1,1,0.01,0.01,1,\nat_s,domain,watts,joules\n"
        + "".join(f"{i / 100},wall,50,\n" for i in range(60000))
    )
    return f"replay:{path}"


def read_in_time(run):
    """Until the trace was read often enough, however busy the machine is."""
    for _ in range(60):
        m = run()
        if not math.isnan(m.joules):
            break
    return m


def test_a_block_has_time_memory_and_energy(sensor):
    def run():
        with foretell.measure(sensors=sensor) as m:
            held = bytearray(64 << 20)
            held[:: 1 << 12] = bytes(len(held) >> 12)
            time.sleep(0.2)
        return m

    m = read_in_time(run)
    assert m.seconds >= 0.2 and m.joules == pytest.approx(50 * m.seconds, rel=0.05)
    assert m.memory["process"] > 64 << 20 and not m.why
    wall = m.energy["wall"]
    assert wall.watts == pytest.approx(50) and wall.joules == m.joules and not wall.part_of
    assert {w for at, w, _ in wall.readings if 0 <= at <= m.seconds} == {50.0}
    assert "wall" in str(m) and "process" in str(m)


def test_the_peak_is_of_the_block():
    def peak(size):
        with foretell.measure() as m:
            held = b"x" * size
            del held
        return m.memory["process"]

    first = peak(512 << 20)
    assert peak(1 << 10) < first - (256 << 20)


def test_what_a_block_raises_is_its_own(sensor):
    m = foretell.measure(sensors=sensor)
    with pytest.raises(KeyError), m:
        raise KeyError("x")
    assert m.seconds >= 0 and "wall" in m.energy


def test_blocks_inside_and_beside_others(sensor):
    found = []

    def run():
        with foretell.measure(sensors=sensor) as outer:
            with foretell.measure(sensors=sensor) as inner:
                pass
        found.append(inner.seconds <= outer.seconds and "wall" in outer.energy)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [True] * 3


def test_a_sensor_that_is_not_there():
    with pytest.raises(foretell.Error) as caught:
        with foretell.measure(sensors="no-such-sensor"):
            pass
    assert caught.value.status == "ENOTFOUND" and "no-such-sensor" in caught.value.sentence


def test_sensors_are_not_looked_for_in_every_block(monkeypatch):
    from foretell import _measure

    monkeypatch.setattr(_measure._Meter, "_missing", {})
    looked = []

    def none(self, sensors):
        looked.append(sensors)
        raise foretell.Error("EUNSUPPORTED", "no sensor works")

    monkeypatch.setattr(_measure._Meter, "__init__", none)
    monkeypatch.setattr(_measure._Meter, "_idle", {})
    for _ in range(3):
        with foretell.measure() as m:
            pass
        assert m.why == "no sensor works" and not m.energy
    assert looked == [None]
    monkeypatch.setattr(_measure, "_LOOK_AGAIN_S", 0)
    with foretell.measure():
        pass
    assert looked == [None] * 2


def test_a_function_is_measured_and_repeated(sensor):
    calls = []

    @foretell.measured(repeats=3, sensors=sensor)
    def work(x):
        """Doubles."""
        calls.append(x)
        return 2 * x

    assert work(21) == 42 and calls == [21] * 3 and work.__doc__ == "Doubles."
    times = sorted(m.seconds for m in work.measurements)
    assert len(times) == 3 and work.seconds == times[1]
    assert work.mad_s == pytest.approx(1.4826 * sorted(abs(t - times[1]) for t in times)[1])

    class Holder:
        @foretell.measured
        def method(self, x):
            return self, x

    holder = Holder()
    assert holder.method(1) == (holder, 1) and Holder.method.seconds > 0
    with pytest.raises(foretell.Error, match="repeats is a whole number from 1 on, not 0"):
        foretell.measured(repeats=0)


def test_times_have_the_statistics_of_the_library():
    readings = [(7 * (1 + 0.01 * (i % 5) + 0.02 * (i // 5)), 7, i // 5) for i in range(25)]
    readings[11] = (21.0, 7, 2)
    t = foretell.Timing(readings)
    assert t.value == pytest.approx(1.065)  # of 1.02, 1.04, 1.065 without the 3, 1.08, 1.10
    assert t.low < t.value < t.high
    assert t.high - t.value == pytest.approx(1.645 * t.error)
    each = [s / n for s, n, _ in readings]
    middle = sorted(each)[12]
    assert t.mad == pytest.approx(1.4826 * sorted(abs(x - middle) for x in each)[12])
    assert t.mean == pytest.approx(sum(each) / 25) and t.iterations == 175
    assert [r.seconds for r in t.outliers] == [21.0] and t.readings[11].outlier
    assert repr(t) == f"<foretell.Timing {t}>"
    assert t.time.basis == "measured" and "1 of them doubtful" in str(t) and math.isnan(t.joules)
    for wrong in ([], [(0.0, 1, 0)], [(1.0, 0, 0)], [(math.nan, 1, 0)], [(1.0, 1)]):
        with pytest.raises(foretell.Error) as caught:
            foretell.Timing(wrong)
        assert caught.value.status == "EINVAL"


def test_a_timer_repeats_in_rounds_of_batches(sensor):
    calls = []

    def run():
        calls.clear()
        timer = foretell.Timer(lambda: calls.append(time.sleep(1e-3)), sensors=sensor)
        return timer.blocked_autorange(0.3)

    for _ in range(60):
        t = run()
        if not math.isnan(t.joules):
            break
    (iterations,) = {r.iterations for r in t.readings}
    assert [r.round for r in t.readings] == [i // 5 for i in range(25)]
    assert t.iterations == 25 * iterations and len(calls) > t.iterations
    assert all(r.seconds >= 1e-3 * iterations for r in t.readings) and t.value >= 1e-3
    assert t.joules == pytest.approx(50 * t.measurement.seconds / t.iterations, rel=0.05)
    assert "J" in str(t)
