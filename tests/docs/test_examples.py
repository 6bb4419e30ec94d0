"""Every command that a page or a help text shows as an example runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from frontend import load_scenario, units
from topology_gen import specs

ROOT = Path(__file__).resolve().parent.parent.parent
#: All pages but the tutorial, whose blocks test_tutorial.py runs with a shell.
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name != "tutorial.md"),
]

#: What makes an example short: a regular expression on the command, and what stands there instead.
SHORTER = [
    (r"--seconds \d+", "--seconds 0.5"),
    (r"--n 1024\b", "--n 32"),
    (r"pp: 8, chunks: 5", "pp: 2, chunks: 2"),
    (r"50x50", "5x5"),
    (r"^(search (?!scenarios/llm)(?!.* --over).*)", r"\1 --rounds 1 --budget 10"),
    (r"^(search .* --over .*)", r"\1 --budget 5 --best 1"),
    (r"^(search scenarios/llm.*)", r"\1 --budget 5"),
    (r"^study (astra-ns3-dlrm)$", r"study \1 --figure 13"),
    (r"^study (astra-ns3-dlrm) --fit .*", r"study \1 --fit --help"),  # minutes; test_fit.py has one
    (r"^study (astra-ns3-dlrm) --scale full", r"study \1 --figure 13"),
    (r"^study (tcp-clusters) --scale full", r"study \1 --figure point-to-point"),
    (r"^study (measured-training) --scale full", r"study \1 --figure packets"),
    (r"^study (measured-collectives) --scale full", r"study \1"),
    (r"^study (roce) --scale full", r"study \1 --figure unfairness"),
    (r"^study (schedulers) --scale full", r"study \1"),
    (r"^study (topoopt) --scale full", r"study \1 --figure 10"),
    (r"^study (direct-connect) --scale full", r"study \1 --figure 6"),
    (r" --on ray\S*", ""),  # test_places.py has clusters
    (r"/shared/", "shared/"),
    (r"seed=1,2,[\d,]+", "seed=1,2"),
    (r"jobs_1024.yaml", "jobs_queue_small.yaml"),
    (r"jobs_thousand.yaml --placements 1", "jobs_queue_small.yaml --placements 1"),
    (r"^examples$", "examples copies"),
    (r"mix\.count=[\d,]+", "mix.count=1,2"),
    (r"dims=16x16", "dims=4x4"),
    (r"\$bytes", "1000B"),
    (r"--window 3ms", "--window 0ms"),
    # boxes_small has 12 ranks and switches, which an all-to-all over paths does not accept.
    (r"all-to-all --scenario scenarios/boxes.yaml", "all-to-all --topology ring:n=12"),
]

#: A scenario that stands for one without a small version of its own.
STAND_INS = {
    "moe_switch_base": "moe_small",
    "moe_switch_c": "moe_small",
    "all_reduce": "collective_small",
    "llm_llama3_70b_h100": "llm_llama3_8b_small",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working folder whose scenarios are all small."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    scenarios = tmp_path / "scenarios"
    scenarios.mkdir()
    for file in (ROOT / "scenarios").glob("*"):
        small = file.with_name(f"{STAND_INS.get(file.stem, f'{file.stem}_small')}{file.suffix}")
        (scenarios / file.name).symlink_to(small if small.exists() else file)
    return tmp_path


def examples(page: Path) -> list[str]:
    """Return the cosim commands in the shell blocks of a page, with small sizes."""
    found = []
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if match := re.match(r"\s*(?:\.venv/bin/)?cosim (.*)", line):
                command = shlex.join(shlex.split(match[1], comments=True))
                for pattern, shorter in SHORTER:
                    command = re.sub(pattern, shorter, command)
                found.append(command)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda p: p.name)
def test_examples_of_a_page_run(page: Path, folder: Path) -> None:
    """They run one after the other, so a later one may read what an earlier one wrote."""
    for block in re.findall(r"```json\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        (folder / "job.json").write_text(block, encoding="utf-8")
    for command in examples(page):
        command, _, written = command.partition(f" {shlex.quote('>')} ")
        answer = CliRunner().invoke(main, shlex.split(command))
        assert answer.exit_code == 0, f"cosim {command}\n{answer.stderr}"
        if written:
            (folder / written).write_text(answer.stdout, encoding="utf-8")


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Yield every command below a group with its name."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield " ".join([*path, name]), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


ALL = dict(commands(main))


@pytest.mark.parametrize("name", ALL)
def test_values_in_help_texts_are_accepted(name: str) -> None:
    kinds = {"SIZE": units.SIZE, "TIME": units.TIME, "RATE": units.RATE}
    for parameter in ALL[name].params:
        text = getattr(parameter, "help", None) or ""
        for example in re.findall(r"such as ([^\s;,]+)", text):
            if parameter.metavar in kinds:
                assert units.parse(example.rstrip("."), kinds[parameter.metavar]) > 0
            elif parameter.metavar == "SPEC":
                assert specs.parse(example).nodes > 0
            elif parameter.metavar == "KEY=VALUE":
                load_scenario(ROOT / "scenarios" / "first.yaml", [example])
        if parameter.metavar in kinds and isinstance(parameter.default, str):
            assert units.parse(parameter.default, kinds[parameter.metavar]) > 0


@pytest.mark.parametrize("name", ALL)
def test_commands_in_help_texts_exist(name: str) -> None:
    texts = [ALL[name].help or "", *(getattr(one, "help", "") or "" for one in ALL[name].params)]
    for mention in re.findall(r"`cosim ([a-z -]+)", " ".join(" ".join(texts).split())):
        words = mention.split()
        assert words[0] in ALL
        group = ALL[words[0]]
        assert not isinstance(group, click.Group) or " ".join(words[:2]) in ALL


@pytest.mark.parametrize("family", specs.FAMILIES)
def test_listed_topologies_can_be_shown(family: str) -> None:
    """What `cosim topo list` prints is a SPEC, brackets included."""
    listed = CliRunner().invoke(main, ["topo", "list"], env={"COLUMNS": "200"}).stdout
    (spec,) = re.findall(rf"^({family}:\S+)", listed, re.MULTILINE)
    answer = CliRunner().invoke(main, ["topo", "show", spec])
    assert answer.exit_code == 0, answer.stderr


def test_found_topologies_can_be_shown(folder: Path) -> None:
    listed = CliRunner().invoke(main, ["topo", "find", "--n", "16", "--degree", "4"]).stdout
    found = re.findall(r"^[*\s]*([a-z_]+:\S+)", listed, re.MULTILINE)
    assert found
    for spec in found:
        assert CliRunner().invoke(main, ["topo", "show", spec]).exit_code == 0, spec
