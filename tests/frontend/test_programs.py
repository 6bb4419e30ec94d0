"""Programs, chunks and segments of a scenario's collectives."""

from math import inf, prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend import ScenarioError, collectives, load_scenario, validate_scenario
from frontend.collectives import registry
from frontend.collectives.registry import segments_of
from frontend.compiler import programs
from frontend.compiler.programs import ProgramLibrary
from frontend.resolve import resolve

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def library(name, **overrides):
    overrides = {key.replace("__", "."): value for key, value in overrides.items()}
    scenario = load_scenario(SCENARIOS / f"{name}.yaml", overrides)
    result = ProgramLibrary(resolve(scenario))
    return result, [result.use(issue) for issue in result.resolved.plan.issues]


def test_equal_collectives_share_a_program():
    result, uses = library("dlrm_hier")
    # Two iterations of 21 collectives (2 all-to-alls, 19 all-reduces) share two programs.
    assert len(uses) == 2 * (2 + 19)
    used = sorted({use.program for use in uses})
    assert [result.programs[number].operation for number in used] == ["all_to_all", "all_reduce"]
    # The programs of their pieces, which come before them, are there once.
    assert len({id(program) for program in result.programs}) == len(result.programs)


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [(1, 1), (1024, 1024), (1_048_576, 1_000_000)],  # of 1 MB: no chunk is empty
)
def test_chunks(chunks, expected):
    _, (use,) = library("collective_small", system__chunks=chunks)
    assert use.chunks == expected


ALGORITHMS = {"all_reduce": "ring", "all_to_all": "halving_doubling"}
LARGEST = {"topology__ranks": 65536, "topology__buffer": "unlimited", "fabric": "analytical"}


@pytest.mark.parametrize("algorithm", ["ring", "direct", "multi_ring", "nccl"])
@pytest.mark.parametrize(
    ("operation", "steps", "other"),
    [
        ("all_reduce", 4 * 65535, "dbt or halving_doubling"),
        ("all_gather", 2 * 65535, "halving_doubling"),
    ],
)
def test_more_steps_than_can_be_numbered(algorithm, operation, steps, other):
    steps += algorithm == "direct" and operation == "all_reduce"  # the COPY that joins both parts
    changes = {"workload.algorithm": algorithm, "workload.operation": operation}
    changes |= {key.replace("__", "."): value for key, value in LARGEST.items()}
    scenario = load_scenario(SCENARIOS / "collective_small.yaml", changes)
    with pytest.raises(ScenarioError) as error:
        validate_scenario(scenario)
    assert str(error.value) == (
        f"workload.algorithm: value {algorithm}: {operation}: {steps} steps of each of 65536 "
        f"ranks need {65536 * steps} numbers, and the simulator has 4294967295: expected fewer "
        f"ranks (topology.ranks), or another algorithm, such as {other}"
    )


def test_every_other_user_of_a_ring_names_its_key(monkeypatch):
    # Eight ranks have 28 steps each in a ring, and fewer in Bruck's all-to-all.
    monkeypatch.setattr(registry, "MOST_STEPS", 8 * 28 - 1)
    changes = {"topology.ranks": 8, "workload.embedding.tables": 8, "collective": ALGORITHMS}
    scenario = load_scenario(SCENARIOS / "dlrm_flat100.yaml", changes)
    with pytest.raises(ScenarioError, match=r"^collective\.all_reduce: value ring: .* or another "):
        validate_scenario(scenario)


def test_a_ring_that_is_refused_when_it_is_built_is_refused_before():
    # The most ranks whose 4 (N - 1) steps have numbers of 32 bits, with a power of two for a rank.
    for ranks, fits in ((32768, True), (32769, False)):
        changes = {**LARGEST, "topology__ranks": ranks, "workload__algorithm": "ring"}
        if fits:
            made, _ = library("collective_small", **changes)
            assert made.programs[0].steps == ranks * 4 * (ranks - 1)
        else:
            with pytest.raises(ScenarioError, match="steps"):
                library("collective_small", **changes)


LIMITED = [
    *("ring", "direct", "multi_ring", "relay", "halving_doubling", "dbt"),
    {"levels": [{"size": 6, "algorithm": "ring"}]},
    {"levels": [{"size": 2, "algorithm": "direct"}, {"size": 8, "algorithm": "ring"}]},
    {
        "levels": [{"size": 8, "algorithm": "ring"}, {"size": 2, "algorithm": "ring"}],
        "shards": True,
    },
    {"levels": [{"size": 2, "algorithm": "relay"}, {"size": 6, "algorithm": "relay"}]},
]


@pytest.mark.parametrize("algorithm", LIMITED, ids=str)
@pytest.mark.parametrize("operation", ["all_reduce", "all_gather", "all_to_all"])
def test_validation_refuses_what_cannot_be_numbered(algorithm, operation, monkeypatch):
    """With any limit, the check and the program that is built agree."""
    monkeypatch.setattr(programs, "_require_fitting", lambda algorithm, setting: None)
    if isinstance(algorithm, str):
        if operation not in collectives.ALGORITHMS[algorithm].operations:
            return
        sizes: tuple[int, ...] = (2, 3, 6, 8, 13, 16)
    else:
        sizes = (prod(level["size"] for level in algorithm["levels"]),)
    for ranks in sizes:
        changes = {"topology.ranks": ranks, "workload.operation": operation}
        changes |= {"workload.algorithm": algorithm, "workload.segments": 5}
        scenario = load_scenario(SCENARIOS / "collective_small.yaml", changes)
        for limit in (*(2**bits - 1 for bits in range(3, 14)), 300, 700, 1100):
            monkeypatch.setattr(registry, "MOST_STEPS", limit)
            verdicts = []
            for judge in (ProgramLibrary.check, ProgramLibrary.use):
                made = ProgramLibrary(resolve(scenario))
                try:
                    for issue in made.resolved.plan.issues:
                        judge(made, issue)
                    verdicts.append(True)
                except ScenarioError:
                    verdicts.append(False)
            assert verdicts[0] == verdicts[1], (ranks, limit)


TOO_LARGE = [
    ("all_to_all", "relay", {}, "281470681808896 numbers"),
    ("all_to_all", "halving_doubling", {}, "4294967296 numbers"),
    ("all_gather", "dbt", {}, "17179607040 steps, and cosim writes at most 16777216"),
    ("broadcast", "dbt", {"workload.bytes": "1GB"}, "fewer ranks (topology.ranks) or segments, or"),
    ("broadcast", "ring", {"workload.bytes": "1GB"}, "33553920 steps, and cosim writes at most"),
    ("broadcast", "auto", {"workload.bytes": "1GB"}, "auto chooses dbt: the program has 67107840"),
    ("all_to_all", "direct", {"workload.peer_order": "same"}, "cosim writes at most 33554432"),
]


@pytest.mark.parametrize(("operation", "algorithm", "changes", "sentence"), TOO_LARGE)
def test_validation_refuses_what_does_not_fit_into_memory(operation, algorithm, changes, sentence):
    changes = {key.replace("__", "."): value for key, value in LARGEST.items()} | changes
    changes |= {"workload.operation": operation, "workload.algorithm": algorithm}
    with pytest.raises(ScenarioError) as caught:
        validate_scenario(load_scenario(SCENARIOS / "collective_small.yaml", changes))
    assert str(caught.value).startswith(f"workload.algorithm: value {algorithm}: {operation}: ")
    assert sentence in str(caught.value)


def test_the_numbers_of_a_refusal_are_those_that_are_compared():
    """32769 ranks count as 65536, and 65536 · 65536 is more than 2³² - 1."""
    changes = {"topology.ranks": 32769, "topology.buffer": "unlimited", "fabric": "analytical"}
    changes |= {"workload.operation": "all_gather", "workload.algorithm": "ring"}
    scenario = load_scenario(SCENARIOS / "collective_small.yaml", changes)
    sentence = (
        r"65536 steps of each of 32769 ranks \(65536 for a power of two\) need 4294967296 num"
    )
    with pytest.raises(ScenarioError, match=sentence):
        validate_scenario(scenario)


def test_a_level_that_is_refused_is_named():
    """The level is wrong, and not an algorithm `hierarchical` that the scenario does not name."""
    changes = {"topology.ranks": 65536, "topology.buffer": "unlimited", "fabric": "analytical"}
    changes |= {"workload.operation": "all_reduce"}
    levels: list[dict[str, object]] = [{"size": 2}, {"size": 32768, "algorithm": "direct"}]
    fits = changes | {"workload.algorithm": {"levels": levels}}
    validate_scenario(load_scenario(SCENARIOS / "collective_small.yaml", fits))
    wrong = changes | {"workload.algorithm": {"levels": [{"size": 65536, "algorithm": "ring"}]}}
    place = r"^workload\.algorithm\.levels\.0\.algorithm: value ring: all_reduce: 262140 steps"
    with pytest.raises(ScenarioError, match=place):
        validate_scenario(load_scenario(SCENARIOS / "collective_small.yaml", wrong))


@pytest.mark.parametrize(
    ("segments", "chunks", "chunk_bytes", "filling", "expected"),
    [
        (5, 1, 10**9, 0, 5),  # as given
        ("auto", 1, 8_000_000, 7, 256),
        ("auto", 16, 8_000_000, 7, 16),  # chunks × segments = 256
        ("auto", 1024, 8192, 7, 1),
        ("auto", 1, 160_000, 7, 9),  # two trees of 80 000 bytes in segments of at least 8 KiB
        ("auto", 1, 100, 7, 1),
        ("auto", 1, 10**9, 0, 1),  # nothing to fill
        ("auto", 1, 10**9, 0.5, 32),  # 1 + 0.5 / 32 = 1.016; 0.8 % less with 64
    ],
)
def test_segments(segments, chunks, chunk_bytes, filling, expected):
    assert segments_of(segments, chunks, chunk_bytes, filling=filling) == expected


@given(st.integers(1, 512), st.integers(1, 2**34), st.integers(1, 64), st.floats(0, 50))
def test_twice_as_many_segments_gain_little(chunks, size, trees, filling):
    def gain(segments):
        """Return what twice as many segments gain, over the time with so many."""
        time = 1 + filling / (chunks * segments)
        return (time - 1 - filling / (chunks * 2 * segments)) / time

    count = segments_of("auto", chunks, size, trees, filling=filling)
    most = segments_of("auto", chunks, size, trees, filling=inf)
    assert count == most or gain(count) <= 0.01 + 1e-12
    before = 2 ** ((count - 1).bit_length() - 1) if count > 1 else 0  # the last power of two
    assert not before or gain(before) > 0.01 - 1e-12
    assert count * chunks <= max(256, chunks)


def test_only_random_peer_orders_depend_on_the_seed():
    def peers(order, seed):
        result, _ = library("collective_small", workload__peer_order=order, seed=seed)
        return result.programs[0].table().peer.tolist()

    assert peers("rotated", 1) == peers("rotated", 2)
    assert peers("random", 1) != peers("random", 2)
    assert peers("random", 1) == peers("random", 1)


FLAT = [
    (operation, algorithm)
    for operation, names in collectives.algorithm_names().items()
    for algorithm in names
    if not collectives.ALGORITHMS[algorithm].needs
]


@pytest.mark.parametrize(("operation", "algorithm"), FLAT)
def test_every_flat_algorithm_is_reached_from_a_scenario(operation, algorithm):
    data = {"workload__bytes": None} if operation == "barrier" else {}
    result, _ = library(
        "collective_small", workload__operation=operation, workload__algorithm=algorithm, **data
    )
    (program,) = result.programs
    assert (program.operation, program.group_size) == (operation, 16)


@pytest.mark.parametrize("scale_up", ["direct", "ring", "dbt", "halving_doubling"])
@pytest.mark.parametrize("scale_out", ["direct", "ring", "dbt", "halving_doubling"])
@pytest.mark.parametrize("all_reduce", ["hierarchical", "hierarchical_optimal"])
def test_every_hierarchical_combination_is_reached(all_reduce, scale_up, scale_out):
    result, uses = library(
        "dlrm_hier_small",
        collective__all_reduce=all_reduce,
        collective__scale_up_algorithm=scale_up,
        collective__scale_out_algorithm=scale_out,
    )
    for program in (result.programs[use.program] for use in uses):
        assert set(program.phase_dimension) == {"scale_up", "scale_out"}


def test_what_collectives_refuse_is_a_scenario_error(monkeypatch):
    def refuse(*arguments, **options):
        raise collectives.CollectiveError("not for 16 ranks")

    monkeypatch.setattr(collectives.Algorithm, "build", refuse)
    with pytest.raises(
        ScenarioError, match=r"^workload.algorithm: value direct: all_reduce: not for 16 "
    ):
        library("collective_small")
