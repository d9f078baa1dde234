"""Models by their ids, from a cache like that of huggingface_hub; and served language models."""

import os
import pathlib

import pytest
from conftest import SOURCE

import foretell
from foretell import _hub


@pytest.fixture
def cache(tmp_path, monkeypatch, llama):
    """A cache with org/tiny; -> its snapshots."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    model = tmp_path / "hf/hub/models--org--tiny-1.5"
    blob = model / "blobs/0123"
    for folder in (blob.parent, model / "refs", model / "snapshots/aaaa", model / "snapshots/bbbb"):
        folder.mkdir(parents=True)
    blob.write_text(pathlib.Path(llama).read_text())
    (model / "snapshots/aaaa/config.json").symlink_to(blob)
    (model / "refs/main").write_text("aaaa\n")
    return model / "snapshots"


def test_a_model_has_its_id(cache, llama):
    p = foretell.predict("org/tiny-1.5", device="h100", run_mode="graph")
    assert p.model == "org/tiny-1.5"
    assert p.time == foretell.predict(llama, device="h100", run_mode="graph").time
    ranked = foretell.rank("org/tiny-1.5", devices=["h100", "l4"], by="time")
    assert ranked["model"] == "org/tiny-1.5" and len(ranked.rows()) == 2


def test_the_main_revision_is_asked_otherwise_the_last(cache):
    assert _hub.path_of("org/tiny-1.5") == str(cache / "aaaa/config.json")
    (cache.parent / "refs/main").unlink()
    (cache / "bbbb/config.json").write_text("{}")
    os.utime(cache / "aaaa", (1, 1))
    assert _hub.path_of("org/tiny-1.5") == str(cache / "bbbb/config.json")


def test_a_gguf_is_asked_where_there_is_one_alone(cache):
    (cache / "aaaa/config.json").unlink()
    with pytest.raises(foretell.Error, match=r"neither config.json nor a .gguf"):
        _hub.path_of("org/tiny-1.5")
    for part in (1, 2, 3):
        (cache / f"aaaa/tiny-q4-0000{part}-of-00003.gguf").touch()
    assert _hub.path_of("org/tiny-1.5") == str(cache / "aaaa/tiny-q4-00001-of-00003.gguf")
    (cache / "aaaa/tiny-q8.gguf").touch()
    with pytest.raises(foretell.Error, match=r"several .gguf files.*tiny-q8.gguf"):
        _hub.path_of("org/tiny-1.5")


def test_what_is_not_in_the_cache_is_said(cache, tmp_path, monkeypatch):
    for ask in (foretell.predict, foretell.llm):
        with pytest.raises(foretell.Error, match=r"org/other is no file.*hf/hub") as caught:
            ask("org/other", device="h100")
        assert caught.value.status == "EIO"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "org").mkdir()  # a path of this folder
    assert _hub.path_of("org/other") == "org/other"
    for path in ("resnet50.onnx", "models/resnet50.onnx", "./org/tiny-1.5", "none", "/a/b", 1):
        assert _hub.path_of(path) == path


def test_a_language_model_is_a_row_a_device(llama):
    ask = dict(device=["h100", "l4"], run_mode="graph", dims={"context": 2048})
    served = foretell.llm(llama, **ask)
    times = [p.time.value for p in foretell.predict(llama, **ask)]
    assert [row["time"].value for row in served.rows()] == pytest.approx(times)
    one = foretell.llm(llama, **{**ask, "device": "l4"})
    assert one["device"] == "l4" and one.rows()[0]["time"].value == pytest.approx(times[1])
    assert "l4" in str(one)


def test_options_that_only_the_command_has_are_its_own(resnet50):
    clocks = foretell.predict(resnet50, device="a30", batch=8, clocks=[600, 1200], precision="fp16")
    rows = clocks.rows()
    assert [(row["dtype"], row["batch"]) for row in rows] == [("fp16", 8)] * 2
    assert rows[0]["time"].value > rows[1]["time"].value
    with pytest.raises(foretell.Error, match=r"predict\(\) has no option promt"):
        foretell.predict(resnet50, device="a30", promt=128)
    with pytest.raises(foretell.Error, match=r"predict\(\) has no option promt"):
        foretell.llm(resnet50, device="a30", promt=128)


def test_a_gguf_is_a_model(tmp_path):
    sample = SOURCE / "fuzz/corpus/gguf/llama"
    if not sample.exists():
        pytest.skip("this library does not read .gguf")
    path = tmp_path / "model.gguf"
    path.write_bytes(sample.read_bytes())
    p = foretell.predict(path, device="h100", run_mode="graph")
    assert p.time and p.model == "model.gguf" and p.memory.parts["weights"] > 0
    said = foretell.llm(path, device="h100", run_mode="graph")
    assert said["time"]["value"] == pytest.approx(p.time.value, rel=1e-12)
