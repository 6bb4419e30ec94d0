"""Files of networks in every format: what is read, what is refused, and the way back."""

import itertools
import math
from collections import Counter
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from topology_gen.errors import FileFormatError
from topology_gen.formats.graphs.document import GraphDocument, LinkEntry, NodeEntry
from topology_gen.formats.graphs.registry import WRITERS, omitted, read

ASTRA_SIM = """4 1 3
3
0 3 400Gbps 0.0005ms 0
1 3 400Gbps 0.0005ms 0.01
2 3 400Gbps 0.0005ms 0
"""

SIMAI = """7 2 2 1 8 H100
4 5 6
0 4 2880Gbps 0.000025ms 0
1 4 2880Gbps 0.000025ms 0
2 5 2880Gbps 0.000025ms 0
3 5 2880Gbps 0.000025ms 0
0 6 400Gbps 0.0005ms 0
1 6 400Gbps 0.0005ms 0
2 6 400Gbps 0.0005ms 0
3 6 400Gbps 0.0005ms 0
"""

CSV = """source,target,bandwidth,latency,dimension,one_way
gpu10,leaf,100Gbps,1us,scale_out,no
gpu9,leaf,100Gbps,1us,scale_out,no
gpu9,gpu10,900GB/s,100ns,scale_up,yes
"""

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


def document(text, name="file"):
    result = read(text.encode(), name, lambda text: {})
    assert isinstance(result, GraphDocument)
    return result


def from_yaml(content):
    result = read(b"text", "file.yaml", lambda text: content)
    assert isinstance(result, GraphDocument)
    return result


def test_astra_sim():
    found = document(ASTRA_SIM)
    assert found.ranks == ["rank0", "rank1", "rank2"]
    assert found.switches == ["switch3"]
    assert found.links[1] == LinkEntry("rank1", "switch3", "400Gbps", "0.0005ms", loss="0.01")


def test_simai_nv_switches_are_scale_up():
    found = document(SIMAI)
    assert found.ranks == ["rank0", "rank1", "rank2", "rank3"]
    assert found.switches == ["nvswitch4", "nvswitch5", "switch6"]
    assert [link.scale_up for link in found.links] == [True] * 4 + [False] * 4


def test_csv_names_decide_the_type_and_numbers_the_order():
    found = document(CSV)
    assert found.ranks == ["gpu9", "gpu10"]
    assert found.switches == ["leaf"]
    assert found.links[2] == LinkEntry(
        "gpu9", "gpu10", "900GB/s", "100ns", scale_up=True, one_way=True
    )


def test_graphml_of_networkx():
    graph: Any = nx.Graph(name="little")
    graph.add_node("s", type="switch")
    graph.add_edge("gpu0", "s", bandwidth="100Gbps", latency="1us")
    graph.add_edge("gpu1", "s", bandwidth="50Gbps", latency="1us")
    found = document("\n".join(nx.generate_graphml(graph)))
    assert (found.name, found.ranks, found.switches) == ("little", ["gpu0", "gpu1"], ["s"])
    assert {link.bandwidth for link in found.links} == {"100Gbps", "50Gbps"}
    assert not any(link.one_way for link in found.links)


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


def analytical(kinds, counts):
    content = {"topology": kinds, "npus_count": counts}
    return content | {"bandwidth": [50.0] * len(counts), "latency": [0.5] * len(counts)}


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["Ring", "FullyConnected", "Switch"]), st.integers(2, 5)),
        min_size=1,
        max_size=3,
    )
)
def test_dimensions_are_the_product_of_their_graphs(parts):
    """Two ranks are joined if they differ in one dimension, and its graph has this link."""
    kinds, counts = zip(*parts, strict=True)
    first, rest = ([kinds[0]], [counts[0]]), math.prod(counts[1:])
    found = from_yaml(analytical(list(kinds), list(counts)))
    product: Any = nx.empty_graph(1)
    for kind, count in reversed(parts):
        one = nx.cycle_graph(count) if kind == "Ring" and count > 2 else nx.complete_graph(count)
        product = nx.cartesian_product(product, one)
    graph: Any = nx.MultiGraph()
    graph.add_nodes_from(found.ranks)
    for switch in found.switches:
        ends = [link.source for link in found.links if link.target == switch]
        graph.add_edges_from((a, b) for a in ends for b in ends if a < b)
    graph.add_edges_from(link[:2] for link in found.links if link.target in found.ranks)
    assert len(found.ranks) == product.number_of_nodes()
    number = {node: f"rank{at}" for at, node in enumerate(product.nodes)}
    expected = {frozenset((number[a], number[b])) for a, b in product.edges}
    assert {frozenset(edge[:2]) for edge in graph.edges} == expected
    assert graph.number_of_edges() == len(expected)
    inside = {frozenset(link[:2]) for link in found.links if link.scale_up}
    assert len(inside) == (len(parts) > 1) * len(from_yaml(analytical(*first)).links) * rest
    assert found.settings == ({"forwarding": "ranks"} if len(parts) > 1 else {})


HTSIM = """Nodes 8
Tiers 3
Podsize 4

Tier 0
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 30

Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 4
Downlink_Latency_ns 1000

Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 700
Switch_Latency_ns 50
Bundle 2
"""


def test_htsim():
    """Two pods of two leaves and two aggregation switches, and two links to each of four cores."""
    found = document(HTSIM)
    graph: Any = nx.MultiDiGraph()
    for link in found.links:
        for ends in (link[:2], link[1::-1])[: 1 if link.one_way else 2]:
            graph.add_edge(*ends, rate=link.bandwidth, latency=link.latency)
    degree: Any = {kind: set() for kind in ("host", "tor", "agg", "core")}
    for node, out in graph.out_degree:
        degree[node.rstrip("0123456789")].add((out, graph.in_degree(node)))
    assert degree == {"host": {(1, 1)}, "tor": {(4, 4)}, "agg": {(6, 6)}, "core": {(4, 4)}}
    assert (len(found.ranks), len(found.switches)) == (8, 12)
    simple: Any = nx.DiGraph(graph)
    path = nx.shortest_path(simple, "host0", "host7")
    assert len(path) == 7  # over a core
    assert nx.shortest_path_length(simple, "host0", "host3") == 4  # the same pod
    taken = [graph.edges[one, other, 0]["latency"] for one, other in itertools.pairwise(path)]
    assert taken == ["1000ns", "1030ns", "700ns", "750ns", "1000ns", "1030ns"]
    assert Counter(data["rate"] for *_, data in graph.edges(data=True)) == {
        "200Gbps": 2 * (8 + 8),
        "100Gbps": 2 * 4 * 4,
    }


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("Podsize 4", "Podsize 3", "Nodes 8: expected a multiple of Podsize"),
        ("Bundle 2", "Bundle 3", "Tier 1: radix_up: expected a multiple of bundle of Tier 2"),
        ("Bundle 2", "Bundle 4", "Tier 2: radix_down 4: expected 8, its links downwards"),
        ("Tier 2", "Tier 3", "Tier 3: expected Tier 2"),
        ("Tiers 3", "Tiers 2", "Tiers 2: expected 2 or 3, and a part for each"),
        ("Bundle 2", "Queue_Down 9", "line 'Queue_Down 9': expected one of nodes"),
        ("Radix_Up 4", "Radix_Up 4\nOversubscribed 2", "oversubscribed 2: expected radix_down"),
        ("Downlink_speed_Gbps 100", "", "Tier 2: downlink_speed_gbps: expected a number"),
        ("Nodes 8", "Nodes 800000000", "Tier 2: radix_down 4: expected 400000000"),
    ],
)
def test_htsim_refused(old, new, problem):
    with pytest.raises(FileFormatError, match=problem):
        document(HTSIM.replace(old, new))


def test_dimensions_keep_their_quantities():
    content = analytical(["Switch", "Ring"], [2, 3]) | {"bandwidth": [741.34, 50]}
    links = from_yaml(content | {"latency": [936.25, 0.0004]}).links
    inside = {link[2:4] for link in links if link.scale_up}
    assert inside == {(f"{round(741.34 * 2**33)}bps", "936.25ns")}
    assert {link[2:4] for link in links if not link.scale_up} == {("50GiB/s", "0ps")}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"topology": ["Mesh2D"]}, "'Mesh2D': expected Ring, FullyConnected, Switch"),
        ({"latency": [1, 2]}, "expected topology, npus_count, bandwidth, latency with one entry"),
        ({"npus_count": [2.5]}, "values 2.5, 50.0 and 0.5: expected a count of at least 2"),
        ({"bandwidth": ["tbd"]}, "expected a count of at least 2, a bandwidth in GB/s"),
        ({"topology": [["Ring"]]}, "topology .*Ring.*: expected Ring, FullyConnected, Switch"),
        ({"latency": [1e308]}, "values 8, 50.0 and 1e.308: expected a count of at least 2"),
        ({"bandwidth": [float("nan")]}, "values 8, nan and 0.5: expected"),
        (
            {"npus_count": [10**6]},
            "499999500000 links: expected at most 131072; `family: complete`",
        ),
    ],
)
def test_dimensions_refused(changes, problem):
    with pytest.raises(FileFormatError, match=problem):
        from_yaml(analytical(["FullyConnected"], [8]) | changes)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ASTRA_SIM.replace("4 1 3", "4 1 5"), "3 lines of links.*promises 5"),
        (ASTRA_SIM.replace("\n3\n", "\n9\n"), "numbers of 1 switches, less than 4"),
        (ASTRA_SIM.replace("0 3 400Gbps", "0 7 400Gbps"), "link '0 7 400Gbps.*nodes 0 … 3"),
        (ASTRA_SIM.replace("0.01", "few"), "link '1 3 400Gbps 0.0005ms few': expected source"),
        (CSV.replace("scale_up", "sideways"), "line 4: dimension 'sideways'"),
        (CSV.replace("latency", "delay"), "column 'delay': expected one of source"),
        (CSV + "gpu1,leaf\n", "line 5: 2 columns, but the first line names 6"),
        ("<graphml><x", "not a GraphML file"),
        ("once upon a time", "expected a YAML file with nodes and links, CSV"),
    ],
)
def test_refused(text, problem):
    with pytest.raises(FileFormatError, match=problem):
        document(text)


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


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("astra-sim", ASTRA_SIM),
        ("simai", SIMAI),
        ("csv", CSV),
        ("csv", "source,target\nnode,a,rank\nnode,s,switch,32MB\na,s\n"),
    ],
)
def test_export_writes_what_was_read(form, text):
    found = document(text)
    assert found.form == form
    assert WRITERS[form].write(found) == text


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


def test_what_a_format_has_no_place_for():
    link = LinkEntry("gpu0", "a", "1Gbps", "1us", buffer="1MB", loss="0.1", scale_up=True)
    network = GraphDocument("one", [NodeEntry("a", False, "32MB")], [link])
    assert omitted(network, "csv") == omitted(network, "graphml") == []
    assert omitted(network, "astra-sim") == ["memory", "buffer", "scale_up"]
    assert omitted(network, "infragraph") == ["memory", "buffer", "loss"]


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


names = st.sampled_from(["gpu0", "gpu1", "gpu2", "a", "b"])
entries = st.builds(
    LinkEntry,
    names,
    names,
    st.sampled_from(["100Gbps", "1Tbps"]),
    st.sampled_from(["1us", "3ns"]),
    buffer=st.sampled_from([None, "1MB"]),
    loss=st.sampled_from([None, "0.5"]),
    scale_up=st.booleans(),
    ecn_threshold=st.none(),
    one_way=st.just(False),
).filter(lambda link: link.source != link.target)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(entries, min_size=1, max_size=8),
    st.sampled_from(sorted(set(WRITERS) - {"infragraph"})),
)
def test_round_trip(links, form):
    # These formats have links in both directions, and only CSV and GraphML have all properties.
    nodes = [NodeEntry(f"gpu{n}", True) for n in range(3)] + [
        NodeEntry(name, False) for name in "ab"
    ]
    if form in ("astra-sim", "simai"):
        links = [link._replace(buffer=None, scale_up=False) for link in links]
    before = GraphDocument("file", nodes, links)
    after = document(WRITERS[form].write(before))
    number = {node.name: n for n, node in enumerate(before.nodes)}
    renamed = {node.name: n for n, node in enumerate(after.nodes)}

    def rows(links, of):
        # GraphML's links may be turned around, as they are undirected.
        return sorted(
            (*sorted((of[link.source], of[link.target])), *map(str, link[2:])) for link in links
        )

    assert rows(after.links, renamed) == rows(before.links, number)
    assert [node.is_rank for node in after.nodes] == [node.is_rank for node in before.nodes]


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
