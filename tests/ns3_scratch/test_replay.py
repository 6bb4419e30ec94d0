"""Replay changes nothing: not a picosecond, not a counter.

Random messages go between and within servers, in rounds that repeat. Some rounds differ a little
from the others, so what was played must be taken back. Each example runs with and without replay,
and the whole results are equal.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from bridge import _core
from frontend import load_scenario
from frontend.compiler.compile import compile_scenario
from frontend.network_api_pb2 import Record
from frontend.stream import decode, encode
from tests.ns3_scratch.streams import Trace
from tests.ns3_scratch.traffic import in_blocks


@dataclass(frozen=True)
class Message:
    """A message of a round. It is sent at a time, or when another message has arrived."""

    source: int
    target: int
    size: int
    at_ps: int
    after: int | None = None


def recorded(records: list[Record], sample_ps: int) -> dict[str, Any]:
    """Run a stream; return the result with tables, the critical path and samples, if wanted."""
    simulation = _core.Simulation(encode(records))
    texts: dict[str, list[bytes]] = {"links": [], "flows": []}

    def sink(name: str) -> Callable[[bytes], int]:
        def take(text: bytes) -> int:
            texts[name].append(text)
            return 0

        return take

    try:
        if sample_ps:
            simulation.record_critical_path()
            simulation.write_series(
                sink("links"), sink("flows"), sample_ps, 10_000_000, None, [], None
            )
        simulation.build()
        simulation.run()
        result: dict[str, Any] = json.loads(simulation.result())
        return result | {"tables": simulation.tables(), "series": texts}
    finally:
        simulation.close()


def both(records: list[Record], sample_ps: int = 0) -> tuple[dict[str, Any], dict[str, int]]:
    """Run a stream with and without replay; return the result, and what was replayed."""
    results = []
    for replay in (True, False):
        for record in records:
            if record.HasField("settings"):
                record.settings.replay = replay
        results.append(recorded(records, sample_ps))
        del results[-1]["simulator"]
    replayed = results[0].pop("replay", None)
    assert results[0] == results[1]
    return results[0], replayed or {}


def network(chance: random.Random) -> dict[str, Any]:
    mtu = chance.choice([600, 1500, 9000])
    servers = chance.choice([2, 3, 4])
    room = f"{chance.choice([1, 2, 8]) * (mtu + 2) * servers * 3}B"
    buffer = chance.choice(["unlimited", room])
    size = chance.choice([2, 3])
    return {
        "schema_version": 1,
        "name": "replay",
        "fabric": "express",
        "topology": {
            "family": "hierarchical",
            "ranks": servers * size,
            "scale_up": {
                "ranks": size,
                "switches": chance.choice([1, 2]),
                "bandwidth": chance.choice(["100Gbps", "800Gbps"]),
                "latency": chance.choice(["0", "100ns", "0.5us"]),
                "buffer": "unlimited",
            },
            "scale_out": {
                "bandwidth": chance.choice(["10Gbps", "100Gbps"]),
                "latency": chance.choice(["0", "1us"]),
                "buffer": buffer,
            },
        },
        "workload": {"kind": "collective", "operation": "barrier", "algorithm": "direct"},
        **transport(chance, mtu),
        "outputs": {"rtt_interval": chance.choice(["0", "1us", "100us", "1ms"])},
    }


def transport(chance: random.Random, mtu: int) -> dict[str, Any]:
    segments = chance.choice([1, 1, 1, 2, 3])
    variant = chance.choice(["new_reno"] * 12 + ["cubic", "dctcp"])
    return in_blocks(
        {
            "variant": variant,
            "mtu": f"{mtu}B",
            "window": chance.choice(["20kB", "64kB", "0.5MB", "3MB"]),
            "min_rto": chance.choice(["200us", "1ms", "50ms"]),
            "initial_cwnd": chance.choice([1, 2, 10, 40]),
            "timestamps": chance.random() < 0.3,
            "delayed_ack": {"segments": segments, "timeout": chance.choice(["5us", "100us"])},
        }
        | ({"ecn": True, "ecn_threshold": f"{mtu}B"} if variant == "dctcp" else {})
    )


def pattern(chance: random.Random, ranks: list[int]) -> list[Message]:
    """Return messages between ranks, of which some answer others."""
    messages: list[Message] = []
    for _ in range(chance.randint(1, 6)):
        size = chance.choice([0, 1, 3000, 20_000, 20_000, 200_000])
        answered = [i for i, one in enumerate(messages) if one.target in ranks]
        if answered and chance.random() < 0.5:
            after = chance.choice(answered)
            source = messages[after].target
            target = chance.choice([rank for rank in ranks if rank != source])
            messages.append(Message(source, target, size, 0, after))
        else:
            source, target = chance.sample(ranks, 2)
            messages.append(Message(source, target, size, chance.choice([0, 0, 1, 50_000])))
    return messages


def changed(chance: random.Random, messages: list[Message], ranks: list[int]) -> list[Message]:
    """Return the messages with a small difference."""
    index = chance.randrange(len(messages))
    one = messages[index]
    match chance.choice(["later", "larger", "new", "new"]):
        case "later" if one.after is None:
            at_ps = one.at_ps + chance.choice([1, 1000, 3_000_000])
            other = Message(one.source, one.target, one.size, at_ps)
            return [*messages[:index], other, *messages[index + 1 :]]
        case "larger":
            other = Message(one.source, one.target, one.size + 1, one.at_ps, one.after)
            return [*messages[:index], other, *messages[index + 1 :]]
        case _:
            source, target = chance.sample(ranks, 2)
            at_ps = chance.choice([0, 1, 777_777, 10_000_000])
            return [*messages, Message(source, target, chance.choice([1, 30_000]), at_ps)]


def traffic(chance: random.Random, servers: list[list[int]]) -> list[Message]:
    """Return the messages of all rounds. Most rounds of most servers are alike."""
    everyone = [rank for server in servers for rank in server]
    patterns = [pattern(chance, list(range(len(servers[0])))) for _ in range(2)]
    outer = pattern(chance, everyone)
    period_ps = chance.choice([20_000_000, 200_000_000, 5_000_000_000])
    found: list[Message] = []

    def add(messages: list[Message], ranks: list[int], start_ps: int) -> None:
        first = len(found)
        for one in messages:
            after = None if one.after is None else first + one.after
            found.append(
                Message(ranks[one.source], ranks[one.target], one.size, start_ps + one.at_ps, after)
            )

    for number in range(chance.randint(4, 14)):
        usual = chance.choice([0, 0, 0, 1])
        for ranks in servers:
            messages = patterns[usual]
            if chance.random() < 0.15:
                messages = changed(chance, messages, list(range(len(ranks))))
            late_ps = chance.choice([0, 0, 0, 0, 123_456])
            add(messages, ranks, number * period_ps + late_ps)
        if chance.random() < 0.6:
            messages = changed(chance, outer, everyone) if chance.random() < 0.2 else outer
            add(messages, everyone, number * period_ps)
    return found


def stream(chance: random.Random) -> list[Record]:
    scenario = network(chance)
    records = list(decode(compile_scenario(load_scenario(scenario))))
    kept = [one for one in records if one.WhichOneof("kind") in ("header", "settings", "topology")]
    [ranks] = [one.topology.ranks for one in kept if one.HasField("topology")]
    size = scenario["topology"]["scale_up"]["ranks"]
    servers = [list(range(first, first + size)) for first in range(0, ranks, size)]
    traces = [Trace([rank]) for rank in range(ranks)]
    arrivals: dict[int, int] = {}
    for number, one in enumerate(traffic(chance, servers)):
        source, target = traces[one.source], traces[one.target]
        after = arrivals[one.after] if one.after is not None else source.timer(one.at_ps)
        source.send(one.target, one.size, [after], tag=number)
        arrivals[number] = target.receive(one.source, one.size, tag=number)
    return [*kept, *(trace.record() for trace in traces)]


def check(seeds: range) -> Counter[str]:
    """Run an example for each seed; return how many of them replayed, and took back."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        sample_ps = 0 if seed % 4 else 1_000_000 * (1 + seed % 7)
        result, replayed = both(stream(random.Random(seed)), sample_ps)
        assert result["status"] == "complete", (seed, result["error"])
        counts["played"] += replayed.get("packets", 0) > 0
        counts["taken back"] += replayed.get("taken_back", 0) > 0 and not sample_ps
        counts["lost"] += result["network"]["drops"] > 0 and bool(replayed)
    return counts


def test_any_traffic() -> None:
    counts = check(range(300))
    assert counts["played"] > 150
    assert counts["taken back"] > 150
    assert counts["lost"] > 20


@pytest.mark.long
def test_thousands_of_examples() -> None:
    counts = check(range(1000, 3000))
    assert counts["taken back"] > 1000
