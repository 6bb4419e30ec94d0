"""``cosim study``: reports, choice of figures, resumption and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bridge.cli.main import main
from bridge.cli.runs.study import study_command, study_group
from bridge.studies.framework import picture
from bridge.studies.framework.figure import Chart, Panel
from bridge.studies.framework.model import Study, all_points
from bridge.studies.registry import STUDIES


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that runs a study's command, by the whole command line."""
    monkeypatch.chdir(tmp_path)

    def run(study: Study, *arguments: str) -> Result:
        monkeypatch.setitem(study_group.commands, study.name, study_command(study))
        return CliRunner().invoke(main, ["study", study.name, *arguments])

    return run


def test_report_page_and_pictures(command, study: Study, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    answer = command(study, "--page", "docs/tiny.md", "--jobs", "1")
    assert answer.exit_code == 0, answer.output
    assert "Experiment 1" in answer.stdout
    assert "\\n" not in answer.stdout, "a claim and its numbers are lines of one cell"
    # Both experiments have the same points: they run once.
    assert answer.stderr.count("[") == 2
    folder = tmp_path / "results" / "tiny-small"
    page = (tmp_path / "docs" / "tiny.md").read_text()
    assert page.startswith("# A tiny study\n\nWhat it is.\n")
    assert "![Times](tiny/figure-2.svg)" in page
    assert "| 1 | More \\| takes longer. |  | so it is |  |  | yes |  |" in page
    assert page.replace("tiny/", "report/") == (folder / "report.md").read_text()
    for name in ("tiny/figure-1.svg", "tiny/figure-2.svg"):
        assert (tmp_path / "docs" / name).read_text().startswith("<?xml")
    document = json.loads((folder / "study.json").read_text())
    assert [one["figures"] for one in document["experiments"]] == [["1"], ["2"]]
    point = document["experiments"][0]["points"][0]
    assert (point["point"], point["error"]) == ("4KB", None)
    statement = document["experiments"][0]["statements"][0]
    assert statement["ratio"] == pytest.approx(statement["ours"] / 1.1)


def test_resumption_and_json(command, study: Study) -> None:
    first = command(study, "--json")
    again = command(study, "--json")
    assert first.exit_code == 0, first.output
    assert json.loads(first.stdout) == json.loads(again.stdout), "CPU times are those of old runs"
    assert command(study).stderr.count("as before") == 2


def test_one_figure(command, study: Study) -> None:
    answer = command(study, "--figure", "2", "--json")
    (experiment,) = json.loads(answer.stdout)["experiments"]
    assert experiment["figures"] == ["2"]


def test_without_matplotlib(command, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "can_draw", lambda: False)
    answer = command(study, "--page", "page.md")
    assert answer.exit_code == 0
    assert answer.stderr.count("cosim: no pictures: matplotlib is not installed") == 1
    assert "![" not in Path("page.md").read_text()


def test_failed_points_are_told(command, failing_study: Study) -> None:
    answer = command(failing_study)
    assert answer.exit_code == 1
    assert "2 points failed, the first of them 4KB" in answer.stderr
    assert "4KB failed: " in Path("results/late-small/report.md").read_text()


def test_interruption(command, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: object, outcome: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bridge.cli.runs.points.Counter.__call__", stop)
    answer = command(study)
    assert answer.exit_code == 130
    assert "the same command continues" in answer.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--figure", "17"),
        ("--scale", "huge"),
        ("--jobs", "0"),
        ("--out", "/dev/null/x"),
        ("--page", "/dev/null/x/page.md"),
    ],
)
def test_bad_input(command, study: Study, arguments: tuple[str, str]) -> None:
    answer = command(study, *arguments)
    assert answer.exit_code == 2, answer.output
    assert answer.stdout == ""
    assert not Path("results/tiny-small/points").exists()


def test_scenarios_have_to_be_there(tmp_path: Path) -> None:
    name = next(iter(STUDIES))
    arguments = ["study", name, "--scenarios", str(tmp_path), "--out", str(tmp_path / "out")]
    answer = CliRunner().invoke(main, arguments)
    assert answer.exit_code == 2
    assert "no such file" in answer.stderr


def test_list_and_unknown_study() -> None:
    answer = CliRunner().invoke(main, ["study", "list"])
    assert all(name in answer.stdout for name in STUDIES)
    assert CliRunner().invoke(main, ["study", "nothing"]).exit_code == 2


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        # TopoOpt's topologies of the full scale take a third of a minute.
        pytest.param(name, scale, marks=[pytest.mark.long] * ((name, scale) == ("topoopt", "full")))
        for name in STUDIES
        for scale in ("small", "full")
    ],
)
def test_points_of_one_name_are_one_scenario(name: str, scale, scenarios: Path) -> None:
    study = STUDIES[name]
    points = all_points(study.experiments, scenarios, scale)
    assert len(points) == len({point.name for point in points})
    assert len(study.figures) == len(set(study.figures))


@pytest.mark.parametrize("kind", ["bars", "stacked", "lines"])
def test_pictures_are_the_same_twice(kind, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    panel = Panel("y", {"a": [1, None, 0], "b": [2, 30, 4]}, kind=kind, logarithmic=True)
    chart = Chart("1", "title", ["x", "y", "z"], [panel, panel])
    for name in ("a.svg", "b.svg"):
        picture.draw(chart, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_the_page_is_of_this_study(repository: Path) -> None:
    text = (repository / "docs" / "reproduction.md").read_text(encoding="utf-8")
    study = STUDIES["astra-ns3-dlrm"]
    assert text.startswith(f"# {study.title}\n\n{study.introduction.strip()}"), "make reproduce"
    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert headings
    assert set(headings) <= {experiment.title for experiment in study.experiments}
