"""Centralities against networkx, files of networks, and the stability of fits."""

import csv

import networkx
import numpy as np
import pytest

import isinglass
from isinglass import Machine, fit


@pytest.fixture
def ring():
    edges = [("a", "b", 0.5), ("b", "c", -0.25), ("c", "d", 0.5), ("d", "a", 0.25), ("d", "e", 1.0)]
    return Machine.from_edges(edges)


def distances(graph):
    for _, _, data in graph.edges(data=True):
        data["length"] = 1 / abs(data["weight"])
    return graph


def test_centralities_are_those_of_networkx(ring):
    graph = distances(ring.to_networkx())
    found = ring.centrality()
    between = networkx.betweenness_centrality(graph, weight="length", normalized=False)
    assert found.betweenness == pytest.approx([between[name] for name in ring.names])
    paths = dict(networkx.all_pairs_dijkstra_path_length(graph, weight="length"))
    assert found.closeness == pytest.approx([1 / sum(paths[name].values()) for name in ring.names])
    assert found.strength == pytest.approx(np.abs(ring.weights).sum(axis=0))
    assert found.expected_influence == pytest.approx(ring.weights.sum(axis=0))
    assert found.accuracy is None
    frame = found.to_frame()
    assert list(frame.index) == list(ring.names) and list(frame.columns) == list(found.to_dict())


def test_predictability_needs_a_table(ring):
    rows = ring.sample(500, seed=1).states
    found = ring.centrality(rows)
    assert ((found.accuracy > 0.4) & (found.accuracy <= 1)).all()
    share = (rows > 0).mean(axis=0)
    most = np.maximum(share, 1 - share)
    assert found.normalised_accuracy == pytest.approx((found.accuracy - most) / (1 - most))


def test_fits_have_intervals_of_centralities_and_stability(ring):
    rows = ring.sample(600, seed=2).states
    machine, result = fit(rows, learner="pseudo-likelihood", bootstrap=30, case_dropping=30)
    found = machine.centrality(rows).to_dict()
    assert result.intervals.centrality.keys() == found.keys()
    for spread in result.intervals.centrality.values():
        assert (spread.lower <= spread.upper).all()
    assert set(result.stability.coefficients) == {
        "strength",
        "expected_influence",
        "closeness",
        "betweenness",
        "couplings",
    }
    assert all(0 <= coefficient <= 0.75 for coefficient in result.stability.coefficients.values())
    assert len(result.stability.to_frame()) == 50
    with pytest.raises(ValueError, match="case_dropping: found 9, expected at least 10"):
        fit(rows, case_dropping=9)


def test_the_command_writes_what_networkx_reads(ring, tmp_path, command):
    ring.save(tmp_path / "m.json")
    command.json("network", "m.json", "-o", "n.graphml", "--centrality", "c.csv")
    graph = networkx.read_graphml(tmp_path / "n.graphml")
    assert not graph.is_directed() and set(graph) == set(ring.names)
    weights = {frozenset(pair): data["weight"] for *pair, data in graph.edges(data=True)}
    assert weights == {frozenset((a, b)): weight for a, b, weight in ring.edge_list()}
    with (tmp_path / "c.csv").open() as file:
        strengths = [float(row["strength"]) for row in csv.DictReader(file)]
    assert strengths == pytest.approx(ring.centrality().strength)
    assert [graph.nodes[name]["strength"] for name in ring.names] == pytest.approx(strengths)


def test_the_package_has_the_classes():
    assert isinglass.Centrality.__name__ == "Centrality" and isinglass.Stability.__name__ == "Stability"
