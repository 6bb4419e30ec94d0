"""Says in words what decides the time of a run, or the difference between two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.present.metrics import is_estimate, path_times
from bridge.present.quantities import percent_text, time_text
from bridge.results.result import Result

#: The least share of a time that is said.
_LEAST = 0.05

#: The least share of a time that a change has to save.
_HELPS = 0.01

#: The utilization from which on a link decides how long a collective takes.
_BUSY = 0.8

_PARTS = {
    "compute": "computation",
    "timer": "timers of the workload",
    "slot": "the wait for slots of chunks (system.concurrent_chunks)",
    "injection": "the injection latency (system.injection_latency)",
    "host": "handling messages at ranks (system.send, system.receive)",
    "serialization": "the bandwidth of links",
    "propagation": "the latency of links",
    "queueing": "contention with other traffic",
    "paused": "ports that switches paused because of traffic on other paths (switches.pfc)",
    "window": "the wait for TCP's window (transport.window, initial_cwnd)",
    "retransmission": "repairing losses",
    "reduction": "reductions (system.reduction_bandwidth)",
}
"""What a critical path is spent on, by its kind, with the keys that change it."""

_RATES = "the rates of queue pairs (transport.congestion_control)"
"""What holds a message back over RoCE where TCP has its window."""

_FAILURES = {"link_down", "link_flap", "switch_down"}
"""The events in which links fail."""

_READ_ON = "see docs/seeing.md"


def what_decides(result: Result) -> str | None:
    """Return a sentence about what the time of a run is spent on.

    Parameters
    ----------
    result : Result
        A result with or without critical paths.

    Returns
    -------
    str or None
        Retransmission timeouts if they take a part of the time worth saying; otherwise the largest
        parts of the critical path, of the iterations, or the busiest link; None if there is nothing
        to say.
    """
    if not result.time_ns:
        return None
    network = result.network
    if network.rto_wait_ns >= _LEAST * result.time_ns:
        cause, remedy = _cause_of_timeouts(result)
        return (
            f"{percent_text(network.rto_wait_ns / result.time_ns)} of this run waits for "
            f"{_timeouts(result)}: {cause}. {remedy} that; {_READ_ON}."
        )
    paths = _path_parts(result)
    if paths:
        return f"The critical path is spent on {_shares(paths)}; {_READ_ON}."
    parts = _iteration_parts(result)
    if parts.get("computation"):
        return f"An iteration is spent on {_shares(parts)}."
    return _busiest(result)


def what_would_help(changes: Sequence[tuple[str, float]]) -> str:
    """Return a sentence about the changes that save most time.

    Parameters
    ----------
    changes : sequence of (str, float)
        What is changed, and the change of the time as a fraction.
    """
    helpful = sorted((one for one in changes if one[1] <= -_HELPS), key=lambda one: one[1])
    if not helpful:
        return f"None of these changes saves {percent_text(_HELPS)} of the time."
    shown = [f"{name} ({percent_text(-share)} less time)" for name, share in helpful[:3]]
    return f"What would help: {_listed(shown, 'or')}."


def what_differs(first: Result, second: Result) -> str | None:
    """Return a sentence about what most of the difference between two times comes from.

    Parameters
    ----------
    first, second : Result
        Two results.

    Returns
    -------
    str or None
        None if the times are equal, or if nothing that both results have explains half of it.
    """
    whole = second.time_ns - first.time_ns
    if not whole:
        return None
    waiting = second.network.rto_wait_ns - first.network.rto_wait_ns
    if waiting / whole >= 0.5:
        counts = f"{second.network.rto_events} instead of {first.network.rto_events}"
        return (
            f"The second waits {_more(waiting)} for retransmission timeouts ({counts}, of at least "
            f"{_least_timeout(second)} each): {_of_difference(waiting / whole)}."
        )
    if first.critical_path and second.critical_path:
        before, after = _path_parts(first), _path_parts(second)
    else:
        before, after = _iteration_parts(first), _iteration_parts(second)
    changes = {name: after.get(name, 0.0) - before.get(name, 0.0) for name in before | after}
    name = max(changes, key=lambda one: changes[one] / whole, default=None)
    if name is None or changes[name] / whole < 0.5:
        return None
    share = _of_difference(changes[name] / whole)
    return f"The second spends {_more(changes[name])} on {name}: {share}."


def _of_difference(share: float) -> str:
    return f"{percent_text(min(1, share))} of the difference"


def _more(difference_ns: float) -> str:
    return f"{time_text(abs(difference_ns))} {'longer' if difference_ns > 0 else 'less'}"


def _timeouts(result: Result) -> str:
    count = result.network.rto_events
    return (
        f"{count} retransmission timeout{'' if count == 1 else 's'} of at least "
        f"{_least_timeout(result)} ({_timeout_key(result)})"
    )


def _cause_of_timeouts(result: Result) -> tuple[str, str]:
    """Return where packets were lost, and what changes that, with its verb."""
    events = result.network_events
    refused = events.packets_refused if events else 0
    lost = events.packets_lost if events else 0
    full = result.network.drops - refused
    by_chance, by_failure = _losing_links(result)
    places, remedies = [], []
    if full:
        places.append(f"dropped at full queues {_times(full)}")
        remedies += ["larger buffers", "ECN"]
    if refused:
        places.append(f"refused by links that were down {_times(refused)}")
    if lost:
        where = {
            (True, False): "lost at random on links",
            (True, True): "lost at random or on links that failed",
        }.get((by_chance, by_failure), "lost on links that failed")
        places.append(f"{where} {_times(lost)}")
    if refused or (lost and by_failure):
        remedies.append("a shorter routing.detection")
    if lost and by_chance:
        remedies.append("a smaller `loss` of the links")
    if not places:
        return (
            "no packet was lost, but ACKs arrived later",
            f"A larger {_timeout_key(result)} changes",
        )
    text = _listed([*remedies, f"a smaller {_timeout_key(result)}"], "or")
    return f"packets were {_listed(places, 'and')}", f"{text[0].upper()}{text[1:]} change" + (
        "" if remedies else "s"
    )


def _losing_links(result: Result) -> tuple[bool, bool]:
    """Return whether links of the scenario lose packets at random, and whether links fail."""
    topology = result.scenario.get("topology")
    links = topology.get("links") if isinstance(topology, Mapping) else ()
    have_loss = any(one.get("loss") for one in _mappings(links))
    kinds = [one.get("event") for one in _mappings(result.scenario.get("events"))]
    return have_loss or "link_loss" in kinds, any(name in kinds for name in _FAILURES)


def _mappings(values: object) -> list[Mapping[str, Any]]:
    """Return the mappings in a list of a stored scenario; other values have none."""
    return [one for one in values if isinstance(one, Mapping)] if isinstance(values, list) else []


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _listed(texts: Sequence[str], word: str) -> str:
    *first, last = texts
    return f"{', '.join(first)} {word} {last}" if first else last


def _timeout_key(result: Result) -> str:
    """Return the key of the retransmission timeout in the scenario's transport, RoCE or TCP.

    Some jobs may have the other protocol.
    """
    transport = result.scenario.get("transport")
    is_tcp = isinstance(transport, Mapping) and transport.get("protocol") == "tcp"
    return "transport.min_rto" if is_tcp or result.rdma is None else "transport.timeout"


def _least_timeout(result: Result) -> str:
    transport, name = result.scenario.get("transport"), _timeout_key(result).rpartition(".")[2]
    return str(transport.get(name)) if isinstance(transport, Mapping) else name


def _path_parts(result: Result) -> dict[str, float]:
    """Return the time of all critical paths [ns] by what it is spent on."""
    times = path_times(result.critical_path or ())
    names = _PARTS if result.rdma is None else _PARTS | {"window": _RATES}
    return {names[kind]: time for kind, time in times.items()}


def _iteration_parts(result: Result) -> dict[str, float]:
    """Return the time of all iterations [ns], mean over the ranks."""
    return {
        "computation": sum(one.compute_ns for one in result.iterations),
        "exposed communication": sum(one.exposed_comm_ns for one in result.iterations),
        "the wait for slower ranks": sum(one.waiting_ns for one in result.iterations),
    }


def _shares(parts: Mapping[str, float]) -> str:
    """Return the largest parts with their shares, which add up: `a (60 %), b (30 %) and c (10 %)`.

    Further parts are one, `the rest`, unless there is only one.
    """
    whole = sum(parts.values())
    largest = sorted(parts.items(), key=lambda one: -one[1])
    shown = [(name, time) for name, time in largest[:3] if time >= _LEAST * whole]
    others = [(name, time) for name, time in largest[len(shown) :] if time > 0]
    if len(others) > 1:
        others = [("the rest", sum(time for _, time in others))]
    shown += others
    shares = _tenths([time / whole for _, time in shown])
    texts = [
        f"{name} ({percent_text(share / 1000)})"
        for (name, _), share in zip(shown, shares, strict=True)
        if share
    ]
    return _listed(texts, "and")


def _tenths(fractions: Sequence[float]) -> list[int]:
    """Return fractions of one in tenths of a percent, rounded so that they add up to it.

    Examples
    --------
    >>> _tenths([0.3333, 0.3333, 0.3334])
    [333, 333, 334]
    """
    found = [int(1000 * one) for one in fractions]
    by_loss = sorted(range(len(found)), key=lambda one: found[one] - 1000 * fractions[one])
    for one in by_loss[: 1000 - sum(found)]:
        found[one] += 1
    return found


def _busiest(result: Result) -> str | None:
    busiest = max(result.network.dimensions, key=lambda one: one.utilization_max, default=None)
    if busiest is None or not busiest.utilization_max:
        return None
    text = (
        f"The busiest link ({busiest.name}) is busy {percent_text(busiest.utilization_max)} of "
        "the time"
    )
    if busiest.utilization_max >= _BUSY:
        return f"{text}, so the bandwidth of links decides."
    if is_estimate(result):
        return f"{text}, so bandwidth alone does not decide."
    return f"{text}, so bandwidth alone does not decide. What does: run with --critical-path."
