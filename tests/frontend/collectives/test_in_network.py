"""Programs in switches compute their results over any trees, and take those of their network."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend import ScenarioError, load_scenario
from frontend.collectives import build, check, traffic
from frontend.collectives.algorithms.auto import estimated_ps
from frontend.collectives.reduction_trees import star, trees
from frontend.collectives.registry import ALGORITHMS
from frontend.compiler.programs import ProgramLibrary
from frontend.resolve import resolve

OPERATIONS = ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce")


@st.composite
def grown(draw, size, first):
    """Return a random tree of switches with all ranks, and the number of switches."""
    switches = draw(st.integers(1, 5))
    tree = [
        (first + draw(st.integers(0, number - 1)), first + number) for number in range(1, switches)
    ]
    tree += [(first + draw(st.integers(0, switches - 1)), rank) for rank in range(size)]
    # A switch without ranks below has nothing to send up, and a root with one way down no use.
    while lonely := {child for _, child in tree if child >= first} - {one for one, _ in tree}:
        tree = [edge for edge in tree if edge[1] not in lonely]
    while [one for one, _ in tree].count(tree[0][0]) == 1:
        tree = tree[1:]
    return tuple(tree), switches


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_trees_compute_the_result(data):
    operation = data.draw(st.sampled_from(OPERATIONS))
    size, segments = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 4))
    found, switches = [], 0
    for _ in range(data.draw(st.integers(1, 3))):
        tree, count = data.draw(grown(size, size + switches))
        found.append(tree)
        switches += count
    chosen = {"switches": switches, "segments": segments}
    if operation == "all_reduce":
        chosen |= {"servers": size, "places": (tuple(found),)}
    else:
        chosen |= {"trees": tuple(found)}
    if operation in ("broadcast", "reduce"):
        chosen["root"] = data.draw(st.integers(0, size - 1))
    check(build(operation, "sharp", size, **chosen))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_servers_add_up_inside_and_between(data):
    local, servers = data.draw(st.integers(1, 4)), data.draw(st.integers(2, 4))
    inside, lanes = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 2))
    segments, window = data.draw(st.integers(1, 5)), data.draw(st.integers(0, 5))
    size = local * servers
    inside = inside if local > 1 else 0
    places = tuple(
        tuple(
            tuple((size + place * lanes + lane, rank) for rank in range(place, size, local))
            for lane in range(lanes)
        )
        for place in range(local)
    )
    program = build(
        "all_reduce",
        "sharp",
        size,
        servers=servers,
        inside=inside,
        places=places,
        switches=local * lanes + servers * inside,
        segments=segments,
        window=window,
    )
    check(program)
    # In a server of eight, a rank sends an eighth by its NIC, and by NVLink all and its shard.
    sent = traffic(program).sent[:size] / program.units
    own = 1 + 1 / local if inside else 2 * (local - 1) / local
    assert sent == pytest.approx([1 / local + own] * size)


@pytest.mark.parametrize(("size", "switches"), [(2, 1), (4, 6), (8, 4), (9, 2)])
def test_nvls_sends_the_buffer_and_one_shard(size, switches):
    for window in (0, 2):
        program = build("all_reduce", "nvls", size, switches=switches, inside=switches, segments=5,
                        window=window)  # fmt: skip
        check(program)
        assert (traffic(program).sent[:size] * size == program.units * (size + 1)).all()
        assert (traffic(program).received[:size] * size == program.units * (size + 1)).all()


def setting(topology, group=None, operation="all_reduce", algorithm="auto", size="64MiB"):
    content = {
        "topology": topology,
        "workload": {"kind": "collective", "operation": operation, "algorithm": algorithm,
                     "bytes": size, "group": group},
    }  # fmt: skip
    library = ProgramLibrary(resolve(load_scenario(content)))
    (issue,) = library.resolved.plan.issues
    return library.setting(issue), library.use(issue)


RAILS = {"family": "rail_optimized", "servers": 4, "server": "hgx_h100", "pod": 2,
         "buffer": "64MB", "in_network": True}  # fmt: skip


def names(found, setting):
    return [setting.network().node_names[node] for node in found]


def test_servers_have_stars_and_rails_have_trees():
    made, _ = setting(RAILS | {"server": {"model": "dgx_h100", "scale_up_switches": 4}})
    assert names(star(made, range(8, 16), is_inside=True), made) == [f"nv1.{n}" for n in range(4)]
    assert star(made, range(8, 17), is_inside=True) == []
    (tree,) = trees(made, [3, 11, 19, 27])
    assert names(dict.fromkeys(one for one, _ in tree), made)[1:] == ["leaf0.3", "leaf1.3"]
    assert [child for _, child in tree[-4:]] == [3, 11, 19, 27]
    assert names([tree[0][0]], made)[0].startswith("spine")
    # Ranks of one leaf need no spine.
    (tree,) = trees(made, [3, 11])
    assert names(dict.fromkeys(one for one, _ in tree), made) == ["leaf0.3"]


def test_each_nic_of_a_gpu_has_a_tree():
    made, _ = setting(RAILS | {"server": {"nics": 32, "nic_bandwidth": "100Gbps"}, "pod": None})
    assert [names([tree[0][0]], made)[0] for tree in trees(made, [1, 9])] == [
        "leaf0.4",
        "leaf0.5",
        "leaf0.6",
        "leaf0.7",
    ]


@pytest.mark.parametrize("tiers", [2, 3])
def test_a_tree_joins_all_leaves(tiers):
    clos = {"family": "leaf_spine", "servers": 32, "bandwidth": "100Gbps", "radix": 8,
            "tiers": tiers, "buffer": "64MB", "in_network": True}  # fmt: skip
    made, use = setting(clos, algorithm="sharp")
    (tree,) = trees(made, range(32))
    below = [child for _, child in tree]
    assert len(set(below)) == len(below)  # each node has one way up
    assert set(range(32)) < set(below)
    assert len(use.members) == len(tree) + 1


def test_auto_takes_switches_that_reduce():
    assert setting(RAILS)[1].choice.startswith("sharp")
    assert setting(RAILS, list(range(8)))[1].choice.startswith("nvls")
    # A root's data has no shorter way than that of the switches.
    assert setting(RAILS, list(range(8)), "broadcast")[1].choice.startswith("nvls")
    plain = RAILS | {"server": "dgx_a100", "in_network": False}
    assert "nvls" not in setting(plain, list(range(8)))[1].choice


@pytest.mark.parametrize("size", ["100kB", "1MB", "10MB", "1GB"])
@pytest.mark.parametrize(
    ("operation", "algorithm", "ranks", "parts"),
    [
        ("all_reduce", "nvls", 8, 8),
        ("all_gather", "nvls", 8, 8),
        ("broadcast", "nvls", 3, 1),
        ("all_reduce", "sharp", 32, 8),
        ("reduce_scatter", "sharp", 16, 16),
        ("all_reduce", "dbt", 4, 2),
        ("broadcast", "dbt", 3, 2),
        ("broadcast", "ring", 8, 1),
    ],
)
def test_twice_as_many_segments_gain_at_most_a_percent(operation, algorithm, ranks, parts, size):
    # The estimate of auto, with a given number of segments, is the second way to compute it.
    made, _ = setting(RAILS, list(range(ranks)), operation, algorithm, size)
    segments = ALGORITHMS[algorithm].choose(made)["segments"]

    def time_ps(count):
        given = made.given.model_copy(update={"segments": count})
        return estimated_ps(replace(made, given=given), algorithm)

    gain = 1 - time_ps(2 * segments) / time_ps(segments)
    if gain > 0.01:  # more would be too many, or too small
        assert segments in (256 // made.chunks, max(1, made.chunk_bytes // parts // 8192))
    elif segments > 1 and algorithm in ("nvls", "sharp"):
        assert 1 - time_ps(segments) / time_ps(segments // 2) > 0.01


@pytest.mark.parametrize(
    ("topology", "group", "algorithm", "expected"),
    [
        (RAILS, None, "nvls", "the 32 ranks share no switch that reduces"),
        (
            RAILS | {"in_network": False},
            None,
            "sharp",
            "rank 0 is at no switch between servers that reduces",
        ),
        (RAILS, list(range(8)), "sharp", "the 8 ranks are in one server: expected nvls"),
    ],
)
def test_groups_without_such_switches_are_refused(topology, group, algorithm, expected):
    with pytest.raises(ScenarioError, match=expected):
        setting(topology, group, algorithm=algorithm)
