"""`cosim results` and labels: what is listed, found by its label, and removed; and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from bridge.cli.main import main
from bridge.errors import InputError
from bridge.results.folders import default_folder, result_folders
from bridge.results.labels import label_of, set_label
from tests.bridge.command_line import invoke


@pytest.fixture
def three(small_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return `results`, with a run and a sweep of two points."""
    monkeypatch.chdir(tmp_path)
    invoke("run", small_file, "--set workload.bytes=4KB")
    invoke("sweep", small_file, "--over topology.ranks=2,4 --jobs 1")
    return tmp_path / "results"


def listed() -> dict[str, dict[str, object]]:
    entries = json.loads(invoke("results list --json").stdout)
    return {one["result"]: one for one in entries}


def test_the_list_has_each_result_once(three: Path) -> None:
    entries = listed()
    assert list(entries) == [
        "small/topology.ranks/topology.ranks=2",
        "small/topology.ranks/topology.ranks=4",
        "small/workload.bytes=4KB",
    ]
    for name, entry in entries.items():
        document = json.loads((three / name / "result.json").read_text())
        [iteration] = document["iterations"]
        assert entry["time_ns"] == pytest.approx(iteration["time_ns"])
        assert entry["status"] == "complete"
    (three / "small/topology.ranks/topology.ranks=2/result.json").write_text("{}")
    assert listed()["small/topology.ranks/topology.ranks=2"]["status"] == "not readable"


def test_a_summary_is_shown_again(three: Path, small_file: Path) -> None:
    first = invoke("run", small_file)
    assert invoke("results show small").stdout == first.stdout
    assert invoke("results show results/small").stdout == first.stdout
    raw = invoke("results show small --json").stdout
    assert raw == (three / "small/result.json").read_text()


def test_a_label_names_a_result_until_it_is_removed(three: Path) -> None:
    point = "small/topology.ranks/topology.ranks=2"
    invoke("results label", point, "two")
    assert listed()[point]["label"] == "two"
    assert invoke("results show two").stdout == invoke("results show", point).stdout
    taken = CliRunner().invoke(main, ["results", "label", "small/workload.bytes=4KB", "two"])
    assert taken.exit_code == 2
    assert f"results/{point} has it" in taken.stderr
    assert CliRunner().invoke(main, ["results", "label", "two", ""]).exit_code == 0
    assert listed()[point]["label"] == ""
    assert CliRunner().invoke(main, ["results", "show", "two"]).exit_code == 2


def test_a_label_outlives_a_new_run(three: Path, small_file: Path) -> None:
    invoke("results label small/workload.bytes=4KB mine")
    invoke("run", small_file, "--set workload.bytes=4KB")
    assert listed()["small/workload.bytes=4KB"]["label"] == "mine"


@given(st.text(max_size=60))
def test_a_label_is_kept_as_it_is_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.mktemp("result")
    try:
        set_label(folder, text)
    except InputError:
        text = ""
    assert label_of(folder) == text


def test_another_file_does_not_stand_for_the_result_beside_it(three: Path) -> None:
    folder = three / "small/workload.bytes=4KB"
    for name in ("notes.yaml", "copy.json"):
        (folder / name).write_bytes((folder / "result.json").read_bytes())
        said = CliRunner().invoke(main, ["results", "remove", f"{folder}/{name}", "--yes"])
        assert said.exit_code == 2
        assert said.stderr == f"cosim: {folder}/{name}: expected a result.json, or its folder\n"
        assert (folder / "result.json").exists()


def test_only_what_a_run_wrote_is_removed(three: Path) -> None:
    sweep, mine = three / "small/topology.ranks", three / "small/topology.ranks/mine.txt"
    mine.write_text("mine")
    invoke("results remove small/topology.ranks --yes")
    assert [path.name for path in sweep.iterdir()] == ["mine.txt"]
    assert list(listed()) == ["small/workload.bytes=4KB"]
    mine.unlink()
    invoke("results label small/workload.bytes=4KB last")
    invoke("results remove last --yes")
    assert result_folders(three) == []
    assert not (three / "small/workload.bytes=4KB").exists()


def test_the_order_of_changes_does_not_matter(small_file: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        sets = ("workload.bytes=4KB", "topology.ranks=4", "outputs.format=csv")
        places = []
        for one in (sets, sets[::-1], ("topology.ranks=8", *sets)):
            ran = invoke("run", small_file, *(f"--set {text}" for text in one))
            places.append(ran.stderr.splitlines()[-1])
        [place] = set(places)
        assert place == ("Result: results/small/topology.ranks=4_workload.bytes=4KB/result.json")


@given(st.lists(st.text(min_size=1, max_size=80), max_size=6))
def test_a_default_folder_is_one_below_the_scenario(changes: list[str]) -> None:
    """Whatever is set, also paths, the folder stays where it belongs, and its name is legal."""
    folder = default_folder("first", [f"a.b={one}" for one in changes])
    assert folder.parts[:2] == ("results", "first")
    assert len(folder.parts) == 2 + bool(changes)
    assert all(len(part.encode()) <= 255 for part in folder.parts)
