"""Questions about files and lists, and what the answers hold; without PyTorch."""

import concurrent.futures
import html
import inspect
import json
import locale
import math
import os
import pathlib
import re
import runpy
import signal
import subprocess
import sys
import threading

import pytest

import foretell
from foretell import _ask, _command, _library

LINES = [
    "conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32 *4",
    "linear x=1x4096 out=1000 dtype=fp32",
]


def command(*words):
    done = subprocess.run([_library.COMMAND, *words], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_an_answer_is_what_the_command_says(resnet50):
    said = command(
        "predict",
        resnet50,
        "--device",
        "a30",
        "--batch",
        "4",
        "--mode",
        "training",
        "--json",
        "--optimizer",
        "adamw",
        "--data-dir",
        _library.DATA,
    )
    p = foretell.predict(resnet50, device="a30", batch=4, mode="training", optimizer="adamw")
    for ours, theirs in [
        (p.time, said["time"]),
        (p.energy, said["energy"]),
        (p.power, said["power"]),
        (p.memory, said["memory"]["total"]),
    ]:
        assert [*ours[:3]] == pytest.approx(
            [theirs[k] for k in ("value", "low", "high")], rel=1e-12
        )
        assert (ours.unit, ours.basis) == (theirs["unit"], theirs["basis"])
    assert p.flops == said["flops"] and p.batch == 4 and p.mode == "training"
    assert p.memory.parts["gradients"] == said["memory"]["gradients"] > 0
    assert sum(v for v in p.memory.parts.values() if not math.isnan(v)) == pytest.approx(
        p.memory.value
    )


def test_devices_are_named_and_several_as_the_command_has_them(resnet50):
    for what in resnet50, LINES:
        with pytest.raises(foretell.Error) as caught:
            foretell.predict(what, "a100")
        assert caught.value.hint == "device=" and "device=" in caught.value.sentence
    with pytest.raises(foretell.Error, match="names none"):
        foretell.predict(resnet50, device=[])
    with pytest.raises(foretell.Error):
        foretell.rank(resnet50, "a100")
    both = foretell.predict(resnet50, device="a30, l4")
    assert [p.device for p in both] == ["a30", "l4"]


def test_options_of_the_command(resnet50):
    last = foretell.predict(resnet50, device="a30", channels_last=True)
    assert "channels-last" in " ".join(last["assumptions"])
    four = foretell.predict(resnet50, device="a30", gpus=4, micro_batch=8)
    assert four["global_batch"] == 32


def test_a_list_of_specs():
    p = foretell.predict(LINES, device="h100")
    assert [op.kind for op in p.ops] == ["conv2d", "linear"] and p.ops[0].count == 4
    assert p.ops[1].flops == 2 * 4096 * 1000 and p.ops[1].product_flops == 2 * 4096 * 1000
    with pytest.raises(foretell.Error):
        p.max_batch()


def test_a_step_of_a_language_model(llama, tmp_path):
    ask = {"device": "h100", "batch": 16, "dims": {"context": 2048}, "run_mode": "graph"}
    p = foretell.predict(llama, **ask)
    keys_and_values = 2 * 16 * 8 * 2048 * 128 * 32
    assert p.memory.parts["inputs"] == keys_and_values * 2 + 16 * 8
    assert {"layers.0.self_attn", "layers.31.mlp"} <= set(p.modules())
    (tmp_path / "config.json").write_text(pathlib.Path(llama).read_text())
    assert foretell.predict(tmp_path, **ask).time == p.time
    with pytest.raises(foretell.Error, match="cache"):
        foretell.predict(llama, device="h100", mode="training")


def test_steps_of_a_served_model(llama, resnet50, capsys):
    steps = foretell.Steps(llama, "h100", prompt=2048, generate=256, sequences=32)
    decoding, joules = steps.ask(contexts=[1024] * 32)
    p = foretell.predict(
        llama, device="h100", batch=32, dims={"context": 1024}, run_mode="compiled-graph"
    )
    assert decoding.value == pytest.approx(p.time.value, rel=0.1)
    assert decoding.low < decoding.value < decoding.high and joules.unit == "J"
    both, _ = steps.ask(prompts=[(512, 0)], contexts=[1024] * 32)
    alone, _ = steps.ask(prompts=[(512, 0)])
    assert max(decoding.value, alone.value) < both.value < decoding.value + alone.value
    example = pathlib.Path(llama).with_name("sglang_simulator.py")
    runpy.run_path(str(example), run_name="__main__")
    as_there = foretell.Steps(llama, "h100", prompt=2048, generate=256)
    decoding, _ = as_there.ask(contexts=[1024 + 1] * 32)  # with the new token
    assert re.findall(r"([\d.]+) ms", capsys.readouterr().out)[1] == f"{1e3 * decoding.value:.2f}"
    with pytest.raises(foretell.Error, match="no-such-device"):
        foretell.Steps(llama, "no-such-device")
    with pytest.raises(foretell.Error, match="only language models") as caught:
        foretell.Steps(resnet50, "h100")
    assert "once" not in str(caught.value)
    nan, inf = math.nan, math.inf
    for nonsense in (
        *({}, {"prompts": [(-5, 0)]}, {"prompts": [512]}, {"contexts": [900, 0]}),
        *({"prompts": [(512, inf)]}, {"contexts": [900, nan]}, {"contexts": [inf]}),
    ):
        with pytest.raises(foretell.Error, match="a step has prompts"):
            steps.ask(**nonsense)


def test_threads_share_the_steps_of_a_served_model(llama):
    steps = foretell.Steps(llama, "h100")
    contexts = [[100 * n] * n for n in range(1, 5)]
    want = [steps.ask(contexts=c) for c in contexts]

    def differs(k):
        return any(steps.ask(contexts=contexts[k]) != want[k] for _ in range(2000))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with concurrent.futures.ThreadPoolExecutor(len(contexts)) as pool:
            assert not any(pool.map(differs, range(len(contexts))))
    finally:
        sys.setswitchinterval(interval)


def test_modules_of_an_onnx_file(resnet50):
    p = foretell.predict(resnet50, device="h100")
    assert "layer3.0.conv2" in {op.module for op in p.ops}
    sums = p.modules()
    assert sums[""]["flops"] == pytest.approx(p.flops)
    assert sums["layer3"]["ops"] == sum(op.count for op in p.ops if op.module.startswith("layer3."))
    assert sums[""]["share"] == pytest.approx(sum(op.share for op in p.ops))
    assert "layer4" in p.tree(1) and "layer4.0" not in p.modules()["layer4"]


def test_fits_and_the_largest_batch(resnet50):
    p = foretell.predict(resnet50, device="t4", mode="training")
    most = p.max_batch()
    assert p.fits() and most > 1
    assert foretell.predict(resnet50, device="t4", mode="training", batch=most).fits()
    assert not foretell.predict(resnet50, device="t4", mode="training", batch=most + 1).fits()


def test_several_devices(resnet50):
    several = foretell.predict(resnet50, device=["a30", "h100"], batch=2)
    assert [p.device for p in several] == ["a30", "h100-sxm"]
    assert several[1].time == foretell.predict(resnet50, device="h100", batch=2).time
    assert "a30" in str(several) and "a30" in several._repr_html_()
    assert "h100-sxm" in several.html() and "on 2 devices</h1>" in several.html()


def test_what_differs_is_over_columns_and_reasons_are_not_in_cells(resnet50):
    forward, step = (foretell.predict(resnet50, device="a30", mode=m) for m in (None, "training"))
    assert "one forward pass, fp32" in forward.compare(step).splitlines()[0]
    cpu = foretell.predict(resnet50, device="raspberry-pi-4")
    assert cpu.energy.why and max(map(len, forward.compare(cpu).splitlines())) < 120


def test_weights_of_a_language_model_have_types_of_their_own(llama):
    eight = foretell.predict(llama, device="h100", precision="fp8", batch=4)
    assert "fp8" in eight.dtype
    assert eight.time == foretell.predict(llama, device="h100", batch=4, dims={"weight_bits": 8}).time
    served = foretell.predict(llama, device="h100", precision="fp8", concurrency=4)
    assert served == foretell.llm(llama, device="h100", precision="fp8", concurrency=4)
    ranked = foretell.rank(llama, devices="h100", precision=["bf16", "fp8"], concurrency=4, tp=1)
    assert {row["precision"] for row in ranked.rows()} == {"bf16", "fp8"}
    rates = str(foretell.llm(llama, device="h100", concurrency=32, price="2/h"))
    assert re.search(r"\d{4} 1/s.* 0\.\d{3,4} ", rates), rates  # no "k1/s", no "300 m" of money


def test_frames(resnet50):
    pytest.importorskip("pandas")
    frame = foretell.predict(resnet50, device="a30").to_pandas()
    assert "layer3.0.conv2" in set(frame["module"]) and frame["flops"].sum() > 8e9
    assert list(foretell.predict(resnet50, device=["a30", "t4"]).to_pandas()["device"]) == [
        "a30",
        "t4",
    ]


def test_settings_and_precision(resnet50):
    fast, slow = (foretell.predict(resnet50, device="a30", clock=c, batch=32) for c in (1400, 600))
    assert slow.time.value > fast.time.value and "clock=600MHz" in slow.setting
    half = foretell.predict(resnet50, device="a30", precision="fp16")
    assert half.dtype == "fp16" and half.memory.value < fast.memory.value
    named = foretell.predict(resnet50, device="a30", dtype="fp16")
    assert named.time.value == half.time.value and named.fits()


@pytest.mark.parametrize(
    "what, options, status, hint",
    [
        ("no-such.onnx", {}, "EIO", ""),
        (["conv2d"], {}, "EFORMAT", ""),
        (LINES, {"device": "no such device"}, "ENOTFOUND", ""),
        (LINES, {"device": "local"}, "ENOTFOUND", ""),
        (LINES, {"mode": "sleeping"}, "EINVAL", None),
        (42, {}, "EINVAL", ""),
        (LINES, {"device": None}, "EINVAL", "device="),
        (LINES, {"device": "cuda:0"}, "ENOTFOUND", "device="),
        *((LINES, {"batch": batch}, "EINVAL", "batch=") for batch in (0, -1, "8", 2.5, [1, 2])),
        (LINES, {"mode": 3}, "EINVAL", "mode="),
        (LINES, {"precision": 16}, "EINVAL", "precision="),
        (LINES, {"precision": ["fp16", "fp32"]}, "EINVAL", "precision="),
        (LINES, {"threads": "two"}, "EINVAL", "threads="),
        (LINES, {"dims": {"seq": "long"}}, "EINVAL", "dims="),
        (LINES, {"inputs": {"x": "1x3"}}, "EINVAL", "inputs="),
        (LINES, {"bach": 8}, "EINVAL", ""),
        (LINES, {"dtype": "fp16", "precision": "fp32"}, "EINVAL", "precision="),
    ],
)
def test_errors_have_a_status_and_a_sentence(what, options, status, hint):
    with pytest.raises(foretell.Error) as caught:
        foretell.predict(what, **{"device": "h100", **options})
    assert caught.value.status == status and len(caught.value.sentence) > 10
    assert hint is None or caught.value.hint == hint


def test_a_value_that_the_model_needs_is_named():
    import pathlib

    here = pathlib.Path(__file__).resolve().parents[2]
    with pytest.raises(foretell.Error) as caught:
        foretell.predict(here / "data/models/bert-6.onnx", device="h100", dims={"nothing": 3})
    assert caught.value.status == "EINVAL"


def test_drawings(resnet50, tmp_path):
    p = foretell.predict(resnet50, device="a30")
    page = p.html(tmp_path / "p.html")
    assert (tmp_path / "p.html").read_text() == page and "<svg" in page and "<script" not in page
    assert "width=device-width" in page and "table{display:block;overflow-x:auto}" in page
    assert "<svg" in p._repr_html_()
    for write in (p.html, p.trace):
        with pytest.raises(foretell.Error) as caught:
            write(tmp_path / "nowhere" / "p")
        assert caught.value.status == "EIO"
    p.trace(tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    convs = [e for e in events if e["name"] == "conv2d" and e["tid"] == 2]  # of the device
    assert len(convs) == 53
    assert sum(e["dur"] for e in convs) == pytest.approx(
        sum(o.total_s for o in p.ops if o.kind == "conv2d") * 1e6, rel=1e-3
    )
    whole = {e["name"]: e for e in events}["layer2"]
    inside = [e for e in events if e["name"] == "layer2.0.conv1"][0]
    assert (
        whole["ts"] <= inside["ts"]
        and inside["ts"] + inside["dur"] <= whole["ts"] + whole["dur"] + 1e-3
    )


def test_compare(resnet50):
    a, b = (foretell.predict(resnet50, device=d) for d in ("a30", "h100"))
    assert "ratio" in a.compare(b) and f"{b.time.value / a.time.value:.3f}" in a.compare(b)
    with pytest.raises(foretell.Error, match="takes a Prediction, not list"):
        a.compare([b])


def test_compare_names_what_differs(resnet50):
    ways = [{}, {"run_mode": "graph"}, {"method": "physics"}, {"method": "roofline"}]
    asked = [foretell.predict(resnet50, device="a30", **how) for how in ways]
    for a, b in zip(asked, asked[1:]):
        assert len(set(re.split(r"  +", a.compare(b).splitlines()[0].strip()))) == 3
    assert "graph" in asked[0].compare(asked[1]).splitlines()[0]


def test_a_page_of_several_says_what_was_assumed(resnet50):
    one, more = (foretell.predict(resnet50, device=d) for d in (["a30"], ["a30", "h100"]))
    assert "on a30</h1>" in one.html()
    for p in more:
        assert p.assumptions + p.warnings
        for line in p.assumptions + p.warnings:
            assert html.escape(line) in more.html()


@pytest.mark.parametrize(
    "options, call",
    [
        ("--quick --engine x", 'quick=True, engine="x"'),
        ("--setting 'threads=4 clock=1GHz' -o p.ftp", 'setting="threads=4 clock=1GHz", out="p.ftp"'),
        ("--dim batch=1,seq=2 --dim ctx=4", 'dim=["batch=1,seq=2", "ctx=4"]'),
        ('--power "command:PROGRAM"', 'power="command:PROGRAM"'),
        ("--family --device a30", 'family=True, device="a30"'),
    ],
)
def test_commands_are_said_as_calls(options, call):
    archive = "/tmp/a b/model.pt2"
    said = _ask._as_calls(f"by foretell collect '{archive}' {options}, then foretell train", archive)
    assert said == f"by foretell.collect(model, args, {call}), then foretell.train()"
    compile(said[3 : said.index(", then ")], "", "eval")


def test_threads_share_what_is_read(resnet50):
    wanted = {d: foretell.predict(resnet50, device=d).time for d in ("a30", "t4", "h100", "l4")}
    got = []

    def ask(device):
        for _ in range(5):
            got.append((device, foretell.predict(resnet50, device=device).time))

    threads = [threading.Thread(target=ask, args=(d,)) for d in wanted]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(got) == 20 and all(wanted[d] == time for d, time in got)


def test_many_predictions_keep_the_resident_size_flat():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    def ask(n):
        for _ in range(n):
            assert foretell.predict(LINES, device="a30").ops

    ask(300)
    before = resident()
    ask(1000)
    assert resident() - before < 2 << 20


def test_import_loads_little():
    script = (
        "import sys; before = set(sys.modules); import foretell;"
        "print(*(set(sys.modules) - before));"
        "print([l for l in open('/proc/self/status') if l.startswith('VmRSS')][0].split()[1])"
    )
    names, resident = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    heavy = {"torch", "numpy", "pandas", "pycparser", "cffi", "asyncio", "json", "subprocess"}
    assert not heavy & set(names.split()) and int(resident) < 30 * 1024


def test_nothing_is_printed(resnet50, capfd):
    foretell.predict(resnet50, device="a30")
    assert capfd.readouterr() == ("", "")


def test_the_console_script_is_the_command():
    done = subprocess.run(
        [sys.executable, "-c", "from foretell._command import main; main()"],
        capture_output=True,
        text=True,
    )
    assert "predict" in done.stdout + done.stderr
    version = subprocess.run([_library.COMMAND, "--version"], capture_output=True, text=True).stdout
    assert foretell.__version__ in version


def test_the_binding_is_of_the_library():
    from foretell import _binding

    assert _library.text(_library.lib.ft_version()) == _binding.VERSION == foretell.__version__
    assert _binding.SIZES["ft_query"] == _library.ffi.sizeof("ft_query")


def test_this_machine_measured_trained_predicted_verified(resnet18):
    collected = foretell.collect(resnet18, engine="fake", budget="20s")
    assert collected["measured"] > 10
    foretell.train(engine="fake")
    p = foretell.predict(resnet18, device="local", engine="fake")
    assert p.device == "local" and p.time.basis in ("measured", "learned")
    both = p.verify(time="100ms")
    assert both.time == p.time and both.measured_s == both.record["time"]["value"]
    assert both.measured_b == both.record["memory"]["process_peak"]
    assert 0.5 < both.time.value / both.measured_s < 2 and "ratio" in str(both)
    with pytest.raises(foretell.Error):
        foretell.predict(resnet18, device="h100", method="physics", engine="vllm").verify()


def test_a_device_that_is_elsewhere_is_named(resnet18, monkeypatch):
    def no_gpu(*_):
        raise foretell.Error("ENOTFOUND", "GPU 0 cannot be identified")

    monkeypatch.setattr("foretell._command.measure", no_gpu)
    with pytest.raises(foretell.Error, match="h100-sxm cannot be measured .*: GPU 0 cannot"):
        foretell.predict(resnet18, device="h100").verify()


def test_memory_of_a_gpu_is_not_compared_with_the_host_s(resnet18, monkeypatch):
    record = {"time": {"value": 1e-3}, "memory": {"total": 5, "process_peak": 7}}
    monkeypatch.setattr("foretell._command.measure", lambda *_: record)
    for device, measured_b in (("h100", 5), ("raspberry-pi-4", 7)):
        assert foretell.predict(resnet18, device=device).verify().measured_b == measured_b


def test_small_models_are_asked_without_a_thread(resnet50, monkeypatch, tmp_path):
    large = tmp_path / "large.ops"
    large.write_text("# a comment\n" * 100000 + LINES[1])
    made = []
    thread = threading.Thread
    monkeypatch.setattr(threading, "Thread", lambda **k: made.append(k) or thread(**k))
    assert foretell.predict(resnet50, device="a30").time and not made
    assert foretell.predict(LINES, device="a30").time and not made
    assert foretell.predict(large, device="a30").time and len(made) == 1


def test_ctrl_c_ends_the_wait(resnet50):
    entered = threading.Event()

    def work():
        entered.set()
        never.wait()

    def interrupt():
        entered.wait()
        os.kill(os.getpid(), signal.SIGINT)

    never = threading.Event()
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        _library.call(work)
    never.set()
    assert foretell.predict(resnet50, device="a30").time


def test_the_library_runs_beside_python(resnet50, tmp_path):
    pipe, found = tmp_path / "pipe.onnx", []
    os.mkfifo(pipe)
    asking = threading.Thread(
        target=lambda: found.append(foretell.predict(pipe, device="a30")), daemon=True
    )
    asking.start()
    with open(pipe, "wb") as file:  # waits for the reader, who waits for this
        file.write(pathlib.Path(resnet50).read_bytes())
    asking.join()
    assert found[0].time == foretell.predict(resnet50, device="a30").time


def test_ctrl_c_ends_a_call_inside_the_library(tmp_path):
    pipe, over = tmp_path / "pipe.onnx", threading.Event()
    os.mkfifo(pipe)

    def interrupt():
        with open(pipe, "wb"):  # the library reads
            os.kill(os.getpid(), signal.SIGINT)
            over.wait()

    interrupting = threading.Thread(target=interrupt, daemon=True)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        foretell.predict(pipe, device="a30")
    over.set()
    interrupting.join()


def test_type_checkers_know_the_keywords():
    keywords = set(inspect.signature(foretell.predict).parameters)
    other = {"what", "args", "kwargs", "device", "options"}
    assert set(_ask._Asked.__annotations__) == keywords - other | {"dtype"}
    options = {one.replace("-", "_") for one in _command._options_of("predict")}
    options -= _command._NOT_HERE | {"device", "dim", "input"}
    of_command = set(_ask._OfCommand.__annotations__)
    assert of_command - {"precision_"} == options | set(_ask._Asked.__annotations__)


def test_errors_are_pickled():
    import pickle

    error = foretell.Error("ENEEDED", "dimension open: add --dim s=N")
    again = pickle.loads(pickle.dumps(error))
    assert (again.status, again.hint, str(again)) == ("ENEEDED", "dims=", str(error))


def test_measurements_of_another_device_are_refused(resnet18, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(
        "device,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,value,n\n"
        "k40,,torch,2,relu x=1x64x56x56 dtype=fp32,forward,default,time,s,1e-5,9\n"
    )
    with pytest.raises(foretell.Error, match="other.csv holds no measurements that correct this"):
        foretell.predict(resnet18, device="t4", correct=other)


def test_a_trace_is_json_in_any_locale(resnet18, tmp_path, monkeypatch):
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de"], check=False)
    if made.returncode:
        pytest.skip("no locale can be made here")
    monkeypatch.setenv("LOCPATH", str(tmp_path))
    before = locale.setlocale(locale.LC_ALL)
    locale.setlocale(locale.LC_ALL, "de")
    try:
        foretell.predict(resnet18, device="t4").trace(tmp_path / "t.json")
    finally:
        locale.setlocale(locale.LC_ALL, before)
    assert json.loads((tmp_path / "t.json").read_text())["otherData"]["time_s"] > 0
