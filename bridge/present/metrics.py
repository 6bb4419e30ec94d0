"""The numbers of a result that a table of many runs can show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.present.quantities import (
    byte_rate_text,
    percent_text,
    scaled_text,
    scaled_unit,
    time_text,
    time_unit,
)
from bridge.results.measurements import (
    Collective,
    CriticalPath,
    Iteration,
    Pauses,
    Rdma,
    Training,
)
from bridge.results.result import Result
from frontend.fabrics import ESTIMATORS

Value = float | None


@dataclass(frozen=True)
class Metric:
    """One number of a result."""

    name: str
    """Name on the command line, and heading of its column."""
    key: str
    """Name in JSON, with the unit."""
    value: Callable[[Result], Value]
    """Returns the number; None if the result does not have it."""
    text: Callable[[float], str]
    """Formats the number."""
    unit: Callable[[float], tuple[str, float]] = scaled_unit
    """Returns the unit for an axis up to a number, and how much of the number it is."""

    @property
    def meaning(self) -> str:
        """What the number says, in a sentence."""
        return _MEANINGS[self.name]

    def cell(self, result: Result) -> str:
        """Return the number as text; a dash if the result does not have it."""
        return self.text_of(self.value(result))

    def text_of(self, value: Value) -> str:
        """Return a number as text; a dash for None."""
        return "–" if value is None else self.text(value)


def _share_of_time(part: Callable[[Iteration], float]) -> Callable[[Result], Value]:
    """Return the share of the time of all iterations; None for runs without computation."""

    def share(result: Result) -> Value:
        computes = any(iteration.compute_ns for iteration in result.iterations)
        if not computes or not result.time_ns:
            return None
        return sum(map(part, result.iterations)) / result.time_ns

    return share


def _bandwidth(of: Callable[[Collective], float]) -> Callable[[Result], Value]:
    """Return the mean of a bandwidth over the collectives, weighted by their times."""

    def mean(result: Result) -> Value:
        time = sum(one.time_ns for one in result.collectives)
        return sum(of(one) * one.time_ns for one in result.collectives) / time if time else None

    return mean


def _training(of: Callable[[Training], float]) -> Callable[[Result], Value]:
    """Return a rate of training; None if the result has none."""
    return lambda result: None if result.training is None else of(result.training)


def _of_packets(count: Callable[[Result], float]) -> Callable[[Result], Value]:
    """Return a number that only simulated packets have; None for an estimate."""
    return lambda result: None if is_estimate(result) else count(result)


def is_estimate(result: Result) -> bool:
    """Return whether the fabric of a result estimates instead of simulating packets."""
    return result.scenario.get("fabric") in ESTIMATORS


def path_times(paths: Sequence[CriticalPath]) -> dict[str, float]:
    """Return the time of some critical paths [ns] by its kind: ``compute``, ``host`` …"""
    kinds = [kind for kind, _ in paths[0].times] if paths else []
    return {
        kind.removesuffix("_ns"): sum(getattr(path.times, kind) for path in paths) for kind in kinds
    }


def _longest_queue(result: Result) -> float:
    return max((one.max_queue_bytes for one in result.network.dimensions), default=0)


def _iteration(result: Result) -> Value:
    if result.iteration_times is not None:
        return result.iteration_times.mean_ns
    times = [iteration.time_ns for iteration in result.iterations]
    return sum(times) / len(times) if times else None


def _time(name: str, key: str, value: Callable[[Result], Value]) -> Metric:
    return Metric(name, key, value, time_text, time_unit)


def _percent(name: str, key: str, value: Callable[[Result], Value]) -> Metric:
    return Metric(name, key, value, percent_text, lambda largest: ("%", 0.01))


def _byte_rate(name: str, key: str, value: Callable[[Result], Value]) -> Metric:
    def unit(largest: float) -> tuple[str, float]:
        name, scale = scaled_unit(largest / 8, "B/s")
        return name, 8 * scale

    return Metric(name, key, value, byte_rate_text, unit)


def _size(value: float) -> str:
    return scaled_text(value, "B")


def _bytes(largest: float) -> tuple[str, float]:
    return scaled_unit(largest, "B")


def _rate(value: float) -> str:
    return scaled_text(value, "bit/s")


def _rates(largest: float) -> tuple[str, float]:
    return scaled_unit(largest, "bit/s")


def _of_rdma(value: Callable[[Rdma], Value]) -> Callable[[Result], Value]:
    return lambda result: None if result.rdma is None else value(result.rdma)


def _of_pauses(value: Callable[[Pauses], Value]) -> Callable[[Result], Value]:
    return lambda result: None if result.pauses is None else value(result.pauses)


def _per_s(value: float) -> str:
    return f"{scaled_text(value)}/s"


def _cpu(value: float) -> str:
    return f"{value:.1f} s"


METRICS = {
    metric.name: metric
    for metric in (
        _time("time", "time_ns", lambda r: r.time_ns),
        _time("iteration", "iteration_mean_ns", _iteration),
        _percent("compute", "compute_share", _share_of_time(lambda one: one.compute_ns)),
        _percent("exposed", "exposed_share", _share_of_time(lambda one: one.exposed_comm_ns)),
        _percent("waiting", "waiting_share", _share_of_time(lambda one: one.waiting_ns)),
        Metric(
            "tokens",
            "tokens_per_s",
            _training(lambda t: t.tokens_per_s),
            _per_s,
            lambda largest: scaled_unit(largest, "/s"),
        ),
        _percent("MFU", "mfu", _training(lambda t: t.mfu)),
        _percent("bubble", "bubble_fraction", _training(lambda t: t.bubble_fraction)),
        _byte_rate("algbw", "algbw_bps", _bandwidth(lambda c: c.algbw_bps)),
        _byte_rate("busbw", "busbw_bps", _bandwidth(lambda c: c.busbw_bps)),
        Metric("drops", "drops", _of_packets(lambda r: r.network.drops), scaled_text),
        Metric("RTOs", "rto_events", _of_packets(lambda r: r.network.rto_events), scaled_text),
        Metric("marks", "ecn_marks", _of_packets(lambda r: r.network.ecn_marks), scaled_text),
        Metric("CNPs", "cnps", _of_rdma(lambda rdma: rdma.cnps), scaled_text),
        Metric("sent-twice", "repeated_bytes", _of_rdma(lambda r: r.repeated_bytes), _size, _bytes),
        Metric("rate-p01", "rate_p01_bps", _of_rdma(lambda r: r.rate_p01_bps), _rate, _rates),
        Metric("rate-p50", "rate_p50_bps", _of_rdma(lambda r: r.rate_p50_bps), _rate, _rates),
        Metric("pauses", "pauses", _of_pauses(lambda pauses: pauses.count), scaled_text),
        _time("paused", "paused_ns", _of_pauses(lambda pauses: pauses.time_ns)),
        Metric(
            "headroom",
            "headroom_peak_bytes",
            _of_pauses(lambda pauses: pauses.headroom_peak_bytes),
            _size,
            _bytes,
        ),
        Metric(
            "queue",
            "max_queue_bytes",
            _longest_queue,
            _size,
            _bytes,
        ),
        _percent("utilization", "link_utilization_mean", lambda r: r.network.link_utilization_mean),
        _time("FCT-p50", "fct_p50_ns", lambda r: r.network.fct_p50_ns),
        _time("FCT-p99", "fct_p99_ns", lambda r: r.network.fct_p99_ns),
        Metric("CPU", "cpu_s", lambda r: r.simulator.cpu_s, _cpu, lambda largest: ("s", 1.0)),
    )
}
"""Metrics by name, in the order in which tables show them."""

_MEANINGS = {
    "time": "Simulated time of the whole run.",
    "iteration": "Mean time from the end of one iteration to the end of the next.",
    "compute": "Part of the time in which ranks compute, mean over the ranks.",
    "exposed": "Part of the time in which ranks wait for communication and compute nothing.",
    "waiting": "Part of the time in which ranks are done and wait for slower ones.",
    "tokens": "Tokens that all ranks together train on in a second.",
    "MFU": "FLOPs of the model in a second, relative to the peak of all ranks.",
    "bubble": "Time for which a rank waits for other pipeline stages, relative to the rest.",
    "algbw": "Bytes of a collective over its time, mean over the collectives.",
    "busbw": "Bandwidth that a rank's link needs for it, as nccl-tests define it.",
    "drops": "Packets that found no room in a buffer, or that a link lost.",
    "RTOs": "Timeouts after which TCP sent data again.",
    "marks": "Packets that a switch marked because its queue was long (ECN).",
    "CNPs": "Notifications that told senders of marked packets.",
    "sent-twice": "Bytes of queue pairs that were sent more than once.",
    "rate-p01": "Mean rate of a queue pair that 99 % exceed.",
    "rate-p50": "Mean rate of a queue pair that half of them exceed.",
    "pauses": "How often a lossless switch stopped a port that filled its memory.",
    "paused": "Time for which ports were stopped, all of them added up.",
    "headroom": "Most memory that a link used after its pause.",
    "queue": "Longest queue in front of a link of a switch.",
    "utilization": "Part of the time in which a link carries packets, mean over the links.",
    "FCT-p50": "Half of the messages took at most this time from send to arrival.",
    "FCT-p99": "99 % of the messages took at most this time.",
    "CPU": "Processor time of the simulation itself.",
}

_OF_TRAINING = (
    "time",
    "tokens",
    "MFU",
    "bubble",
    "compute",
    "exposed",
    "drops",
    "RTOs",
    "pauses",
    "paused",
    "CNPs",
    "rate-p50",
    "utilization",
    "CPU",
)
_OF_COLLECTIVES = (
    *("time", "algbw", "busbw", "drops", "RTOs"),
    *("pauses", "paused", "CNPs", "rate-p50", "utilization", "CPU"),
)


def usual(results: Sequence[Result]) -> list[Metric]:
    """Return the metrics that suit the workload of some results, without those that all lack.

    Parameters
    ----------
    results : sequence of Result
        Results of the same scenario with other values.

    Returns
    -------
    list of Metric
        Bandwidths as nccl-tests print them if the workload only communicates, else the shares of
        computation and exposed communication.
    """
    computes = any(METRICS["compute"].value(result) is not None for result in results)
    names = _OF_TRAINING if computes else _OF_COLLECTIVES
    return [
        METRICS[name]
        for name in names
        if not results or any(METRICS[name].value(result) is not None for result in results)
    ]


def what_is_timed(result: Result) -> str:
    """Return what `time_an_iteration` is the time of, in words."""
    return "an iteration" if result.iterations or result.iteration_times else "the run"


def time_an_iteration(result: Result) -> float:
    """Return the mean time of the iterations [ns], or that of a run without iterations."""
    iteration = METRICS["iteration"].value(result)
    return result.time_ns if iteration is None else iteration
