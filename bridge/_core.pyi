"""The compiled part: the simulation and the network API over ns-3 (private; see `bridge`)."""

from collections.abc import Callable, Mapping, Sequence

class CoreError(RuntimeError):
    """A stream that cannot be read or run, or a failed simulation; the text is one sentence."""

class Progress:
    """A snapshot of a run in progress."""

    @property
    def time_ns(self) -> float: ...
    @property
    def wall_s(self) -> float: ...
    @property
    def events(self) -> int: ...
    @property
    def delivered_bytes(self) -> int: ...
    @property
    def total_bytes(self) -> int: ...  # what the stream's collectives and sends will deliver

class Simulation:
    """One run of a stream. At most one Simulation or Network is alive in a process at a time."""

    def __init__(self, stream: bytes) -> None: ...  # ValueError: not a stream of this version
    def build(self) -> None: ...  # nodes, links, connections; after it, ns-3's objects exist
    def run(
        self, progress: Callable[[Progress], object] | None = None, interval_s: float = 0.25
    ) -> str: ...  # the result's status; "interrupted" swallows the pending KeyboardInterrupt
    def result(self) -> str: ...  # JSON text, see bridge/result.py; partial unless complete
    def close(self) -> None: ...  # Simulator::Destroy; idempotent

class Network:
    """The network API, driven message by message from Python callbacks."""

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
    def run(self) -> None: ...  # an exception in a callback ends the run and is raised here
    def statistics(self) -> str: ...  # JSON text: the "network" block of a result
    def close(self) -> None: ...

def ns3_version() -> str: ...
def fabrics() -> Sequence[str]: ...
def congestion_controls() -> Sequence[str]: ...

# Circuits for the bytes of each pair that has some; `discount` as in network_api.proto.
def optical_circuits(
    ranks: int,
    degree: int,
    discount: int,
    forwarding: bool,
    demand: Mapping[tuple[int, int], float],
) -> list[tuple[int, int]]: ...
