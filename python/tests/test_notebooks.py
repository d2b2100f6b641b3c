"""The notebooks run, and their claims hold."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"

# The claims of the text, checked in a last cell.
CLAIMS = {
    "votes": """
        assert model.result_.guarantee == "exact" and model.result_.converged
        strongest = max(model.machine_.edge_list(), key=lambda edge: abs(edge[2]))
        assert set(strongest[:2]) == {"democrat", "physician_fee_freeze"} and strongest[2] < 0
        assert scores["all pairs"] > scores["tree"] > scores["no links"] + 3
        assert right(filled) > 0.78 > 0.6 > right(frequent)
        assert accuracy > 0.93
    """,
    "digits": """
        assert exact.guarantee == completed.guarantee == "exact"
        assert exact.log_likelihood > independent.score(test) + 5
        assert model.score(test) > exact.log_likelihood - 0.2 and model.n_iter_ == 160
        assert draws.shape == (30, 64) and set(np.unique(draws)) == {0, 1}
        assert results["hidden units"] > results["pixels"]
    """,
    "spins": """
        assert set(learners) - {name for name, row in table.iterrows()} == set()
        best, flat = table["error"]["likelihood"], table["error"]["factorized"]
        assert best < 0.03 and flat > 0.2
        assert table["error"]["pseudo-likelihood"] < 1.1 * best
        assert best < table["error"]["closed-form"] < flat
        for name in ("likelihood", "pseudo-likelihood"):
            assert errors[name][-1] < 0.2 * errors[name][0]
        assert errors["closed-form"][-1] > 2 * errors["likelihood"][-1]
    """,
}


def test_every_notebook_is_here():
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(CLAIMS)


@pytest.mark.parametrize("name", CLAIMS)
# Warnings of the notebook tools do not concern the package; the kernel is another process.
@pytest.mark.filterwarnings("default")
def test_a_notebook_runs_and_is_right(name):
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    # Outputs are not stored, since they change with every version.
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    lines = CLAIMS[name].strip().splitlines()
    notebook.cells.append(
        nbformat.v4.new_code_cell("\n".join(line[8:] if line[:8].isspace() else line for line in lines))
    )
    began = time.monotonic()
    client = nbclient.NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": FOLDER}}
    )
    client.execute()
    assert time.monotonic() - began < 60
    warned = [o.text for cell in notebook.cells for o in cell.get("outputs", ()) if o.get("name") == "stderr"]
    assert not warned
