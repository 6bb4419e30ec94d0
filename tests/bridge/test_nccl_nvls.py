"""All-reduces of `nccl` in NVSwitches: when NCCL takes them, and their times on real machines."""

from __future__ import annotations

from typing import Any

import pytest

import bridge
from frontend.collectives import check, problems
from frontend.compiler.programs import ProgramLibrary
from frontend.resolve import resolve
from tests.bridge.nccl_clusters import all_reduce

GIB = 2**30


def scenario(
    size: int, servers: int = 1, fabric: str = "analytical", workload: dict[str, Any] | None = None,
    **server: Any,
) -> Any:  # fmt: skip
    own = {"model": "hgx_h200", "scale_up_switches": 1} | server
    changes = {"fabric": fabric}
    if fabric == "express":
        changes["transport.window"] = "64MiB"
    return all_reduce(size, servers, own, changes=changes, workload=workload)


def choice(**given: Any) -> str:
    library = ProgramLibrary(resolve(scenario(**given)))
    (issue,) = library.resolved.plan.issues
    return (library.use(issue).choice or "").split(",")[0]


@pytest.mark.parametrize(("gpus", "taken"), [(4, "RING"), (5, "NVLS"), (6, "NVLS"), (7, "NVLS")])
def test_nccl_takes_nvls_from_five_h200_on(gpus: int, taken: str) -> None:
    """As on the H200 of stas00/ml-engineering (744d01e), network/README.md."""
    assert choice(size=8 * GIB, gpus=gpus, nics=gpus) == f"Algo {taken} proto SIMPLE"


def test_nccl_takes_nvls_from_two_mebibytes_on() -> None:
    """As `NCCL_DEBUG` on 8 H200 prints it; see the same page."""
    assert choice(size=2**20) == "Algo RING proto LL"
    assert choice(size=2**21) == "Algo NVLS proto SIMPLE"
    assert choice(size=2**21, in_network=False) == "Algo RING proto LL"


@pytest.mark.parametrize(
    ("model", "size", "measured"),
    [("hgx_h200", 8 * GIB, 31485), ("hgx_h200", 16 * GIB, 62341), ("hgx_b200", 16 * GIB, 35551)],
)
def test_large_sizes_take_what_was_measured(model: str, size: int, measured: float) -> None:
    """Eight GPUs, times in µs of stas00/ml-engineering (744d01e), network/README.md."""
    time = bridge.run(scenario(size, model=model)).time_ns / 1e3
    assert time == pytest.approx(measured, rel=0.031)


@pytest.mark.parametrize(
    ("mebibytes", "measured"),
    [(16, 123.8), (64, 324.7), (256, 1112.5), (512, 2151), (1024, 4029.4), (4096, 15749)],
)
def test_smaller_chunks_take_longer(mebibytes: int, measured: float) -> None:
    """One DGX H100, times in µs of NVIDIA/dgxc-benchmarking, nccl/README.md: of 1 GiB on, chunks
    have 128 KiB, and 64 below."""
    time = bridge.run(scenario(mebibytes * 2**20, model="dgx_h100")).time_ns / 1e3
    assert time == pytest.approx(measured, rel=0.04)


def test_a_rack_of_72_gpus_has_32_heads() -> None:
    """Each GPU moves all data, and each head a 32nd part more, at 74 % of NCCL's NVLink."""
    times = [bridge.run(all_reduce(size * GIB, 1, "gb200_nvl72")).time_ns / 1e3 for size in (8, 12)]
    rate = 7200e3 / 8 * 40.1 / 50 * 0.74  # bytes in a µs
    assert times[1] - times[0] == pytest.approx(4 * GIB * (1 + 1 / 32) / rate, rel=0.008)


def test_two_servers_join_by_trees() -> None:
    """2 × 8 H200 with 400 Gb/s (nebius/ml-cookbook, runai/README.md): 67.4 ms for 16 GiB."""
    result = bridge.run(scenario(16 * GIB, servers=2))
    assert result.collectives[0].choice.startswith("Algo NVLS_TREE proto SIMPLE")
    assert result.time_ns / 1e6 == pytest.approx(67.369, rel=0.055)
    # Each server has a NIC for each GPU, or trees would need other heads.
    assert not choice(size=GIB, servers=2, nics=4).startswith("Algo NVLS")


def test_trees_on_many_servers_are_as_fast_for_large_sizes() -> None:
    """The chunks on their way through a tree keep the NICs busy, however long they take."""
    rates = [
        size / bridge.run(scenario(size * GIB, servers, model="p5", nics=8)).time_ns
        for servers, size in ((4, 2), (4, 8), (16, 2), (16, 8))
    ]
    assert rates[0] < rates[1]
    assert rates[2] < rates[3]
    assert rates[3] > 0.9 * rates[1]


@pytest.mark.parametrize(("servers", "switches"), [(1, 1), (1, 2), (3, 1), (4, 2)])
def test_programs_compute_the_sum(servers: int, switches: int) -> None:
    given = scenario(2**28, servers, scale_up_switches=switches, workload={"segments": 3})
    library = ProgramLibrary(resolve(given))
    (issue,) = library.resolved.plan.issues
    use = library.use(issue)
    program = library.programs[use.program].table()
    assert problems(program) == []
    check(program)
    assert "NVLS" in (use.choice or "")
    assert use.members is not None
    assert len(use.members) == servers * (8 + switches)
    assert program.protocol is not None
    assert program.protocol.near_from == servers * 8


@pytest.mark.parametrize(("servers", "size", "fabric"), [(1, 2**23, "express"), (2, 2**26, "flow")])
def test_other_fabrics_take_as_long_as_the_estimate(servers: int, size: int, fabric: str) -> None:
    times = [bridge.run(scenario(size, servers, one)).time_ns for one in (fabric, "analytical")]
    assert times[0] == pytest.approx(times[1], rel=0.08)
