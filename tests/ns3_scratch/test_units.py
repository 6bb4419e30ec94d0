"""Run the C++ unit tests, which are next to the code that they test: ns3-scratch/**/*-test.cc."""

import subprocess
from pathlib import Path

import pytest

from tests.build_tree import find_program

ROOT = Path(__file__).parents[2]
SUITES = sorted(
    path.name.removesuffix("-test.cc") for path in (ROOT / "ns3-scratch").rglob("*-test.cc")
)


@pytest.fixture(scope="module")
def program() -> Path:
    """Return the test program."""
    built = find_program("cosim-tests")
    if built is None:
        pytest.fail("the C++ unit tests are not built: run `make cosim-tests`", pytrace=False)
    return built


def call(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


@pytest.mark.parametrize("suite", SUITES)
def test_suite(program: Path, suite: str) -> None:
    done = call(program, f"--suite={suite}", "--verbose", "--stop-on-failure")
    if done.returncode != 0:
        pytest.fail(f"exit code {done.returncode}\n{done.stdout}", pytrace=False)


def test_every_suite_is_named_after_its_file(program: Path) -> None:
    assert sorted(call(program, "--list").stdout.split()) == SUITES
