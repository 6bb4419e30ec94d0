"""All-reduces of `nccl` on switches between servers that add up (CollNet): choice and times."""

from __future__ import annotations

from typing import Any

import pytest

import bridge
from frontend.collectives import check, problems
from frontend.collectives.nccl_collnet_tuner import (
    collnet_bandwidth,
    collnet_candidates,
    collnet_latency_us,
)
from frontend.collectives.nccl_plugins import Plugin
from frontend.collectives.nccl_tuner import Machine
from frontend.compiler.programs import ProgramLibrary
from frontend.resolve import resolve
from tests.bridge.nccl_clusters import all_reduce

KINDS: dict[str, dict[str, Any]] = {
    "NVLS": {"model": "hgx_h100"},
    "COLLNET_DIRECT": {"model": "dgx_a100"},
    "COLLNET_CHAIN": {"model": "hgx_h100", "in_network": False},
}
"""Servers on which NCCL takes each algorithm at 1 MiB, 1 MiB and 256 MiB."""
SIZES = {"NVLS": 2**20, "COLLNET_DIRECT": 2**20, "COLLNET_CHAIN": 2**28}


def scenario(
    size: int, servers: int, server: dict[str, Any], *, fabric: str = "analytical",
    in_network: bool = True, workload: dict[str, Any] | None = None,
) -> Any:  # fmt: skip
    changes = {"fabric": fabric}
    if fabric == "express":
        changes["transport.window"] = "1MB"
    return all_reduce(
        size, servers, server, changes=changes, workload=workload, in_network=in_network
    )


def machine(servers: int = 4, **given: Any) -> Machine:
    h100 = Machine(8 * servers, servers, 3600 * 10**9, 8, 400 * 10**9, 0, 0, joins=True)
    return h100._replace(**given)


def test_the_model_is_that_of_the_tuner() -> None:
    """With the numbers of `src/graph/tuning.cc`, in µs and GB/s."""
    one = machine()
    assert collnet_latency_us(one, "collnet_direct") == pytest.approx(2 * (3.7 + 7 * 0.4) + 31)
    assert collnet_latency_us(one, "collnet_chain") == pytest.approx(2 * 7 * 2.8 + 30)
    assert collnet_latency_us(one._replace(reduces=True), "nvls") == pytest.approx(25 + 18)
    alone, told = machine(ranks=4), Plugin(told_us=7)
    assert collnet_latency_us(alone, "collnet_direct") == pytest.approx(14)
    assert collnet_latency_us(alone._replace(plugin=told), "collnet_chain") == pytest.approx(28)
    # Channels of 48 GB/s; with NICs of 200 Gb/s, those inside are twice as fast, if NVLink is.
    assert collnet_bandwidth(one, "collnet_direct") == pytest.approx(8 * 48 * 0.85 / 2)
    assert collnet_bandwidth(one, "collnet_chain") == pytest.approx(8 * 48 / 2)
    a100 = machine(scale_up_bps=2400 * 10**9, nic_bps=200 * 10**9)
    assert collnet_bandwidth(a100, "collnet_direct") == pytest.approx(8 * 48 / 2)
    assert collnet_bandwidth(a100, "collnet_chain") == pytest.approx(8 * 30 / 2)
    # Two GPUs share a NIC, which costs a quarter.
    few = machine(nics=4)
    assert collnet_bandwidth(few, "collnet_direct") == pytest.approx(4 * 48 * 0.85 / 2 / 1.5)
    nvls = collnet_bandwidth(one._replace(reduces=True), "nvls")
    assert nvls == pytest.approx(8 * 48 * 32 / 62)


def test_nccl_takes_it_where_its_conditions_hold() -> None:
    def kinds(one: Machine, operation: str = "all_reduce") -> list[str]:
        return [choice.kind for choice in collnet_candidates(one, operation, 2**20)]

    both = ["collnet_direct", "collnet_chain"]
    assert kinds(machine()) == both
    assert kinds(machine(reduces=True)) == [*both, "nvls"]
    assert kinds(machine(ranks=36)) == []  # more than eight GPUs of a server
    assert kinds(machine(joins=False, reduces=True)) == []
    assert kinds(machine(1, reduces=True)) == []
    assert kinds(machine(), "all_gather") == []


def program_of(given: Any) -> tuple[Any, str]:
    library = ProgramLibrary(resolve(given))
    (issue,) = library.resolved.plan.issues
    use = library.use(issue)
    return library.programs[use.program].table(), use.choice or ""


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("servers", "given"), [(3, {}), (2, {"gpus": 4, "nics": 4}), (3, {"gpus": 2, "nics": 1})]
)
def test_programs_compute_the_sum(name: str, servers: int, given: dict[str, int]) -> None:
    server = KINDS[name] | given
    made = scenario(SIZES[name], servers, server, workload={"segments": 3})
    program, choice = program_of(made)
    if not given:
        assert choice.startswith(f"Algo {name} proto SIMPLE, 8 channels")
    assert problems(program) == []
    check(program)


@pytest.mark.parametrize("fabric", ["analytical", "flow", "express"])
@pytest.mark.parametrize(
    ("name", "size", "latency"),
    [("NVLS", 2**16, 25 + 18), ("COLLNET_DIRECT", 2**16, 2 * (3.7 + 7 * 0.4) + 31)],
)
def test_small_sizes_take_the_latency_of_the_tuner(
    name: str, size: int, latency: float, fabric: str
) -> None:
    result = bridge.run(scenario(size, 4, KINDS[name], fabric=fabric))
    assert (result.collectives[0].choice or "").startswith(f"Algo {name} proto SIMPLE")
    bytes_us = size / (2400 / 8 * 1e3) * 9  # at most, over NVLink and eight hops
    assert latency <= result.time_ns / 1e3 <= latency + bytes_us


@pytest.mark.parametrize(
    ("name", "nic", "link"), [("COLLNET_DIRECT", 25, 0.8 * 300), ("COLLNET_CHAIN", 50, 0.824 * 450)]
)
def test_large_sizes_take_the_time_of_their_bytes(name: str, nic: float, link: float) -> None:
    """Of D bytes, a NIC sends D/8, and a GPU of eight sends 7/8 D inside twice. Rates in GB/s."""
    size = 2**30
    result = bridge.run(scenario(size, 4, KINDS[name]))
    assert (result.collectives[0].choice or "").startswith(f"Algo {name} proto SIMPLE")
    expected = size / 1e3 * max(1 / 8 / nic, 2 * 7 / 8 / link)
    assert expected < result.time_ns / 1e3 < 1.05 * expected + 100


@pytest.mark.parametrize("name", ["NVLS", "COLLNET_DIRECT"])
def test_packets_take_as_long_as_the_estimate(name: str) -> None:
    times = [
        bridge.run(scenario(2**23, 2, KINDS[name], fabric=fabric)).time_ns
        for fabric in ("express", "analytical")
    ]
    assert times[0] == pytest.approx(times[1], rel=0.1)


def test_without_such_switches_there_is_no_collnet() -> None:
    _, choice = program_of(scenario(2**20, 4, KINDS["COLLNET_DIRECT"], in_network=False))
    assert "collnet" not in choice
    _, choice = program_of(scenario(2**20, 4, KINDS["NVLS"], in_network=False))
    assert "nvls/" not in choice


def test_nccl_may_be_told_what_to_take() -> None:
    work = {"nccl": {"algorithms": ["collnet_chain", "ring"]}}
    _, choice = program_of(scenario(2**20, 4, KINDS["NVLS"], workload=work))
    assert choice.startswith("Algo COLLNET_CHAIN proto SIMPLE, 8 channels, hopper; collnet_chain/")
    assert "nvls" not in choice
