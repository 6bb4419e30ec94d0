"""Files that a scenario names: a scenario from a file reads its own folder, and what is allowed."""

import os
from pathlib import Path
from typing import Any

import pytest

from frontend import ScenarioError, load_scenario
from frontend.schema.direct_connect import DirectConnectTopology
from frontend.schema.files import allow_files
from tests.frontend.chakra_files import Rank, write
from topology_gen import files

EDGES = "[[0, 1], [1, 0]]"
TEXT = """
topology: {{family: direct_connect, graph: {file}, bandwidth: 1Gbps, latency: 1us, buffer: 1MB}}
workload: {{kind: collective, operation: all_reduce, algorithm: {algorithm}, bytes: 1MB}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a scenario, with files inside and outside."""
    folder = tmp_path / "mine"
    (folder / "below").mkdir(parents=True)
    for file in (tmp_path / "out.json", folder / "in.json", folder / "below" / "in.json"):
        file.write_text(EDGES)
    (folder / "link.json").symlink_to(tmp_path / "out.json")
    os.mkfifo(folder / "pipe.json")
    return folder


def load(folder, file, *overrides, algorithm="ring"):
    scenario = folder / "x.yaml"
    scenario.write_text(TEXT.format(file=file, algorithm=algorithm))
    return load_scenario(scenario, overrides)


@pytest.mark.parametrize("file", ["in.json", "below/in.json", "./in.json", "below/../in.json"])
def test_files_in_the_folder(folder, file):
    assert len(load(folder, file).topology.graph) == 2


@pytest.mark.parametrize("file", ["../out.json", "{tmp}/out.json", "link.json", "/etc/passwd"])
def test_files_outside_are_refused_unless_allowed(folder, tmp_path, file):
    name = file.format(tmp=tmp_path)
    sentence = (
        r"x\.yaml:2: topology\.graph: value .*: outside the folder of the scenario: expected "
    )
    with pytest.raises(ScenarioError, match=sentence + r".*--allow-files"):
        load(folder, name)
    if name != "/etc/passwd":
        with allow_files(tmp_path):
            assert len(load(folder, name).topology.graph) == 2
        with pytest.raises(ScenarioError):
            load(folder, name)


def test_the_users_own_repository_came_as_a_whole(folder, tmp_path, monkeypatch):
    """A scenario reads what is in its repository; a home folder that is one stays closed."""
    (tmp_path / ".git").mkdir()
    assert len(load(folder, "../out.json").topology.graph) == 2
    with pytest.raises(ScenarioError, match="outside the folder"):
        load(folder, "/etc/passwd")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ScenarioError, match="outside the folder"):
        load(folder, "../out.json")
    monkeypatch.undo()
    monkeypatch.setattr("os.getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(ScenarioError, match="outside the folder"):
        load(folder, "../out.json")


def test_a_nearer_repository_is_the_border(folder, tmp_path):
    (tmp_path / ".git").mkdir()
    (folder / ".git").write_text("gitdir: ../.git/worktrees/mine")
    with pytest.raises(ScenarioError, match="outside the folder"):
        load(folder, "../out.json")


def test_folders_of_the_environment(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("COSIM_FILES", f"/nowhere{os.pathsep}{tmp_path}")
    assert len(load(folder, "../out.json").topology.graph) == 2
    with pytest.raises(ScenarioError, match=r"COSIM_FILES=/etc\)"):
        load(folder, "/etc/passwd")
    monkeypatch.setenv("COSIM_FILES", "")
    with pytest.raises(ScenarioError, match="outside the folder"):
        load(folder, "../out.json")


NETWORK = """topology: {family: graph, file: net.csv, buffer: 1MB}
workload: {kind: collective, operation: all_reduce, algorithm: ring, bytes: 1MB}
"""


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("gpu0,s,1Gbps,1us,2", "links.0.loss: value 2.0: expected less than 1"),
        ("gpu0,s,fast,1us,0", "links.0.bandwidth: value fast: expected a rate such as 100Gbps"),
        ("gpu0,s,,1us,0", "links.0.bandwidth: expected a bandwidth such as 100Gbps for the link"),
        ("gpu0,s,1Gbps,1us,0", "links: 1 ranks: expected at least 2, nodes with the type rank"),
        ("gpu0,s,1Gbps,1us,0\ngpu1,t,1Gbps,1us,0", "links: there is no path from gpu0 to gpu1"),
    ],
)
def test_a_wrong_value_in_a_file_names_the_file(folder, rows, sentence):
    """The scenario has no such value: the file is to blame, with the place in it."""
    (folder / "net.csv").write_text(f"source,target,bandwidth,latency,loss\n{rows}\n")
    (folder / "x.yaml").write_text(NETWORK)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(folder / "x.yaml")
    start = f"{folder / 'x.yaml'}:1: topology.file: value net.csv: {sentence}"
    assert str(caught.value).startswith(start)


def edges(scenario):
    assert isinstance(scenario.topology, DirectConnectTopology)
    return scenario.topology.graph


def test_what_the_user_names_may_be_anywhere(folder, tmp_path):
    assert len(load(folder, "in.json", f"topology.graph={tmp_path}/out.json").topology.graph) == 2
    data = {
        "topology": {"family": "direct_connect", "graph": str(tmp_path / "out.json")}
        | {"bandwidth": "1Gbps", "latency": "1us", "buffer": "1MB"},
        "workload": {"kind": "collective", "operation": "all_reduce", "algorithm": "ring"}
        | {"bytes": "1MB"},
    }
    assert len(edges(load_scenario(data))) == 2


def test_a_network_file_has_settings_of_its_own(folder):
    """Other keys of `topology` are those of the file, unless the scenario has them."""
    links = "links: [[gpu0, gpu1], {ends: [gpu1, s], latency: 9us}, [s, gpu2]]"
    (folder / "net.yaml").write_text(f"{links}\nforwarding: ranks\nlatency: 2us\nbandwidth: 1Gbps")
    network = NETWORK.replace("net.csv", "net.yaml")
    (folder / "x.yaml").write_text(network.replace("1MB}", "1MB, bandwidth: 2Gbps}", 1))
    topology: Any = load_scenario(folder / "x.yaml").topology
    assert (topology.forwarding, int(topology.bandwidth)) == ("ranks", 2 * 10**9)
    assert int(topology.latency) == 2 * 10**6
    for wrong, sentence in (
        ("speed: 1Gbps", "unknown key 'speed': expected buffer, nodes, links"),
        ("family: ring", "family: value ring: expected graph"),
    ):
        (folder / "net.yaml").write_text(f"{links}\n{wrong}")
        with pytest.raises(ScenarioError, match=sentence):
            load_scenario(folder / "x.yaml")


def test_only_regular_files(folder):
    with pytest.raises(ScenarioError, match="expected a regular file"):
        load(folder, "pipe.json")


def test_algorithm_files(folder):
    with pytest.raises(ScenarioError, match=r"workload\.algorithm\.file: .*outside the folder"):
        load(folder, "in.json", algorithm="{file: ../out.json}")


def test_large_files_are_not_read(folder):
    with (folder / "large.json").open("wb") as file:
        file.truncate(files.MOST_BYTES + 1)  # takes no room on the disk
    with pytest.raises(ScenarioError, match="larger than 256 MiB: expected a readable file"):
        load(folder, "large.json")


def test_files_of_workloads(folder, tmp_path):
    (tmp_path / "out.goal").write_text(
        "num_ranks 2\nrank 0 {\nl1: calc 5\n}\nrank 1 {\nl1: calc 5\n}\n"
    )
    scenario = folder / "x.yaml"
    text = TEXT.format(file="in.json", algorithm="ring").splitlines()
    scenario.write_text("\n".join([*text[:2], "workload: {kind: goal, file: ../out.goal}"]))
    with pytest.raises(
        ScenarioError, match=r"x\.yaml:3: workload\.file: value .*outside the folder"
    ):
        load_scenario(scenario)
    with allow_files(tmp_path):
        assert load_scenario(scenario).only_work.kind.name == "goal"


def test_a_link_to_a_scenario_reads_where_the_scenario_is(folder, tmp_path):
    load(folder, "in.json")
    other = tmp_path / "other"
    other.mkdir()
    for name in ("x.yaml", "in.json"):
        (other / name).symlink_to(folder / name)
    assert len(edges(load_scenario(other / "x.yaml"))) == 2


def test_each_trace_of_a_rank_is_checked(folder, tmp_path):
    """Rank 1's trace is a link that leads out of the folder; the pattern does not show it."""
    write(folder, [Rank() for _ in range(2)])
    (folder / "t.1.et").rename(tmp_path / "t.1.et")
    (folder / "t.1.et").symlink_to(tmp_path / "t.1.et")
    scenario = folder / "x.yaml"
    text = TEXT.format(file="in.json", algorithm="ring").splitlines()
    scenario.write_text("\n".join([*text[:2], 'workload: {kind: chakra, traces: "t.{rank}.et"}']))
    sentence = r"x\.yaml:3: workload\.traces: value .*: .*t\.1\.et: outside the folder"
    with pytest.raises(ScenarioError, match=sentence):
        load_scenario(scenario)
    with allow_files(tmp_path):
        assert load_scenario(scenario).only_work.kind.name == "chakra"
    (folder / "t.1.et").unlink()
    os.mkfifo(folder / "t.1.et")
    with pytest.raises(ScenarioError, match="expected a regular file"):
        load_scenario(scenario)
