"""The blocks of a result, one class each, with the meaning and unit of every field.

Times are nanoseconds of simulated time; the clock counts picoseconds, so fractions are exact.
Sizes are bytes, rates bit/s.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator


def own_names(model: BaseModel) -> list[str]:
    """Return the names that completion in a notebook shows: fields and methods without pydantic's.

    Examples
    --------
    >>> job = Job(name="llm 0", start_ns=0.0, iterations=())
    >>> [name for name in dir(job) if not name.startswith("_")]
    ['checkpoints', 'failures', 'iterations', 'name', 'start_ns']
    """
    ours = [vars(one) for one in type(model).__mro__ if not one.__module__.startswith("pydantic")]
    methods = {name for names in ours for name in names if not name.startswith(("model_", "_"))}
    return sorted({*type(model).model_fields, *methods, *dir(object)})


class Block(BaseModel):
    # `forbid`: a field that C++ writes and this file does not describe is a mistake.
    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    __dir__ = own_names


class Iteration(Block):
    """One training iteration. The times of all iterations add up to the time of the run, and the
    three parts of an iteration add up to its time. Ranks begin an iteration while slower ones still
    end the one before: what they do until then is a part of that one."""

    index: int
    """Counts from 0."""
    start_ns: float
    """End of the iteration before."""
    end_ns: float
    """The last rank has finished the iteration, weight updates included."""
    time_ns: float
    """end_ns - start_ns."""
    compute_ns: float
    """Time for which a rank computes, mean over the ranks. Computations at the same time count
    once. layer_iterations has the computation that belongs to the iteration."""
    exposed_comm_ns: float
    """Time for which a rank computes nothing because it waits for communication, mean over the
    ranks."""
    waiting_ns: float
    """The rest of time_ns, never negative: a rank has done its part and waits for slower ranks or
    for a timer, mean over the ranks."""

    @model_validator(mode="before")
    @classmethod
    def _add_waiting(cls, data: Any) -> Any:
        """Results of earlier versions do not have `waiting_ns`."""
        if isinstance(data, dict) and "waiting_ns" not in data:
            times = [data.get(f"{key}_ns") for key in ("time", "compute", "exposed_comm")]
            whole, *parts = [one for one in times if isinstance(one, int | float)] or [0]
            if len(parts) == 2:
                return data | {"waiting_ns": whole - sum(parts)}
        return data


class JobIteration(Block):
    """One iteration of a job."""

    index: int
    """Counts from 0."""
    start_ns: float
    """End of the iteration before; the first iteration starts with the job."""
    end_ns: float
    """The last rank of the job has finished the iteration."""
    time_ns: float
    """end_ns - start_ns."""


class JobFailure(Block):
    """A failure of a job, because hosts of it failed."""

    at_ns: float
    """When the job failed. What it ran was dropped."""
    restart_ns: float
    """When it began to read its checkpoint, or to run if it reads none."""
    iteration: int
    """The iteration with which it went on: it repeats those since its last checkpoint."""


class JobCheckpoint(Block):
    """A checkpoint that was written while the job went on."""

    iteration: int
    """The iteration with which the job would go on."""
    end_ns: float
    """The storage had all of it."""


class Job(Block):
    """One of the jobs that share a cluster."""

    name: str
    """Kind and number of the job."""
    start_ns: float
    """The job has arrived, and its servers are free and linked."""
    iterations: tuple[JobIteration, ...]
    """The iterations that have ended; those that a failure made the job repeat are here once."""
    failures: tuple[JobFailure, ...] = ()
    """The failures of the job."""
    checkpoints: tuple[JobCheckpoint, ...] = ()
    """The complete checkpoints that were written while the job went on (`recovery.write.stall`)."""


_TIMES = ("waiting", "completion")


class JobRun(Block):
    """A time for which a job had ranks."""

    begin_ns: float
    """When it got them."""
    end_ns: float
    """When it failed or ended."""
    ranks: tuple[int, ...]
    """The ranks of the topology that were its ranks 0, 1, …"""


class ScheduledJob(Block):
    """When and where a job ran."""

    name: str
    """Name of the job."""
    arrival_ns: float
    """When it arrived."""
    waiting_ns: float
    """Time from its arrival to its end for which it had no ranks: too few were free, or its own
    were down."""
    completion_ns: float
    """Job completion time (JCT): from its arrival to its end."""
    ranks: tuple[int, ...]
    """The ranks of the topology that were its ranks 0, 1, …; if it failed, those it had last."""
    runs: tuple[JobRun, ...]
    """When it had which ranks: once, and once more after each failure."""

    @model_validator(mode="before")
    @classmethod
    def _add_runs(cls, data: Any) -> Any:
        """Results of earlier versions do not have `runs`."""
        if isinstance(data, dict) and "runs" not in data:
            begin, end = (data.get("arrival_ns", 0) + data.get(f"{key}_ns", 0) for key in _TIMES)
            return data | {"runs": [{"begin_ns": begin, "end_ns": end, "ranks": data.get("ranks")}]}
        return data

    @property
    def start_ns(self) -> float:
        """When it started first."""
        return self.runs[0].begin_ns


class Schedule(Block):
    """When and where the jobs of a cluster ran."""

    ranks: int
    """Number of ranks of the cluster."""
    utilization: float
    """Ranks of running jobs, relative to all ranks, mean over the time of the run."""
    waiting_mean_ns: float
    """Time from the arrival of a job to its end for which it has no ranks, mean over the jobs."""
    waiting_max_ns: float
    """The longest of these times."""
    completion_mean_ns: float
    """Job completion time, from the arrival of a job to its end, mean over the jobs."""
    completion_p50_ns: float
    """Its median: the smallest time that at least half of the jobs do not exceed."""
    completion_p99_ns: float
    """Its 99th percentile, in the same sense."""
    jobs: tuple[ScheduledJob, ...]
    """One entry for each job, in the order of the scenario."""


class IterationTimes(Block):
    """Statistics of the iteration times of all jobs."""

    count: int
    """Number of iterations."""
    mean_ns: float
    """Mean iteration time."""
    p50_ns: float
    """Median: the smallest time that at least half of the iterations do not exceed."""
    p99_ns: float
    """99th percentile, in the same sense."""
    max_ns: float
    """Longest iteration time."""


class Layer(Block):
    """One layer of the model, over all iterations."""

    name: str
    """Name of the layer in the workload."""
    compute_ns: float
    """Its computations, mean over the ranks. Those of a rank at the same time count each."""
    raw_comm_ns: float
    """Sum of the times of its collectives, whether computation hides them or not."""
    exposed_comm_ns: float
    """Time for which ranks waited for this communication, mean over the ranks."""


class LayerIteration(Layer):
    """One layer of the model in one iteration."""

    iteration: int
    """Index of the iteration."""


class Collective(Block):
    """One collective, from the first rank that issues it to the last rank that finishes it."""

    name: str
    """The operation that issued it, such as top_mlp_3.weight_gradient."""
    operation: str
    """all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, reduce, gather, scatter or
    barrier."""
    algorithm: str
    """The algorithm, such as ring or dbt."""
    bytes: int
    """Buffer of one rank."""
    chunks: int
    """Number of parts that run independently."""
    group_size: int
    """Number of ranks that take part; of each group, if there are several."""
    groups: int = 1
    """Number of groups that run it at the same time, each on its own. Absent if there is one."""
    choice: str = ""
    """Why `auto` chose this algorithm. Absent if the scenario names the algorithm."""
    iteration: int
    """Index of the iteration."""
    layer: str
    """The layer that issued it."""
    start_ns: float
    """The first rank issues the collective."""
    end_ns: float
    """The last rank finishes it."""
    time_ns: float
    """end_ns - start_ns."""
    algbw_bps: float
    """Algorithm bandwidth: bytes / time."""
    busbw_bps: float
    """Bus bandwidth as in nccl-tests: algbw times 2(n-1)/n for an all_reduce, times 1 for a
    broadcast or a reduce, times (n-1)/n for the others."""


class Goodput(Block):
    """What failures and checkpoints leave of a long training, by a closed form."""

    fraction: float
    """Part of the time that ranks train without losing what they did."""
    tokens_per_s: float
    """Tokens in a second with this fraction."""
    failures_per_day: float
    """Failures of the whole job in a day."""
    checkpoint_interval_s: float
    """Training between two checkpoints [s]."""
    checkpoint_write_s: float
    """Time in which a rank writes its part of a checkpoint [s]."""


class Training(Block):
    """Rates of the training of a language model, over all iterations."""

    tokens_per_s: float
    """Tokens that all ranks together train on in a second of simulated time."""
    mfu: float
    """Model FLOPs utilization: FLOPs of the model in a second, relative to the peak of all ranks.
    What is computed again does not count, and attention counts whole, as in PaLM's report."""
    bubble_fraction: float
    """Time for which a rank waits for other pipeline stages, relative to the rest of its time, mean
    over the ranks. With equal stages and no communication: (stages - 1) / (micro-batches ·
    chunks)."""
    memory_bytes: int
    """Memory that the rank with the most needs: weights, gradients, optimizer, activations."""


class DimensionStatistics(Block):
    """The links of one dimension of the topology."""

    name: str
    """scale_up or scale_out."""
    links: int
    """Number of directed links."""
    wire_bytes: int
    """Bytes carried, with all headers, summed over the links."""
    drops: int
    """Packets that did not fit into an egress queue, or arrived at a link while it was down."""
    max_queue_bytes: int
    """Longest egress queue at a switch. links.csv also has that of each rank's own link."""
    utilization_mean: float
    """Busy time / elapsed time, mean over the links."""
    utilization_max: float
    """The same for the busiest link."""


class NetworkStatistics(Block):
    """What the fabric counted."""

    messages: int
    """Number of messages delivered."""
    payload_bytes: int
    """Payload delivered in order to the receivers."""
    wire_bytes: int
    """Bytes sent into the first link of a path, with all headers."""
    packets: int
    """Packets sent into the first link of a path, ACKs included."""
    data_packets: int
    """Packets with payload, retransmissions included."""
    drops: int
    """Packets that did not fit into an egress queue, or arrived at a link while it was down."""
    retransmissions: int
    """Data packets sent again."""
    rto_events: int
    """Retransmission timeouts."""
    rto_wait_ns: float = 0.0
    """Time for which connections waited until their retransmission timers expired; what overlaps
    counts once."""
    ecn_marks: int
    """Packets that a switch marked as congestion experienced."""
    link_utilization_mean: float
    """Busy time / elapsed time, mean over all links that carried data."""
    flows: int
    """Number of connections that carried at least one message."""
    rtt_flows: int
    """Number of connections with at least one RTT sample."""
    rtt_mean_ns: float
    """Round-trip time, mean over the flows. cosim samples each flow at a fixed interval and takes
    the mean of its samples. 0 if rtt_flows is 0."""
    rtt_p50_ns: float
    """Round-trip time, median over the flows."""
    rtt_p99_ns: float
    """Round-trip time, 99th percentile over the flows."""
    fct_mean_ns: float
    """Completion time of a message, from its send to the in-order delivery of its last byte:
    mean."""
    fct_p50_ns: float
    """Completion time, median over the messages."""
    fct_p99_ns: float
    """Completion time, 99th percentile over the messages."""
    fct_max_ns: float
    """Completion time of the slowest message."""
    dimensions: tuple[DimensionStatistics, ...]
    """One entry for each topology dimension."""


class Reconfiguration(Block):
    """One change of the circuits during the run (`topology.reconfiguration`)."""

    start_ns: float
    """cosim measures the demand, and all flows pause."""
    pause_ns: float
    """Length of the pause."""
    new_circuits: int
    """Number of circuits that did not exist before."""
    demand_bytes: int
    """Bytes sent but not yet delivered when the demand was measured."""
    demand_pairs: int
    """Number of ordered pairs of ranks with demand."""
    distant_pairs: int
    """Number of these pairs without a circuit of their own after the change."""


class NetworkEvent(Block):
    """Something that happened to links or ranks, or paths that followed it."""

    time_ns: float
    """When [ns]."""
    event: str
    """What happened, as in `events` of the scenario."""
    rerouting: bool
    """False: the event itself; true: the time to detect it has passed, and paths follow it."""
    rerouted_paths: int
    """Paths between two ranks that have changed now."""
    broken_paths: int
    """Paths that use a link that is down, or have no links, afterwards."""


class NetworkEvents(Block):
    """What happened to links and ranks."""

    packets_lost: int
    """Packets lost on links, or in the queues of links that failed."""
    packets_refused: int = 0
    """Packets that arrived at a link while it was down. They are among the drops."""
    events: tuple[NetworkEvent, ...]
    """The events and what followed, in the order of time."""


class Reordering(Block):
    """Data packets that overtook each other, and what TCP made of them."""

    packets: int
    """Data packets that arrived after one of their connection that was sent later (RFC 4737). A
    retransmission is a packet of its own, so a lost packet is not reordered."""
    largest_displacement: int
    """Most places by which one of them was late: the number of packets sent between it and the
    latest one that had arrived. From 3 places on, TCP takes a packet for lost."""
    unneeded_retransmissions: int
    """Data packets that arrived although the receiver had all their bytes."""


class SharedLink(Block):
    """A link between switches over which at least two flows have sent messages."""

    source: str
    """The name of the switch that it leaves."""
    target: str
    """The name of the switch that it enters."""
    link: int
    """Its number, which tells parallel links apart."""
    flows: int
    """Number of flows that share it. A detour around a failed link does not count."""
    bytes: int
    """Payload of the messages of these flows [bytes]."""
    pairs: tuple[tuple[int, int], ...]
    """The sending and the receiving rank of the first 64 of these flows."""


class Estimate(Block):
    """What is known about the error of this estimate: the errors in stored scenarios that resemble
    it, none of which lost packets, against the time of express. A result of an earlier version does
    not say what the network is."""

    network: str = ""
    """The class of the network: direct (links join ranks), one tier (of switches), tiers, or
    oversubscribed (tiers of switches with less rate above than below)."""
    scenarios: tuple[str, ...]
    """The stored scenarios, which `make fidelity` simulates: on such a network, of the same kind
    and algorithm if there are any. None if no such network is stored, or packets could be lost."""
    mean_error: float | None = None
    """Mean of the absolute errors; 0.1 is 10 %."""
    largest_error: float | None = None
    """The error with the largest absolute value, with its sign: positive if the estimate takes
    longer."""
    least_error: float | None = None
    """The smallest error, with its sign."""
    greatest_error: float | None = None
    """The greatest error, with its sign."""
    losses: Literal["queue", "link", "failure"] | None = None
    """Why packets could be lost: more can arrive at a queue than it holds, a link loses packets at
    random, or a link fails. An estimate has no losses and no timeouts, so its error can be of any
    size."""
    arriving_bytes: int | None = None
    """Bytes that can arrive at once at the queue, headers included; None for other losses."""
    buffer_bytes: int | None = None
    """Bytes that the queue holds; None for other losses."""


class PathTimes(Block):
    """The time of a critical path by what it is spent on."""

    compute_ns: float
    """A rank computes."""
    timer_ns: float
    """A timer of the workload runs."""
    slot_ns: float
    """A chunk waits for slots of the ranks (`system.concurrent_chunks`), or for their agreement."""
    injection_ns: float
    """The latency of a step before it sends, or after it has received
    (`system.injection_latency`)."""
    host_ns: float
    """Ranks handle messages (`system.send` and `system.receive`)."""
    serialization_ns: float
    """Bandwidth: transmission of a message's packets, and of other messages of its collective that
    are before it on the busiest link of its path."""
    propagation_ns: float
    """Latencies of the links of the path."""
    queueing_ns: float
    """Contention: a message waits for messages that do not belong to its collective, on the busiest
    link of its path."""
    paused_ns: float = 0.0
    """Lossless switches paused a port of the path for longer than the busiest link of the path was
    busy. This is the least that pauses can have cost: while the busiest link has something to send,
    a pause costs nothing, and the wait is queueing or serialization."""
    window_ns: float = 0.0
    """The rest of a message's time: TCP's window, or the rate of a queue pair, holds it back.
    Versions before this field counted it, and the wait for messages of the same collective, as
    queueing_ns."""
    retransmission_ns: float
    """TCP repairs losses of the message's flow: the time for which a retransmission timer has run,
    and a round trip in an empty network for each other repair."""
    reduction_ns: float
    """A rank reduces what it has received, or waits for its reduction unit."""


class PathStep(Block):
    """A part of a critical path that belongs to one node or collective."""

    name: str
    """The node of the workload, or the collective."""
    kind: str
    """compute, collective, message or timer."""
    layer: str
    """The layer that it belongs to."""
    start_ns: float
    """The path enters it."""
    end_ns: float
    """The path leaves it."""
    first_rank: int
    """The rank at which the path enters it."""
    last_rank: int
    """The rank at which the path leaves it."""
    times: PathTimes
    """Its time; the parts add up to end_ns - start_ns."""


class CriticalPath(Block):
    """What makes an iteration as long as it is: the chain of what waited for each other."""

    iteration: int
    """Index of the iteration. If jobs share a cluster, 0 stands for the whole run."""
    start_ns: float
    """Start of the iteration."""
    end_ns: float
    """End of the iteration."""
    time_ns: float
    """end_ns - start_ns."""
    times: PathTimes
    """The time of the iteration; the parts add up to time_ns."""
    steps: tuple[PathStep, ...]
    """The path, by time."""
    steps_left_out: int
    """Number of further steps, shorter than these; a path has 1000 steps at most."""


class System(Block):
    """What the system layer did."""

    max_outstanding_chunks: dict[str, int]
    """Most chunks that any rank had in flight at the same time, by topology dimension."""


class Simulator(Block):
    """What the simulation cost, and the versions that ran it."""

    events: int
    """Number of events that ns-3 executed."""
    ranks: int | None = None
    """Number of ranks that were simulated, if all others do the same as one of them at the same
    time (see `simulation.replay`). Absent if all were."""
    wall_s: float
    """Wall time of compiling, building and running [s]."""
    cpu_s: float
    """CPU time of compiling, building and running [s]."""
    peak_rss_bytes: int
    """Peak resident memory of the process."""
    seed: int
    """Seed of all random choices."""
    versions: dict[str, str]
    """Versions of cosim, ns3 and python."""


class Rdma(Block):
    """What queue pairs of RoCE did beside sending."""

    cnps: int
    """Congestion notifications that receivers sent, in ACKs or as packets of their own."""
    nacks: int
    """Requests of receivers for missing packets."""
    repeated_bytes: int
    """Payload that was sent again, in bytes."""
    rate_mean_bps: float = 0.0
    """Mean over the queue pairs of their mean rates. The mean rate of a queue pair is what it has
    sent, with all headers, over the time that this takes at the rates that its congestion control
    allowed when each packet was sent. Waiting for data, for the port or for a pause does not
    count."""
    rate_p01_bps: float = 0.0
    """The 1st percentile of these mean rates: the slowest queue pairs."""
    rate_p50_bps: float = 0.0
    """Their median."""
    rate_p99_bps: float = 0.0
    """Their 99th percentile."""


class PauseHop(Block):
    """Pauses at the same place in the chains of pauses. The first one is of those that no other
    pause has led to; a switch that is paused, and then pauses a link itself, leads to the next."""

    count: int
    """Number of pauses that reached a port."""
    time_ns: float
    """Time that ports were paused, summed over the ports."""
    links: int
    """Number of links that were paused."""


class Pauses(Block):
    """How often lossless switches paused the ports that send to them."""

    count: int
    """Number of pauses that reached a port."""
    time_ns: float
    """Time that ports were paused, summed over the ports."""
    worst_link: str
    """The link that was paused longest, by its ends; empty if none was."""
    worst_ns: float
    """Time that it was paused."""
    hops: int
    """Longest chain of pauses: a switch that is paused, and then pauses a link itself, makes it one
    longer."""
    hosts: int
    """Number of links of ranks that were paused."""
    headroom_peak_bytes: int
    """Most headroom that a link has taken, in bytes."""
    headroom_bytes: int
    """Headroom of that link, in bytes."""
    headroom_drops: int
    """Packets that were dropped because they did not fit into headroom."""
    headroom_lack_bytes: int
    """Further headroom that the worst of these links had needed during a pause, in bytes."""
    spread: tuple[PauseHop, ...] = ()
    """How pauses spread: those at the first place of a chain, at the second, and so on."""


class Replay(Block):
    """How much of the network's work was simulated only once (see `simulation.replay`).

    An episode is the time in which something is under way in a part of the network.
    """

    episodes: int
    """Number of episodes."""
    simulated: int
    """Episodes that were simulated packet by packet, at least in part. The others were played."""
    taken_back: int
    """Episodes that began like an earlier one and then differed, so that they were simulated again
    from their start."""
    messages: int
    """Messages that needed no packets."""
    packets: int
    """Packets that were counted and not simulated."""
