"""Loading: an error is one sentence with the place, the key, the value and what is accepted."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

import frontend
from frontend import ScenarioError, load_scenario

FLAT = """\
schema_version: 1
name: small
topology:
  family: flat
  ranks: 4
  bandwidth: 100Gbps
  latency: 0.5us
  buffer: 1MB
workload:
  kind: collective
  operation: all_reduce
  algorithm: ring
  bytes: 1MB
"""

HIERARCHICAL = """\
topology:
  family: hierarchical
  ranks: 16
  scale_up: {ranks: 8, switches: 7, bandwidth: 1200Gbps, latency: 0.5us, buffer: 64MB}
  scale_out: {bandwidth: 100Gbps, latency: 0.5us, buffer: 128MB}
workload:
  kind: dlrm
  embedding:
    tables: 16
"""

DIRECT = """\
topology:
  family: direct_connect
  graph: circulant:n=12,offsets=2+3
  bandwidth: 25Gbps
  latency: 1us
  buffer: 1MB
workload:
  kind: collective
  operation: all_reduce
  algorithm: bfb
  bytes: 1MB
"""

MERGED = """\
x-links: &links {bandwidth: 25Gbps, latency: 1us}
x-switch: &switch
  bandwidth: 50Gbps
  buffer: 1MB
topology:
  family: flat
  ranks: 4
  latency: 2us
  <<: [*links, *switch]
workload: {kind: collective, operation: all_reduce, algorithm: ring, bytes: 1MB}
"""

GRAPH = """\
topology:
  family: graph
  links: [[gpu0, s, 100Gbps, 1us], [gpu1, s, 100Gbps, 1us]]
  buffer: 16MB
workload: {kind: collective, operation: all_reduce, algorithm: ring, bytes: 1MB}
"""

RIGHT = {"flat": FLAT, "hierarchical": HIERARCHICAL, "direct": DIRECT, "graph": GRAPH}
SWITCHED = ["flat", "hierarchical", "fat_tree", "cost_equivalent_fat_tree", "topoopt", "ocs"]
SERVERS = [
    "graph",
    "rail_optimized",
    "rail_only",
    "leaf_spine",
    "direct_servers",
    "topoopt_servers",
]
FAMILIES = ", ".join([*SWITCHED, "direct_connect", "boxes", *SERVERS])
SCENARIOS = Path(__file__).parents[2] / "scenarios"
WRONG = YAML(typ="safe").load(Path(__file__).with_name("wrong_scenarios.yaml"))


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a scenario to a file with a short name in the current folder."""
    monkeypatch.chdir(tmp_path)

    def _write(text, encoding="utf-8"):
        Path("x.yaml").write_text(text, encoding=encoding)
        return "x.yaml"

    return _write


@pytest.mark.parametrize("case", WRONG, ids=[case["error"][7:50] for case in WRONG])
def test_wrong_input_is_one_exact_sentence(write, case):
    text = RIGHT[case["in"]]
    replaced = case.get("replace", text)
    assert replaced in text
    with pytest.raises(ScenarioError) as caught:
        load_scenario(write(text.replace(replaced, case["by"], 1)))
    assert str(caught.value) == case["error"].replace("{families}", FAMILIES)


@pytest.mark.parametrize("text", RIGHT.values(), ids=list(RIGHT))
def test_the_texts_that_the_table_breaks_are_right(write, text):
    load_scenario(write(text))


def test_broken_yaml_names_the_line(write):
    with pytest.raises(ScenarioError, match=r"^x\.yaml:2: two keys in one line"):
        load_scenario(write("a: 1\nb: c: d\n"))
    with pytest.raises(ScenarioError, match=r"^x\.yaml:2: the bracket that begins"):
        load_scenario(write("a: 1\nb: [c\n"))


def test_files_that_cannot_be_read(write, tmp_path):
    with pytest.raises(ScenarioError, match=r"^none\.yaml: no such file: expected a scenario"):
        load_scenario("none.yaml")
    with pytest.raises(ScenarioError, match=r": expected a readable YAML file$"):
        load_scenario(tmp_path)
    with pytest.raises(ScenarioError, match=r"^x\.yaml: not UTF-8 text"):
        load_scenario(write("name: ä", encoding="latin-1"))


def test_all_problems_are_kept_and_the_first_is_the_text(write):
    text = FLAT.replace("100Gbps", "fast").replace("ranks: 4", "ranks: 0").replace("name", "nane")
    with pytest.raises(ScenarioError) as caught:
        load_scenario(write(text))
    assert [problem.split(": ")[1] for problem in caught.value.problems] == [
        "nane",
        "topology.ranks",
        "topology.bandwidth",
    ]
    assert str(caught.value) == caught.value.problems[0]


def test_the_text_of_a_scenario_is_no_path():
    with pytest.raises(
        ScenarioError, match=r"^scenario: a text of several lines: expected the path"
    ):
        load_scenario(FLAT)


def test_a_dict_has_no_file_to_name():
    with pytest.raises(ScenarioError) as caught:
        load_scenario({"topology": 3, "workload": {"kind": "dlrm"}})
    assert str(caught.value).startswith(
        "topology: value 3: expected a mapping with the keys family"
    )


def test_file_dict_and_scenario_give_the_same(write):
    scenario = load_scenario(write(FLAT))
    assert load_scenario(scenario) == scenario
    assert load_scenario(scenario.resolved()) == scenario
    assert load_scenario(Path("x.yaml")) == scenario


def test_scenario_error_is_a_value_error():
    assert issubclass(frontend.ScenarioError, ValueError)


@pytest.mark.parametrize("source", [None, 5, ["a.yaml"]])
def test_what_is_no_scenario(source):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(source)
    assert str(caught.value) == (
        f"scenario: {source!r}: expected the path of a YAML file, its content as a mapping, or a "
        "Scenario"
    )


def test_network_without_a_workload(write):
    file = write(FLAT[: FLAT.index("workload:")])
    assert frontend.load_network(file).resolved()["topology"]["ranks"] == 4
    with pytest.raises(ScenarioError, match="workload"):
        load_scenario(file)
    # A workload that is there is checked.
    with pytest.raises(ScenarioError, match=r"workload\.bytes"):
        frontend.load_network(write(FLAT.replace("1MB\n", "-1\n")), ["workload.bytes=-1"])


def test_merge_keys(tmp_path: Path) -> None:
    """The mapping's own keys win over merged ones, and the first merged mapping over the next."""
    file = tmp_path / "x.yaml"
    file.write_text(MERGED)
    topology = load_scenario(file).resolved()["topology"]
    values = {"bandwidth": "25Gbps", "latency": "2us", "buffer": "1MB", "in_network": False}
    assert topology == {"family": "flat", "ranks": 4} | values


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("25Gbps", "fast", "x.yaml:1: topology.bandwidth: value fast: expected a rate"),
        ("buffer: 1MB", "buffer: 1Mb", "x.yaml:4: topology.buffer: value 1Mb: expected a size"),
        ("latency: 2us", "latency: 2", "x.yaml:8: topology.latency: value 2: expected a time"),
        (
            "[*links, *switch]",
            "[*links, 3]",
            "x.yaml:9: topology.<<: expected a mapping",
        ),
        ("x-switch: &switch", "y-switch: &switch", "x.yaml:2: y-switch: unknown key"),
        ("&links {", "&links {<<: *links, ", "x.yaml:1: x-links: expected a finite document"),
    ],
)
def test_errors_in_merged_values_name_their_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_text(MERGED.replace(old, new))
    with pytest.raises(ScenarioError) as caught:
        load_scenario("x.yaml")
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("text", ["[" * 5000, '{"a":' * 5000, "a: " + "[" * 5000 + "]" * 5000])
def test_deep_nesting_is_one_sentence(tmp_path, text):
    file = tmp_path / "x.yaml"
    file.write_text(text)
    with pytest.raises(ScenarioError, match=r"x\.yaml:1: expected YAML \(more than 50 levels\)$"):
        load_scenario(file)


def test_deep_nesting_in_python_is_one_sentence():
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(ScenarioError, match=r"expected fewer levels$"):
        load_scenario({"topology": deep})


def test_a_number_of_thousands_of_digits():
    with pytest.raises(ScenarioError, match=r"transport\.mss: value of thousands of digits: "):
        load_scenario(SCENARIOS / "first.yaml", {"transport.mss": 16**5000})
