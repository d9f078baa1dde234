"""The notebooks of examples/ run, and show what they are stored with: figures may differ, kinds of
output may not."""

import pytest
from conftest import SOURCE

nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")

NOTEBOOKS = sorted((SOURCE / "examples/notebooks").glob("*.ipynb"))


def kinds(notebook):
    return [
        [sorted(out.get("data", {out.get("name"): ""})) for out in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    stored, fresh = (nbformat.read(path, as_version=4) for _ in range(2))
    nbclient.NotebookClient(
        fresh, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    ).execute()
    assert kinds(fresh) == kinds(stored) and any(kinds(stored))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 5
