"""Networks as InfraGraph: what is read, what is refused, and the way back."""

from collections import Counter
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tests.topology_gen.graph_texts import from_yaml, names
from topology_gen.errors import FileFormatError
from topology_gen.formats.graphs.document import GraphDocument, LinkEntry, NodeEntry
from topology_gen.formats.graphs.registry import WRITERS, read

INFRAGRAPH: dict[str, Any] = {
    "name": "two",
    "devices": [
        {
            "name": "server",
            "components": [
                {"name": "xpu", "choice": "xpu", "count": 2},
                {"name": "nvsw", "choice": "switch", "count": 1},
                {"name": "cpu", "choice": "cpu", "count": 1},
                {"name": "nic", "choice": "nic", "count": 2},
            ],
            "links": [{"name": "nvlink"}, {"name": "pcie"}],
            "edges": [
                {
                    "ep1": {"component": "xpu"},
                    "ep2": {"component": "nvsw"},
                    "scheme": "many2many",
                    "link": "nvlink",
                },
                {
                    "ep1": {"component": "xpu[0:2]"},
                    "ep2": {"component": "nic"},
                    "scheme": "one2one",
                    "link": "pcie",
                },
            ],
        },
        {
            "name": "switch",
            "components": [
                {"name": "asic", "choice": "cpu", "count": 1},
                {"name": "port", "choice": "port", "count": 4},
            ],
            "links": [{"name": "ic"}],
            "edges": [
                {
                    "ep1": {"component": "asic"},
                    "ep2": {"component": "port"},
                    "scheme": "many2many",
                    "link": "ic",
                }
            ],
        },
    ],
    "instances": [
        {"name": "host", "device": "server", "count": 2},
        {"name": "leaf", "device": "switch", "count": 1},
    ],
    "links": [
        {
            "name": "eth",
            "physical": {
                "bandwidth": {"choice": "gigabits_per_second", "gigabits_per_second": 100},
                "latency": {"choice": "us", "us": 2},
            },
        }
    ],
    "edges": [
        {
            "ep1": {"instance": "host", "component": "nic"},
            "ep2": {"instance": "leaf[0]", "component": "port"},
            "scheme": "one2one",
            "link": "eth",
        }
    ],
}


def test_infragraph():
    found = from_yaml(INFRAGRAPH)
    assert found.ranks == [f"host.{host}.xpu.{xpu}" for host in (0, 1) for xpu in (0, 1)]
    # A switch with its ports is one node, and the CPU has no link.
    assert found.switches == [
        *(f"host.{host}.{part}" for host in (0, 1) for part in ("nvsw.0", "nic.0", "nic.1")),
        "leaf.0",
    ]
    outer = [link for link in found.links if not link.scale_up]
    assert outer == [
        LinkEntry(f"host.{host}.nic.{nic}", "leaf.0", "100Gbps", "2us")
        for host in (0, 1)
        for nic in (0, 1)
    ]
    assert len(found.links) == 2 * (2 + 2) + 4


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"instances": None},
            "no instances: expected an infrastructure of InfraGraph, not devices",
        ),
        ({"connections": ["host.0.nic.0.eth.leaf.0.port.0"]}, "connections: expected edges"),
        ({"devices": [INFRAGRAPH["devices"][0] | {"connections": []}]}, "connections: expected"),
    ],
)
def test_drafts_of_infragraph_are_told(changes, problem):
    content = {key: value for key, value in (INFRAGRAPH | changes).items() if value is not None}
    with pytest.raises(FileFormatError, match=problem):
        from_yaml(content)


def test_infragraph_refuses_unknown_names():
    wrong = INFRAGRAPH | {"edges": [INFRAGRAPH["edges"][0] | {"link": "wifi"}]}
    with pytest.raises(FileFormatError, match="there is no link 'wifi': expected eth"):
        from_yaml(wrong)
    end = {"instance": "host[5]", "component": "nic"}
    wrong = INFRAGRAPH | {"edges": [INFRAGRAPH["edges"][0] | {"ep1": end}]}
    with pytest.raises(FileFormatError, match=r"expected an index or a slice of 2 \(0 … 1\)"):
        from_yaml(wrong)


def written_infragraph(network):
    """Return the network that the written InfraGraph file describes."""
    text = WRITERS["infragraph"].write(network)
    result = read(text.encode(), "again", lambda text: YAML(typ="safe").load(text))
    assert isinstance(result, GraphDocument)
    assert WRITERS["infragraph"].write(result) == text
    return result


def test_infragraph_keeps_its_names():
    found = from_yaml(INFRAGRAPH)
    again = written_infragraph(found)
    assert again.nodes == found.nodes
    assert again.links == found.links


def test_infragraph_keeps_devices_inside_devices():
    """A card with two ports in each host, of which one is linked."""
    card = {
        "name": "card",
        "components": [{"name": "port", "choice": "port", "count": 2}],
        "links": [],
        "edges": [],
    }
    server = dict(INFRAGRAPH["devices"][0])
    server["components"] = [
        {"name": "xpu", "choice": "xpu", "count": 2},
        {"name": "card", "choice": "device", "count": 2},
    ]
    ends = {
        "ep1": {"component": "xpu"},
        "ep2": {"device": "card", "component": "port[0]"},
        "scheme": "one2one",
        "link": "pcie",
    }
    server["edges"] = [ends]
    outer = INFRAGRAPH["edges"][0] | {"ep1": {"instance": "host", "component": "card.port[0]"}}
    content = INFRAGRAPH | {
        "devices": [server, card, INFRAGRAPH["devices"][1]],
        "edges": [outer],
    }
    found = from_yaml(content)
    assert "host.1.card.1.port.0" in found.switches
    again = written_infragraph(found)
    assert again.nodes == found.nodes
    assert again.links == found.links


def test_infragraph_makes_servers_of_scale_up_links():
    """Servers that are alike are copies of one device, and the last one is another."""
    up = [("gpu0", "nv0"), ("gpu1", "nv0"), ("gpu2", "nv1"), ("gpu3", "nv1"), ("gpu4", "gpu5")]
    links = [LinkEntry(*ends, "900GB/s", "468125ps", scale_up=True) for ends in up]
    links += [LinkEntry(f"gpu{rank}", "leaf0", "0.4Tbps", "500ns") for rank in range(6)]
    nodes = [NodeEntry(f"gpu{rank}", True) for rank in range(6)]
    nodes += [NodeEntry(name, False) for name in ("nv0", "nv1", "leaf0")]
    again = written_infragraph(GraphDocument("three", nodes, links))
    assert again.ranks == [
        *(f"server.{index}.xpu.{gpu}" for index in (0, 1) for gpu in (0, 1)),
        "server1.0.xpu.0",
        "server1.0.xpu.1",
    ]
    assert again.switches == ["server.0.switch.0", "server.1.switch.0", "leaf.0"]
    assert again.links[0][2:4] == ("900GB/s", "468.125ns")
    assert again.links[-1][2:4] == ("400Gbps", "500ns")


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        (LinkEntry("gpu0", "a", one_way=True), "gpu0 → a: this format has only links in both"),
        (LinkEntry("a", "b", scale_up=True), "a → b: this format has scale-up links only in"),
        (LinkEntry("gpu0", "a", "fast"), "'fast': expected a rate such as 100Gbps"),
    ],
)
def test_infragraph_cannot_say(link, problem):
    nodes = [NodeEntry("gpu0", True), NodeEntry("a", False), NodeEntry("b", False)]
    with pytest.raises(FileFormatError, match=problem):
        WRITERS["infragraph"].write(GraphDocument("one", nodes, [link]))


def outline(network):
    """Return a graph with the numbers of the ranks, and the kinds of the links of each pair."""
    graph: Any = nx.Graph()
    for name in network.switches:
        graph.add_node(name, rank=-1)
    for number, name in enumerate(network.ranks):
        graph.add_node(name, rank=number)
    for link in network.links:
        if not graph.has_edge(*link[:2]):
            graph.add_edge(*link[:2], kinds=Counter())
        graph.edges[link[:2]]["kinds"][(link.bandwidth, link.latency, link.scale_up)] += 1
    graph.remove_nodes_from([n for n in network.switches if graph.degree(n) == 0])
    return graph


inner = st.builds(
    LinkEntry,
    names,
    names,
    st.sampled_from(["100Gbps", "900GB/s", None]),
    st.sampled_from(["1us", "3ns", None]),
    *[st.none()] * 3,
    scale_up=st.booleans(),
    one_way=st.just(False),
).filter(lambda link: link.source != link.target)


@settings(max_examples=40, deadline=None)
@given(st.lists(inner, min_size=1, max_size=10))
def test_infragraph_round_trip(links):
    """The same network with the same numbers of ranks, whatever is inside servers."""
    nodes = [*(NodeEntry(f"gpu{n}", True) for n in range(3)), NodeEntry("a", False)]
    before = GraphDocument("file", [*nodes, NodeEntry("b", False)], links)
    joined: Any = nx.Graph(link[:2] for link in links if link.scale_up)
    if any(
        not any(n.startswith("gpu") for n in group) for group in nx.connected_components(joined)
    ):
        with pytest.raises(FileFormatError, match="scale-up links only in devices"):
            WRITERS["infragraph"].write(before)
        return
    graphs = outline(before), outline(written_infragraph(before))
    same = nx.is_isomorphic(*graphs, node_match=dict.__eq__, edge_match=dict.__eq__)
    assert same
