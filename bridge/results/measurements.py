"""The blocks of a result, one class each, with the meaning and unit of every field.

Times are nanoseconds of simulated time; the clock counts picoseconds, so fractions are exact.
Sizes are bytes, rates bit/s.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class _Block(BaseModel):
    # `forbid`: a field that C++ writes and this file does not describe is a mistake.
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Iteration(_Block):
    """One training iteration; their times add up to the run's."""

    index: int
    """Counts from 0."""
    start_ns: float
    """Where the iteration before ends, although computation may have begun earlier."""
    end_ns: float
    """The last rank has done all of it, weight updates included."""
    time_ns: float
    """end_ns - start_ns."""
    compute_ns: float
    """Computation, mean over the ranks."""
    exposed_comm_ns: float
    """Time that a rank computes nothing because it waits for communication, mean over the ranks."""


class JobIteration(_Block):
    """One iteration of a job."""

    index: int
    """Counts from 0."""
    start_ns: float
    """Where the iteration before ends; the first starts with the job."""
    end_ns: float
    """The last of its ranks has done all of it."""
    time_ns: float
    """end_ns - start_ns."""


class Job(_Block):
    """One of the jobs that share a cluster."""

    name: str
    """Its kind and number."""
    start_ns: float
    """It has arrived, and its servers are free and linked."""
    iterations: tuple[JobIteration, ...]
    """Those that have ended."""


class IterationTimes(_Block):
    """Times of the iterations of all jobs."""

    count: int
    """Iterations."""
    mean_ns: float
    """Mean."""
    p50_ns: float
    """Median: the least time that half of them do not exceed."""
    p99_ns: float
    """99th percentile, likewise."""
    max_ns: float
    """The longest."""


class Layer(_Block):
    """One layer of the model, over all iterations."""

    name: str
    """As the workload names it."""
    compute_ns: float
    """Forward and backward, mean over the ranks."""
    raw_comm_ns: float
    """Sum of its collectives' times, hidden or not."""
    exposed_comm_ns: float
    """Part of it that ranks waited for, mean over the ranks."""


class LayerIteration(Layer):
    """One layer of the model in one iteration."""

    iteration: int
    """Index of the iteration."""


class Collective(_Block):
    """One collective, from the first rank that issues it to the last that is done."""

    name: str
    """What issued it, such as top_mlp_3.weight_gradient."""
    operation: str
    """all_reduce, reduce_scatter, all_gather or all_to_all."""
    algorithm: str
    """The schedule, such as ring or dbt."""
    bytes: int
    """The buffer of one rank."""
    chunks: int
    """Parts that run independently."""
    group_size: int
    """Ranks that take part."""
    iteration: int
    """Index of the iteration."""
    layer: str
    """The layer that issued it."""
    start_ns: float
    """The first rank issues it."""
    end_ns: float
    """The last rank is done."""
    time_ns: float
    """end_ns - start_ns."""
    algbw_bps: float
    """Algorithm bandwidth: bytes / time."""
    busbw_bps: float
    """Bus bandwidth, as nccl-tests: algbw times 2(n-1)/n for an all_reduce, (n-1)/n for the
    others."""


class DimensionStatistics(_Block):
    """The links of one dimension of the topology."""

    name: str
    """scale_up, scale_out."""
    links: int
    """Directed links."""
    wire_bytes: int
    """Carried, all headers included, summed over the links."""
    drops: int
    """Packets that would have overrun an egress queue."""
    max_queue_bytes: int
    """Longest egress queue at a switch."""
    utilization_mean: float
    """Mean over the links of busy / elapsed time."""
    utilization_max: float
    """The same, of the busiest link."""


class NetworkStatistics(_Block):
    """What the fabric counted."""

    messages: int
    """Messages delivered."""
    payload_bytes: int
    """Delivered in order to the receivers."""
    wire_bytes: int
    """Sent into the first link of a path, all headers included."""
    packets: int
    """Packets sent into the first link of a path, with ACKs."""
    data_packets: int
    """Those that carry payload, retransmissions included."""
    drops: int
    """Packets that would have overrun an egress queue."""
    retransmissions: int
    """Data packets sent again."""
    rto_events: int
    """Retransmission timeouts."""
    ecn_marks: int
    """Packets marked congestion experienced."""
    link_utilization_mean: float
    """Mean of busy / elapsed time, over all links that carried data."""
    flows: int
    """Connections that carried at least one message."""
    rtt_flows: int
    """Connections with at least one RTT sample."""
    rtt_mean_ns: float
    """Round-trip time, sampled per flow at a fixed interval and averaged per flow: mean over the
    flows. 0 where rtt_flows is 0."""
    rtt_p50_ns: float
    """Median over the flows."""
    rtt_p99_ns: float
    """99th percentile over the flows."""
    fct_mean_ns: float
    """Completion time of a message, from its send to its last byte in order: mean."""
    fct_p50_ns: float
    """Median over the messages."""
    fct_p99_ns: float
    """99th percentile over the messages."""
    fct_max_ns: float
    """The slowest message."""
    dimensions: tuple[DimensionStatistics, ...]
    """One entry a topology dimension."""


class Reconfiguration(_Block):
    """One change of the circuits during the run (`topology.reconfiguration`)."""

    start_ns: float
    """The demand is measured, and all flows pause."""
    pause_ns: float
    """How long they do."""
    new_circuits: int
    """Circuits that were not there before."""
    demand_bytes: int
    """Handed to the network and not yet delivered, at the measurement."""
    demand_pairs: int
    """Ordered pairs of ranks that it is of."""
    distant_pairs: int
    """Of these, pairs that have no circuit of their own afterwards."""


class System(_Block):
    """What the system layer did."""

    max_outstanding_chunks: dict[str, int]
    """Most chunks that any rank had in flight at a time, by topology dimension."""


class Simulator(_Block):
    """What the run took, and what it ran on."""

    events: int
    """Events that ns-3 executed."""
    wall_s: float
    """Wall time of compiling, building and running [s]."""
    cpu_s: float
    """CPU time of the same [s]."""
    peak_rss_bytes: int
    """Peak resident memory of the process."""
    seed: int
    """Seed of every random choice."""
    versions: dict[str, str]
    """cosim, ns3 and python."""
