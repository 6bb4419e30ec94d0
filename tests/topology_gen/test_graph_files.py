"""Files of networks in every format: what is read, what is refused, and the way back."""

from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.topology_gen.graph_texts import document, names
from topology_gen.errors import FileFormatError
from topology_gen.formats.graphs.document import GraphDocument, LinkEntry, NodeEntry
from topology_gen.formats.graphs.registry import WRITERS, omitted

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


def test_what_a_format_has_no_place_for():
    link = LinkEntry("gpu0", "a", "1Gbps", "1us", buffer="1MB", loss="0.1", scale_up=True)
    network = GraphDocument("one", [NodeEntry("a", False, "32MB")], [link])
    assert omitted(network, "csv") == omitted(network, "graphml") == []
    assert omitted(network, "astra-sim") == ["memory", "buffer", "scale_up"]
    assert omitted(network, "infragraph") == ["memory", "buffer", "loss"]


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
