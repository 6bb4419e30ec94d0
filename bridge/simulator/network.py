"""The network API for Python: send and receive messages over the fabric, with callbacks.

The names are those of ASTRA-sim. The API is meant for experiments and tests; a compiled scenario
runs without Python calls for its messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from bridge.errors import StreamError
from bridge.results.errors import SimulationError
from bridge.results.measurements import NetworkStatistics
from frontend import load_network
from frontend.compiler.compile import compile_network
from frontend.loading.load import Source
from frontend.loading.overrides import Overrides, python_values
from frontend.units import parse_bytes

#: Picoseconds in a nanosecond.
PS_PER_NS = 1000

#: A callback takes no argument; its return value is ignored.
Callback = Callable[[], object]


class Network:
    """A fabric and its clock, ready to carry messages between ranks.

    Every message is a pair of calls, `sim_send` and `sim_recv`, with the same arguments in the same
    order: source, destination, size, tag. Messages from one rank to another are delivered in the
    order in which they were sent. Nothing happens before `run`, which returns when nothing is left
    to do.

    Parameters
    ----------
    scenario : path, mapping, Scenario or bytes
        The topology, the transport and the fabric; a workload is ignored and can be missing. Bytes
        are taken as a compiled stream.
    overrides : mapping or sequence of str, optional
        Changes to the scenario, as for `bridge.run`.
    pairs : iterable of (int, int), optional
        The pairs of ranks that communicate, in either direction; by default, all pairs.

    Raises
    ------
    frontend.ScenarioError
        The scenario is not valid.
    StreamError
        The stream is not valid.
    ValueError
        A pair does not consist of two different ranks.

    Examples
    --------
    >>> with Network("scenarios/collective.yaml") as network:  # doctest: +SKIP
    ...     network.sim_send(0, 1, 1_000_000)
    ...     network.sim_recv(0, 1, 1_000_000, callback=lambda: print(network.sim_get_time()))
    ...     network.run()
    """

    def __init__(
        self,
        scenario: Source | bytes,
        overrides: Overrides | None = None,
        *,
        pairs: Iterable[tuple[int, int]] | None = None,
    ) -> None:
        # Imported here so that `import bridge` works without ns-3.
        from bridge.simulator import core

        self._core_error = core.CoreError
        if isinstance(scenario, bytes):
            stream = scenario
        else:
            stream = compile_network(load_network(scenario, overrides or {}), pairs)
        try:
            self._network = core.Network(stream)
        except (core.CoreError, ValueError) as error:
            raise StreamError(str(error)) from None
        self._ranks = self._network.sim_comm_size()

    def sim_send(
        self,
        src: int,
        dst: int,
        size: int | float | str,
        tag: int = 0,
        callback: Callback | None = None,
    ) -> None:
        """Send a message.

        Parameters
        ----------
        src, dst : int
            Two different ranks.
        size : int, float or str
            Bytes, or text with a unit such as ``"1MB"``; a message of 0 bytes takes 1 byte on the
            wire.
        tag : int, optional
            Matches the send with its receive; from 0 to 2⁶⁴ - 1.
        callback : callable, optional
            Called when the last byte has been acknowledged.

        Raises
        ------
        ValueError
            A rank, the size or the tag is out of range.
        """
        size = self._check(src, dst, size)
        self._network.sim_send(src, dst, size, tag, callback)

    def sim_recv(
        self,
        src: int,
        dst: int,
        size: int | float | str,
        tag: int = 0,
        callback: Callback | None = None,
    ) -> None:
        """Receive a message; the order of the arguments is that of `sim_send`, sender first.

        Parameters
        ----------
        src, dst : int
            The sending and the receiving rank.
        size : int, float or str
            Bytes, the same as for the send.
        tag : int, optional
            Matches the receive with its send; 0 to 2⁶⁴ - 1.
        callback : callable, optional
            Called when the last byte has been delivered in order; at once if it already has.

        Raises
        ------
        ValueError
            A rank, the size or the tag is out of range.
        """
        size = self._check(src, dst, size)
        self._network.sim_recv(src, dst, size, tag, callback)

    def sim_schedule(self, delay_ns: float, callback: Callback) -> None:
        """Call a function after a delay.

        Parameters
        ----------
        delay_ns : float
            Nanoseconds from now, at least 0; rounded to picoseconds.
        callback : callable
            The function to call.

        Raises
        ------
        ValueError
            The delay is negative or not finite.
        """
        if not 0 <= delay_ns < float("inf"):
            raise ValueError(f"delay_ns is {delay_ns}, expected a finite number, 0 or more")
        self.sim_schedule_ps(round(delay_ns * PS_PER_NS), callback)

    def sim_schedule_ps(self, delay_ps: int, callback: Callback) -> None:
        """Call a function after a whole number of picoseconds; see `sim_schedule`."""
        if delay_ps < 0:
            raise ValueError(f"delay_ps is {delay_ps}, expected 0 or more")
        self._network.sim_schedule(delay_ps, callback)

    def sim_get_time(self) -> float:
        """Return the time in nanoseconds since all connections were established."""
        return self.sim_get_time_ps() / PS_PER_NS

    def sim_get_time_ps(self) -> int:
        """Return the exact time in picoseconds since all connections were established."""
        return self._network.sim_get_time()

    def sim_comm_size(self) -> int:
        """Return the number of ranks."""
        return self._ranks

    def sim_finish(self) -> None:
        """End `run`; call this from a callback."""
        self._network.sim_finish()

    def run(self) -> None:
        """Let time pass until nothing is left to do or `sim_finish` is called.

        An exception in a callback ends the run and passes through.

        Raises
        ------
        SimulationError
            A connection failed for good.
        """
        try:
            self._network.run()
        except self._core_error as error:
            raise SimulationError(str(error)) from None

    def statistics(self) -> NetworkStatistics:
        """Return what the fabric has counted so far, as in the ``network`` field of a result."""
        counts: Mapping[str, Any] = json.loads(self._network.statistics())
        return NetworkStatistics.model_validate(counts)

    def close(self) -> None:
        """Destroy the fabric so that another can be built; ``with`` does this for you."""
        self._network.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _check(self, src: int, dst: int, size: int | float | str) -> int:
        """Check the ranks, because ns-3 ends the process on a bad value; return the bytes."""
        for name, rank in (("src", src), ("dst", dst)):
            if not 0 <= rank < self._ranks:
                raise ValueError(f"{name} is {rank}, expected a rank from 0 to {self._ranks - 1}")
        if src == dst:
            raise ValueError(f"src and dst are both {src}, expected two different ranks")
        try:
            return parse_bytes(python_values(size))
        except ValueError as error:
            raise ValueError(f"size is {size!r}, {error}") from None
