"""The compiled module: the simulation and the network API over ns-3 (private; see `bridge`)."""

from collections.abc import Callable, Mapping, Sequence

class CoreError(RuntimeError):
    """A stream that cannot be read or run, or a simulation that failed; the text is a sentence."""

class Progress:
    """A snapshot of a run in progress."""

    @property
    def time_ns(self) -> float: ...
    @property
    def wall_s(self) -> float: ...
    @property
    def events(self) -> int: ...
    @property
    def packets(self) -> int: ...
    @property
    def delivered_bytes(self) -> int: ...
    @property
    def total_bytes(self) -> int: ...  # the bytes that all messages of the stream deliver

class Simulation:
    """One run of a stream. A process holds at most one open Simulation or Network at a time."""

    def __init__(self, stream: bytes) -> None: ...  # ValueError: not a stream of this version
    def record_critical_path(self) -> None: ...  # before build
    def write_timeline(  # before build; `sink` takes text and returns the size of the file so far
        self,
        sink: Callable[[bytes], int],
        ranks: Sequence[int],  # empty: all
        start_ps: int,
        end_ps: int,
        limit_bytes: int,
        counter_ps: int,  # time between samples of links and flows at first; 0: none
        counter_links: int,
        counter_flows: int,
    ) -> None: ...  # ValueError: a rank does not exist
    def write_series(  # before build; sinks as for write_timeline
        self,
        link_sink: Callable[[bytes], int],
        flow_sink: Callable[[bytes], int],
        interval_ps: int,
        limit_bytes: int,
        link_count: int | None,  # None: all; those which most paths cross
        links: Sequence[int],  # instead of a number
        flow_count: int | None,  # None: all
    ) -> None: ...  # ValueError: a link does not exist
    def build(self) -> None: ...  # makes the nodes, links and connections as ns-3 objects
    def run(
        self, progress: Callable[[Progress], object] | None = None, interval_s: float = 0.25
    ) -> str: ...  # the result's status; "interrupted" clears the pending KeyboardInterrupt
    def result(self) -> str: ...  # JSON text as in bridge/results; partial unless complete
    def tables(self) -> dict[str, str]: ...  # CSV text by name: links, flows, fct; pauses
    def close(self) -> None: ...  # calls Simulator::Destroy; may be called more than once

class Network:
    """The network API: Python sends and receives messages and gets callbacks."""

    def __init__(self, stream: bytes) -> None: ...
    def sim_send(
        self,
        src: int,
        dst: int,
        bytes: int,
        tag: int = 0,
        callback: Callable[[], object] | None = None,
    ) -> None: ...
    def sim_recv(
        self,
        src: int,
        dst: int,
        bytes: int,
        tag: int = 0,
        callback: Callable[[], object] | None = None,
    ) -> None: ...
    def sim_schedule(self, delay_ps: int, callback: Callable[[], object]) -> None: ...
    def sim_get_time(self) -> int: ...  # picoseconds
    def sim_comm_size(self) -> int: ...
    def sim_finish(self) -> None: ...
    def run(self) -> None: ...  # raises an exception of a callback after it ended the run
    def statistics(self) -> str: ...  # JSON text: the "network" block of a result
    def close(self) -> None: ...

def ns3_version() -> str: ...
def ns3_has_failed() -> bool: ...  # in this process, which can simulate no more
def fabrics() -> Sequence[str]: ...
def congestion_controls() -> Sequence[str]: ...

# Returns the circuits for a demand: the bytes of each (source, destination) pair that has any.
# `discount` is numbered as in network_api.proto.
def optical_circuits(
    ranks: int,
    degree: int,
    discount: int,
    forwarding: bool,
    demand: Mapping[tuple[int, int], float],
) -> list[tuple[int, int]]: ...
