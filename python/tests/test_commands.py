"""Commands as functions: options as Python has them, errors, tables."""

import ast
import inspect
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import pytest
from conftest import SOURCE

import foretell
from foretell import _command, _library
from foretell._table import Record

SAXPY = SOURCE / "tests/data/ptx/nvcc/saxpy.ptx"
LINES = ["linear x=8x4096 out=1000 dtype=fp32", "relu x=8x1000 dtype=fp32"]


def command(*words):
    words = [_library.COMMAND, *map(str, words), "--json", "--data-dir", _library.DATA]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def test_a_record_is_what_the_command_says(resnet50):
    words = "--devices a30,l4 --batches 1,8 --limit time=1s --limit energy=9J"
    words += " --price a30=0.5/h --price l4=0.6/h"
    said = command("rank", resnet50, *words.split())
    several = dict(devices=["a30", "l4"], batches=[1, 8], limit={"time": "1s", "energy": "9J"})
    assert foretell.rank(resnet50, price={"a30": "0.5/h", "l4": "0.6/h"}, **several) == said
    several |= dict(devices={"a30": 0, "l4": 0}.keys(), batches=range(1, 9, 7))
    assert foretell.rank(resnet50, price={"a30": "0.5/h", "l4": "0.6/h"}, **several) == said
    texts = dict(devices="a30,l4", batches="1,8", limit=["time=1s", "energy=9J"])
    path = pathlib.Path(resnet50)
    assert foretell.rank(path, price=["a30=0.5/h", "l4=0.6/h"], **texts) == said


def test_options_have_the_names_of_predict(resnet50):
    here = dict(devices="a30", mode="training")
    said = foretell.rank(resnet50, **here, dtype="fp16", optimizer="adamw", run_mode="eager")
    assert said["dtype"] == "fp16" and "AdamW" in said["step"]
    again = foretell.rank(resnet50, **here, precision="fp16", optimizer="adamw", run_mode="eager")
    assert again == said
    bert = SOURCE / "data/models/bert-6.onnx"
    shape = {"input_ids": (4, 64)}
    for options in ({"inputs": shape}, {"input": "input_ids=4x64"}):
        with pytest.raises(foretell.Error) as caught:  # it has no such input: both ask the same
            foretell.rank(bert, devices="a30", **options)
        assert "input_ids=4x64" in caught.value.sentence and caught.value.hint == "inputs="


def test_every_device_of_a_list_is_asked(resnet50):
    placed = foretell.place(resnet50, devices=["t4", "a30"], link="16GB/s")
    assert [row["device"] for row in placed.rows()] == ["t4", "a30"]
    assert placed == foretell.place(resnet50, devices="t4,a30", link="16GB/s")
    assert [row["device"] for row in placed.rows("alone")] == ["t4", "a30"]
    with pytest.raises(foretell.Error) as caught:
        placed.rows("choices")
    assert caught.value.status == "EINVAL" and "parts, alone" in caught.value.sentence
    dealt = foretell.place(resnet50, LINES, devices=["t4", "a30"])
    together = foretell.place([resnet50, resnet50], devices=["t4", "a30"])
    assert together == foretell.place(resnet50, resnet50, devices=["t4", "a30"])
    assert len(dealt.rows()) == 2 and {row["device"] for row in dealt.rows()} <= {"t4", "a30"}


@pytest.mark.parametrize(
    "ask, status, hint, said",
    [
        (lambda m: foretell.rank(m, by="beauty"), "EINVAL", "by=", "beauty"),
        (lambda m: foretell.rank(m, device="a30"), "EINVAL", "devices=", "did you mean --devices"),
        (lambda m: foretell.rank(m, beauty=1), "EINVAL", "", "--beauty"),
        (lambda m: foretell.rank(m, devices="nope"), "ENOTFOUND", "", "nope"),
        (lambda m: foretell.rank(m, json=True), "EINVAL", "", "json"),
        (lambda m: foretell.rank(m, help=True), "EINVAL", "", "help"),
        (lambda m: foretell.rank("no.onnx"), "EIO", "", "No such file"),
        (lambda m: foretell.rank("-h"), "EIO", "", "No such file"),
        (lambda m: foretell.rank(42), "EINVAL", "", "int"),
        (lambda m: foretell.rank(["conv2d"]), "EFORMAT", "", "the list: line 1: conv2d"),
        (lambda m: foretell.place(m, devices=["t4", "a30"]), "EINVAL", "link=", "--link"),
        (
            lambda m: foretell.place(m, devices="t4", link="1GB/s", batch=10**6),
            "ENOTFOUND",
            "",
            "fits",
        ),
        (lambda m: foretell.place(m, "no.onnx", devices="t4"), "EIO", "", "no.onnx"),
        (lambda m: foretell.evaluate(db="no.db"), "EFORMAT", "db=", "no.db"),
        (lambda m: foretell.evaluate(), "ENOTFOUND", "", "nothing is measured"),
        (lambda m: foretell.train(), "ENOTFOUND", "", "nothing is measured"),
        (lambda m: foretell.collect(), "EINVAL", "quick=", "name models"),
        (lambda m: foretell.collect(m, engine="nope"), "ENOTFOUND", "", "nope"),
        (lambda m: foretell.ptx(SAXPY, grid=8), "EINVAL", "entry=", "saxpy"),
        (lambda m: foretell.ptx("no.ptx"), "EIO", "", "no.ptx"),
        (lambda m: foretell.launches("nowhere"), "EIO", "", "nowhere"),
        (lambda m: foretell.explore("run", "no.yaml"), "EIO", "", "no.yaml"),
    ],
)
def test_errors_have_a_status_a_sentence_and_a_hint(ask, status, hint, said, resnet50, capfd):
    with pytest.raises(foretell.Error) as caught:
        ask(resnet50)
    error = caught.value
    assert (error.status, error.hint) == (status, hint) and said in error.sentence
    assert "{" not in error.sentence and capfd.readouterr() == ("", "")


def test_what_meets_no_limit_is_an_answer(resnet50):
    ranked = foretell.rank(resnet50, devices=["t4"], limit={"time": "1us"})
    assert ranked["best"] is None and [row["state"] for row in ranked.rows()] == ["over_limit"]


def test_a_rank_is_a_table(resnet50, capfd):
    ranked = foretell.rank(resnet50, devices=["a30", "l4"], by="energy")
    first = ranked.rows()[0]
    assert first["device"] == ranked["best"] and first["place"] == 1
    said = ranked["choices"][0]["values"]["energy"]
    assert [*first["energy"][:3]] == [said[k] for k in ("value", "low", "high")]
    assert not first["cost"] and math.isnan(first["cost"].value) and first["cost"].why
    assert "a30" in str(ranked) and "mJ" in str(ranked)
    page = ranked._repr_html_()
    assert page.count("<tr>") == 3 and "<svg" in page and "cost" not in page
    assert capfd.readouterr() == ("", "")
    pytest.importorskip("pandas")
    frame = ranked.to_pandas()
    assert list(frame["place"]) == [1, 2] and frame["energy_j"][0] == first["energy"].value
    assert (frame["time_low_s"] < frame["time_s"]).all() and frame["cost"].isna().all()


def test_what_is_ranked_by_is_shown(resnet50):
    ranked = foretell.rank(resnet50, devices=["a30", "l4"], by="cost", price=["a30=2/h", "l4=1/h"])
    head, first = str(ranked).splitlines()[0], ranked.rows()[0]
    assert "cost_of_a_million_passes" in head
    assert f"{1e6 * first['cost'].value:.4g}" in str(ranked) and "e-0" not in str(ranked)


def test_a_record_is_pickled(resnet50):
    import pickle

    placed = foretell.place(resnet50, devices=["t4", "a30"], link="16GB/s")
    again = pickle.loads(pickle.dumps(placed))
    assert again == placed and again.rows() == placed.rows()


def test_kernels_and_a_launch_are_tables():
    kernels = foretell.ptx(SAXPY)
    assert [row["name"] for row in kernels.rows()] == ["saxpy", "transpose"]
    assert all(row["file"] == str(SAXPY) for row in kernels.rows())
    n = 1000
    launch = foretell.ptx(
        SAXPY, entry="saxpy", grid=(4, 1), block=[256], param={"3": n}, device="a100", registers=12
    )
    (row,) = launch.rows()
    assert row["flops_fp32"] == 2 * n and row["global_bytes_stored"] == 4 * n and row["exact"]
    assert row["grid"] == [4, 1, 1] and row["time"].unit == "s" and row["registers"] == 12
    assert "saxpy" in str(launch) and "saxpy" in launch._repr_html_()
    pytest.importorskip("pandas")
    assert foretell.ptx(SAXPY).to_pandas()["name"].tolist() == ["saxpy", "transpose"]
    assert launch.to_pandas()["time_s"][0] == row["time"].value


def test_launches_of_a_program_are_a_table(tmp_path):
    file = tmp_path / "launches.jsonl"
    launch = {"module": str(SAXPY), "kernel": "saxpy", "grid": 4, "block": 256}
    other = {"module": str(SAXPY), "kernel": "transpose", "grid": [2, 4], "block": [16, 8]}
    lines = [
        {**launch, "params": {"3": 1000}, "count": 3},
        {**other, "shared": 1024, "params": {"2": 32, "3": 32}},
        {"library": "cublasGemmEx", "operation": "matmul x=512x768 y=768x768", "count": 2},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    program = foretell.launches(file, device="a100")
    saxpy, transpose = program.rows()
    assert (saxpy["kernel"], saxpy["times"]) == ("saxpy", 3) and saxpy["fp32_warp"] > 0
    assert transpose["fp32_warp"] == 0 and transpose["shared_bytes_loaded"] > 0
    assert saxpy["shared_bytes_loaded"] == 0  # what it does not execute
    assert program.rows("libraries")[0]["library"] == "cublasGemmEx"
    pytest.importorskip("pandas")
    frame = program.to_pandas()
    assert list(frame["kernel"]) == ["saxpy", "transpose"] and frame["all_warp"].notna().all()
    assert len(program.to_pandas("libraries")) == 1


def test_this_machine_is_a_table_of_its_own(resnet18):
    collected = foretell.collect(resnet18, engine="fake", budget="20s")
    assert collected.rows()[0]["measured"] == collected["measured"] > 10
    assert foretell.collect(quick=True, engine="fake", budget="1s")["wanted"] > 1000
    trained = foretell.train(engine="fake")
    assert {row["metric"] for row in trained.rows()} >= {"time"} and "mape" in str(trained)
    scores = foretell.evaluate(where={"engine": "fake"}, by=["kind", "size"])
    assert {row["name"] for row in scores.rows()} == {r["name"] for r in scores["by_kind"]}
    assert scores.rows("by_size") and "conv2d" in scores._repr_html_()


def children():
    found = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as file:
            found += file.read().split()
    return found


def test_ctrl_c_ends_the_command_and_keeps_what_it_did(resnet18, tmp_path):
    store = tmp_path / "m.db"

    def interrupt():
        while not store.exists() or not children():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        foretell.collect(resnet18, engine="fake", budget="600s", op_time="20s", db=store)
    assert not children()
    assert foretell.collect(LINES, engine="fake", budget="5s", db=store)["measured"] == 2


def test_an_exploration_is_a_table_of_trials(tmp_path, resnet18):
    space = tmp_path / "space.yaml"
    space.write_text(
        f'name: tiny\npredict: [{resnet18}, --device, "{{device}}", --batch, "{{batch}}"]\n'
        "parameters:\n  - {name: device, values: [a30, t4]}\n  - {name: batch, values: [1, 8]}\n"
        "objectives:\n  - {name: time, per: item}\n  - {name: energy, per: item}\n"
    )
    explored = foretell.explore("run", space, db=tmp_path / "e.db")
    rows = explored.rows()
    assert len(rows) == 4 and {row["point_device"] for row in rows} == {"a30", "t4"}
    best = min(rows, key=lambda row: row["time"])
    assert (best["point_device"], best["point_batch"], best["front"]) == ("a30", "8", True)
    assert explored.rows("parameters")[0]["name"] == "device" and "a30" in str(explored)


def test_progress_is_shown_where_it_is_wanted(resnet18, tmp_path, capfd):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    collect = dict(engine="fake", budget="20s", db=tmp_path / "store.db")
    assert foretell.collect(resnet18, **collect, progress=True)["measured"] > 10
    assert re.search(r"collect:.*/\d+", capfd.readouterr().err)
    with pytest.raises(foretell.Error, match='no engine "none"'):
        foretell.collect(resnet18, **{**collect, "engine": "none"}, progress=True)
    assert foretell.collect(resnet18, **collect)["measured"] == 0
    assert foretell.collect(resnet18, **collect) and capfd.readouterr().out == ""


def test_served_models_are_rows_of_their_latencies():
    time = dict(value=0.1, low=0.05, high=0.2, unit="s", basis="scaled")
    served = {"device": "l4", "ttft": {"mean": time, "p99": time}, "fits": True}
    ranked = Record(
        {"model": "m", "placed": [{"place": 1, "device": "l4", "served": served}]}, "rank"
    )
    assert ranked.rows()[0]["ttft_mean"].high == 0.2 and "100 ms" in str(ranked)
    one = Record({"model": "m", **served, "ops": [{"spec": "relu"}]}, "predict")
    assert [row["ttft_p99"].low for row in one.rows()] == [0.05]
    both = Record({"answers": [one, one]}, "predict")
    assert [row["device"] for row in both.rows()] == ["l4", "l4"]


def test_an_option_with_an_underscore_behind_it_is_the_commands_own():
    assert _command._words({"precision": "fp16", "precision_": "fp8", "kv_dtype": "fp8"}) == [
        *("--dtype", "fp16"),
        *("--precision", "fp8"),
        *("--kv-dtype", "fp8"),
    ]


def test_what_the_documentation_calls_is_there():
    inspected = {"predict", "estimate_memory", "measure", "measured", "Timer", "devices"}
    seen = set()
    for block in re.findall(r"```python\n(.*?)```", (SOURCE / "docs/python.md").read_text(), re.S):
        for node in ast.walk(ast.parse(block)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if not isinstance(node.func.value, ast.Name) or node.func.value.id != "foretell":
                continue
            name, given = node.func.attr, {k.arg for k in node.keywords}
            known = set(inspect.signature(getattr(foretell, name)).parameters)
            if name not in inspected or name == "predict":
                words = [_library.COMMAND, "predict" if name == "llm" else name, "--help"]
                words[1] = "ptx" if name == "launches" else words[1]
                said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
                known |= {o.replace("-", "_") for o in re.findall(r"--([a-z][a-z-]*)", said)}
                known |= set(inspect.signature(foretell.predict).parameters)
            assert given <= known, (name, given - known)
            seen.add(name)
    assert inspected <= seen | {"devices"} and {"rank", "place", "llm", "ptx", "launches"} <= seen
