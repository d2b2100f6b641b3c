"""The package and its command agree to the last digit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import random_machine, write_csv

import isinglass
from isinglass import Machine, Table, fit


def flags(keywords: dict) -> list[str]:
    """Keywords as flags of the command."""
    words = []
    for name, value in keywords.items():
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    return words


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"engine": "eliminate", "pairs": "all"},
        {"engine": "mean-field", "starts": 3, "seed": 5},
        {"engine": "mixture", "components": 3, "anneal": "10:4"},
        {"engine": "structured", "width": 2},
        {"engine": "trw", "width": 1},
        {"engine": "tap", "damping": 0.2, "max_sweeps": 500},
        {"engine": "linear-response", "around": "bethe"},
        {"engine": "bethe", "schedule": "parallel"},
        {"engine": "gibbs", "samples": 50, "burn_in": 20, "chains": 8, "thin": 2, "seed": 11},
        {"engine": "ais", "temperatures": 50, "chains": 64, "seed": 2},
        {"bracket": True, "engine": "mean-field"},
    ],
)
@pytest.mark.filterwarnings("ignore::isinglass.ConvergenceWarning")
def test_infer(command, keywords):
    machine = random_machine(9, seed=7, strength=0.3, temperature=1.5)
    machine.save(command.folder / "m.json")
    printed = command.json("infer", "m.json", "--given", "x3=-1", *flags(keywords))
    answer = machine.infer({"x3": -1}, **keywords)
    names = machine.names
    assert (answer.engine, answer.guarantee, answer.converged) == (
        printed["engine"],
        printed["guarantee"],
        printed["converged"],
    )
    assert answer.log_z == printed["log_z"] and answer.to_dict() == printed["means"]
    pairs = [[names[a], names[b], x] for (a, b), x in zip(answer.pairs, answer.correlations.tolist())]
    assert pairs == printed["correlations"]
    if answer.guarantee == "estimate":
        # What is unknown is null there and nan here.
        shown = [
            None if error is None or np.isnan(error) else error for error in (answer.log_z_error, *answer.means_error)
        ]
        assert shown == [printed["log_z_error"], *printed["means_error"].values()]
    if "bracket" in printed:
        assert (answer.bracket.lower, answer.bracket.upper) == (
            printed["bracket"]["lower"],
            printed["bracket"]["upper"],
        )


def test_other_questions(command):
    machine = random_machine(8, seed=1)
    machine.save(command.folder / "m.json")
    printed = command.json("query", "m.json", "--ask", "x1,x4", "--given", "x0=+1")
    found = machine.query(["x1", "x4"], {"x0": 1})
    assert found.probabilities.tolist() == [row["p"] for row in printed["table"]]
    printed = command.json("map", "m.json", "--given", "x0=+1")
    mode = machine.map({"x0": 1})
    assert mode.to_dict() == printed["state"] and mode.energy == printed["energy"]
    for engine in ("auto", "temper"):
        printed = command.json("sample", "m.json", "-n", 20, "--seed", 3, "--engine", engine)
        assert machine.sample(20, seed=3, engine=engine).states.tolist() == printed["states"]
    printed = command.json("infer", "m.json", "--cumulants", "x0,x1,x2")
    found = machine.cumulants(["x0", "x1", "x2"])
    assert [[list(units), x] for units, x in found.values.items()] == printed["cumulants"]
    printed, info = command.json("info", "m.json"), machine.info()
    assert [info.treewidth[0], info.treewidth[1]] == [printed["treewidth"]["lower"], printed["treewidth"]["upper"]]
    assert info.elimination_order == printed["elimination_order"]
    offers = [(offer.name, offer.available, offer.bytes, offer.cost) for offer in info.engines]
    assert offers == [(e["name"], e["available"], e["bytes"], e["cost"]) for e in printed["engines"]]


@pytest.mark.parametrize("engine", ["auto", "bethe", "mean-field"])
@pytest.mark.filterwarnings("ignore::isinglass.ConvergenceWarning")
def test_tables(command, votes, engine):
    machine = random_machine(6, seed=3, strength=0.3)
    machine.save(command.folder / "m.json")
    write_csv(command.folder / "t.csv", votes, list(machine.names))
    printed = command.json("score", "m.json", "t.csv", "--engine", engine)
    score = machine.score(votes, engine=engine)
    for field in (
        "rows",
        "log_likelihood",
        "pseudo_log_likelihood",
        "completion",
        "engine",
        "clamped_engine",
        "guarantee",
    ):
        assert getattr(score, field) == printed[field], field
    done = command.run("complete", "m.json", "t.csv", "--probabilities", "-o", "p.npy", "--engine", engine)
    assert done.returncode == 0, done.stderr
    found = machine.complete(votes, engine=engine)
    assert (np.load(command.folder / "p.npy") == found.probabilities).all()
    command.json("complete", "m.json", "t.csv", "-o", "s.npy", "--engine", engine)
    assert (np.load(command.folder / "s.npy") == found.states).all()


FITS = [
    {},
    {"l2": 0.01, "engine": "decimate", "visible_links": "tree"},
    {"learner": "likelihood", "visible_links": "none", "hidden": 2, "restarts": 2, "l2": 0.02, "seed": 4},
    {"learner": "likelihood", "engine": "bethe", "l2": 0.05, "optimizer": "cg"},
    {"learner": "likelihood", "engine": "mixture", "components": 2, "l2": 0.1, "iterations": 5},
    {"learner": "pl-em", "iterations": 20, "seed": 8, "samples": 2},
    {"learner": "contrastive-divergence", "hidden": 2, "iterations": 2, "seed": 5, "persistent": True, "chains": 20},
    {"learner": "mean-field-cd", "iterations": 10},
    {"learner": "factorized"},
]
WHOLE_FITS = [
    {"learner": "pseudo-likelihood", "l2": 0.01},
    {"learner": "pseudo-likelihood", "l1": 0.02},
    {"l1": "ebic", "gamma": 0.5},
    {"learner": "closed-form"},
    {"learner": "closed-form", "no_self_coupling": True},
]


@pytest.mark.parametrize("keywords", FITS + WHOLE_FITS, ids=lambda keywords: json.dumps(keywords))
@pytest.mark.filterwarnings("ignore::isinglass.ConvergenceWarning")
def test_fit(command, votes, keywords):
    if keywords in WHOLE_FITS:
        votes = np.nan_to_num(votes, nan=1.0)
    names = [f"x{k}" for k in range(6)]
    write_csv(command.folder / "t.csv", votes, names)
    printed = command.json("fit", "t.csv", "-o", "m.json", *flags(keywords))
    machine, result = fit(votes, **keywords)
    assert machine == Machine.load(command.folder / "m.json")
    assert result.history.objective.tolist() == printed["objective"]
    fields = ["learner", "engine", "clamped_engine", "guarantee", "rows", "iterations", "converged", "kept"]
    for field in [*fields, "log_likelihood", "pseudo_log_likelihood", "restart_objectives", "best_restart"]:
        assert getattr(result, field) == printed[field], field


def test_a_fit_begins_at_its_start(command, votes):
    names = [f"x{k}" for k in range(6)]
    write_csv(command.folder / "t.csv", votes, names)
    first, _ = fit(votes, l2=0.1)
    first.save(command.folder / "first.json")
    command.json("fit", "t.csv", "--init", "first.json", "-o", "m.json")
    assert fit(votes, start=first)[0] == Machine.load(command.folder / "m.json")


def test_inputs_and_custom_links(command, votes):
    names = list("abcdef")
    write_csv(command.folder / "t.csv", votes, names)
    (command.folder / "links.csv").write_text("a,b\nb,c\nc,f\n")
    arguments = ["--visible-links", "edges:links.csv", "--inputs", "a,b", "--l2", 0.01]
    command.json("fit", "t.csv", "-o", "m.json", *arguments)
    expected = Machine.load(command.folder / "m.json")
    table = Table(votes, names=names)
    for links in ([(0, 1), (1, 2), (2, 5)], f"edges:{command.folder / 'links.csv'}"):
        assert fit(table, visible_links=links, inputs=["a", "b"], l2=0.01)[0] == expected
    assert expected.roles[:3] == ("input", "input", "visible")


def test_names_are_exported_lazily():
    for name in isinglass.__all__:
        assert getattr(isinglass, name) is not None
    assert set(dir(isinglass)) == set(isinglass.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Machines'"):
        _ = isinglass.Machines
    program = "import sys, isinglass.__main__; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_codes_and_streams_of_the_command(command):
    assert command.run("--version").stdout == f"isinglass {isinglass.__version__}\n"
    assert command.run("info", "none.json").returncode == 1
    wrong = command.run("infer", "none.json", "--engine", "magic")
    assert wrong.returncode == 2 and not wrong.stdout and "magic" in wrong.stderr
    script = Path(sys.executable).with_name("isinglass")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"isinglass {isinglass.__version__}\n"


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_ends_a_fit_of_the_command_with_the_best_machine_so_far(command, votes):
    write_csv(command.folder / "t.csv", votes, [f"x{k}" for k in range(6)])
    learner = ["--learner", "contrastive-divergence", "--iterations", "100000000"]
    line = [
        sys.executable,
        "-m",
        "isinglass",
        "fit",
        "t.csv",
        "-o",
        "m.json",
        *learner,
        "--checkpoint",
        "c.ck",
        "--every",
        "1",
    ]
    with subprocess.Popen(line, cwd=command.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        while not (command.folder / "c.ck").exists():
            assert running.poll() is None, running.stderr.read()
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        assert running.wait(10) == 130
    assert len(Machine.load(command.folder / "m.json")) == 6
