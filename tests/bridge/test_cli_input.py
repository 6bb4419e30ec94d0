"""Bad input: exit status 2, one sentence on stderr, no traceback, no files left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.cli.main import main


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("topology.ranks=0", "topology.ranks"),
        ("topology.rank=4", "topology.ranks"),  # the nearest key
        ("topology.bandwidth=100Gb/h", "topology.bandwidth"),
        ("topology.latency=-1us", "topology.latency"),
        ("workload.algorithm=rings", "workload.algorithm"),
        ("topology", "expected key.path=value"),
        ("links.mtu=100000B", "links.mtu"),
    ],
)
@pytest.mark.parametrize("command", ["run", "validate", "compile"])
def test_bad_override(
    small_file: Path,
    command: str,
    override: str,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(small_file.parent)
    output = ["-o", "x.stream"] if command == "compile" else []
    answer = CliRunner().invoke(main, [command, str(small_file), "--set", override, *output])
    assert answer.exit_code == 2
    assert sentence in answer.stderr
    assert answer.stderr.startswith("cosim: ")
    assert "Traceback" not in answer.stderr
    assert answer.stdout == ""
    assert os.listdir(small_file.parent) == [small_file.name]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run"], "missing argument"),
        (["run", "missing.yaml"], "no such file or folder"),
        (["run", "."], "a folder, expected a file"),
        (["replay", "missing.stream"], "no such file or folder"),
        (["plot", "missing.json", "-o", "x.svg"], "no such file or folder"),
        (["simulate"], "unknown command"),
        (["schema", "stream"], "expected one of"),
        (["plot", "small.yaml"], "missing option -o"),
        (["run", "small.yaml", "--seed", "-1"], "--seed -1: seed: value -1: expected at least 1"),
        (["validate", "empty.yaml"], "empty.yaml"),
        (["validate", "broken.yaml"], "broken.yaml"),
        (["run", "tagged.yaml"], "tagged.yaml"),
        (["replay", "small.yaml"], "small.yaml: not a stream"),
        (["plot", "small.yaml", "-o", "x.svg"], "schema_version is None"),
        (["compile", "small.yaml", "-o", "missing/x.stream"], "missing/x.stream"),
        (["run", "small.yaml", "--out", "small.yaml"], "not a folder"),
        (["run", "small.yaml", "--out", "small.yaml/below"], "small.yaml/below"),
        (
            ["run", "small.yaml", "--set", "hooks=missing.py", "--allow-hooks"],
            "missing.py: no such file",
        ),
        (
            ["run", "small.yaml", "--set", "hooks=h.py"],
            "h.py: a hook is a program, expected the option --allow-hooks",
        ),
        (["sweep", "small.yaml", "--set", "hooks=h.py", "--over", "seed=1"], "--allow-hooks"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_arguments(
    small_file: Path, arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_file.parent)
    Path("empty.yaml").touch()
    Path("broken.yaml").write_text("a: [1\nb: {")
    # Loading YAML must never run anything.
    Path("tagged.yaml").write_text('!!python/object/apply:os.system ["touch surprise"]\n')
    before = sorted(os.listdir())
    answer = CliRunner().invoke(main, arguments)
    assert answer.exit_code == 2, answer.output
    assert sentence in answer.stderr
    assert "Traceback" not in answer.stderr
    assert answer.stdout == ""
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run"], "missing argument FILE; see cosim run --help"),
        (["simulate"], "simulate: unknown command; see cosim --help"),
        (["rum"], "rum: unknown command: did you mean run? See cosim --help"),
        (
            ["topo", "show", "ring:n=4", "--depth", "3"],
            "--depth: unknown option: did you mean --set? See cosim topo show --help",
        ),
        (
            ["sweep", "small.yaml", "--over", "seed=1", "--jobs", "0"],
            "--jobs: value 0: expected a number with x>=1; see cosim sweep --help",
        ),
        (
            ["run", "small.yaml", "--seed", "abc"],
            "--seed: value abc: expected a whole number; see cosim run --help",
        ),
        (["run", "none.yaml"], "FILE: value none.yaml: no such file or folder; see cosim run"),
        (["run", "."], "FILE: value .: a folder, expected a file; see cosim run --help"),
        (
            ["compile", "small.yaml", "--format", "x"],
            "--format: value x: expected one of stream, goal, chakra; see cosim compile --help",
        ),
    ],
)
def test_wrong_options_are_one_sentence(
    small_file: Path, arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_file.parent)
    answer = CliRunner().invoke(main, arguments)
    assert answer.exit_code == 2
    assert answer.stderr.startswith(f"cosim: {sentence}")
    assert answer.stderr.count("\n") == 1


def test_a_result_is_a_scenario(small_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulating `result.json` again gives the same result, in the same folder."""
    monkeypatch.chdir(small_file.parent)
    first = CliRunner().invoke(main, ["run", str(small_file), "--set", "workload.bytes=4KB"])
    assert first.exit_code == 0
    again = CliRunner().invoke(main, ["run", "results/small/result.json"])
    assert again.stderr == "Result: results/small/result.json\n"
    assert again.stdout.splitlines()[0] == first.stdout.splitlines()[0]
    changed = ["validate", "results/small/result.json", "--set", "topology.ranks=1"]
    answer = CliRunner().invoke(main, changed)
    assert answer.stderr.startswith("cosim: --set topology.ranks=1: topology.ranks: value 1: ")


@pytest.mark.usefixtures("without_core")
def test_compiled_part_missing(small_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small_file.parent)
    answer = CliRunner().invoke(main, ["run", str(small_file)])
    assert answer.exit_code == 2
    assert answer.stderr == (
        "cosim: the compiled module bridge._core is missing: "
        "did you forget to build? (`make setup`)\n"
    )
    assert os.listdir() == [small_file.name]
    # What only reads scenarios works without it.
    assert CliRunner().invoke(main, ["validate", str(small_file)]).exit_code == 0


def test_unwritable_folder(small_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whoever runs the tests as root can write anywhere but here.
    monkeypatch.chdir(small_file.parent)
    answer = CliRunner().invoke(main, ["run", str(small_file), "--out", "/proc/results"])
    assert answer.exit_code == 2
    assert "/proc/results" in answer.stderr


@pytest.mark.parametrize("command", ["run", "validate", "compile"])
def test_a_limit_is_told_with_the_file(command: str, repository: Path) -> None:
    """The check of the collectives comes after loading, and names the file all the same."""
    file = repository / "scenarios" / "collective_small.yaml"
    changes = ["topology.ranks=65536", "topology.buffer=unlimited", "fabric=analytical"]
    changes += ["workload.operation=all_to_all", "workload.algorithm=relay"]
    options = [part for change in changes for part in ("--set", change)]
    done = CliRunner().invoke(main, [command, str(file), *options])
    assert done.exit_code == 2
    place = (
        f"{file}: workload.algorithm: value relay: all_to_all: 4294901761 steps of each of 65536"
    )
    assert place in done.output
    assert "expected fewer ranks (topology.ranks)" in done.output
