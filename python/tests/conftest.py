"""Models and folders of the tests; nothing of the user's is read or written."""

import pathlib

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    monkeypatch.delenv("FORETELL_DATA", raising=False)


@pytest.fixture
def resnet50():
    return str(SOURCE / "data/models/resnet50.onnx")


@pytest.fixture
def resnet18():
    return str(SOURCE / "data/models/resnet18.onnx")


@pytest.fixture
def llama():
    return str(SOURCE / "examples/llm/llama-3-8b.json")
