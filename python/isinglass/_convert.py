"""Conversions between machines and the graphs and models of other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isinglass._machine import Machine


def parts_of_networkx(graph: Any, weight: str, bias: str, role: str) -> dict[str, Any]:
    """Returns the arguments of :meth:`isinglass.Machine.from_edges` for a networkx graph."""
    if not hasattr(graph, "is_directed"):
        message = f"graph: found {type(graph).__name__}, expected a networkx.Graph"
        raise TypeError(message)
    if graph.is_directed() or graph.is_multigraph():
        message = "graph: found a directed graph or one with multiple edges, expected a networkx.Graph"
        raise ValueError(message)
    return {
        "edges": ((a, b, data.get(weight, 1.0)) for a, b, data in graph.edges(data=True)),
        "bias": {node: data.get(bias, 0.0) for node, data in graph.nodes(data=True)},
        "names": list(graph.nodes),
        "roles": [data.get(role, "visible") for _, data in graph.nodes(data=True)],
        "temperature": graph.graph.get("temperature", 1.0),
        "offset": graph.graph.get("offset", 0.0),
    }


def to_networkx(machine: Machine) -> Any:
    """Returns a networkx graph; see :meth:`isinglass.Machine.to_networkx`."""
    import networkx

    graph = networkx.Graph(temperature=machine.temperature, offset=machine.offset)
    for name, bias, role in zip(machine.names, machine.bias.tolist(), machine.roles, strict=True):
        graph.add_node(name, bias=bias, role=role)
    graph.add_weighted_edges_from(machine.edge_list())
    return graph


def parts_of_dimod(model: Any, temperature: float) -> dict[str, Any]:
    """Returns the arguments of :meth:`isinglass.Machine.from_edges` for a dimod binary quadratic model."""
    if not hasattr(model, "change_vartype"):
        message = f"model: found {type(model).__name__}, expected a dimod.BinaryQuadraticModel"
        raise TypeError(message)
    if not temperature > 0:
        message = f"temperature: found {temperature}, expected a number above 0"
        raise ValueError(message)
    spins = model.change_vartype("SPIN", inplace=False)
    return {
        "edges": ((a, b, -float(coupling)) for (a, b), coupling in spins.quadratic.items()),
        "bias": {name: -float(field) for name, field in spins.linear.items()},
        "names": list(spins.variables),
        "temperature": temperature,
        "offset": -float(spins.offset) / temperature,
    }


def to_dimod(machine: Machine) -> Any:
    """Returns a dimod binary quadratic model; see :meth:`isinglass.Machine.to_dimod`."""
    import dimod

    linear = dict(zip(machine.names, (-machine.bias).tolist(), strict=True))
    quadratic = {(a, b): -weight for a, b, weight in machine.edge_list()}
    return dimod.BinaryQuadraticModel(linear, quadratic, -machine.temperature * machine.offset, "SPIN")
