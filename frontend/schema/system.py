"""`system`: chunking, concurrency and scheduling of collectives; what a message costs a rank."""

from typing import Any, Literal

from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError

from frontend.schema.base import Count, Model, ShortForm
from frontend.schema.quantities import ByteRate, Delay


class NumberOrMapping(ShortForm):
    """A mapping that may be written as one number, meant for all of its keys."""

    @classmethod
    def whole(cls, value: Any) -> Any:
        """Let a number be the value of all keys."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return dict.fromkeys(cls.model_fields, value)
        if not isinstance(value, dict | cls):
            raise PydanticCustomError("number_or_mapping", "expected a number or a mapping")
        return value

    @classmethod
    def short_schema(cls) -> JsonSchemaValue:
        """Return the JSON Schema of the short form."""
        return {"type": "integer", "minimum": 1}


class Chunks(NumberOrMapping):
    """Number of chunks of a collective, by operation."""

    all_reduce: Count = 1
    """Chunks of an all-reduce."""
    reduce_scatter: Count = 1
    """Chunks of a reduce-scatter."""
    all_gather: Count = 1
    """Chunks of an all-gather."""
    all_to_all: Count = 1
    """Chunks of an all-to-all."""
    broadcast: Count = 1
    """Chunks of a broadcast."""
    reduce: Count = 1
    """Chunks of a reduce."""
    gather: Count = 1
    """Chunks of a gather."""
    scatter: Count = 1
    """Chunks of a scatter."""
    barrier: Count = 1
    """Chunks of a barrier."""


class ConcurrentChunks(NumberOrMapping):
    """Most chunks that a rank has in flight at the same time, by network dimension."""

    scale_up: Count = 64
    """Inside super-nodes."""
    scale_out: Count = 64
    """Between super-nodes; the only dimension of a flat topology."""


class HostCost(Model):
    """What a processor of a rank takes for a message. Each flow of `transport.flows_per_pair` has
    one at both ends. It handles one message, or the flow's part of it, after another."""

    message: Delay = Delay.parse("0ns")
    """Time that a processor of the rank takes for each message."""
    bandwidth: ByteRate | None = None
    """Rate at which the processor copies the bytes of a message; null: copying takes no time."""


class System(Model):
    """The system layer of every rank: it divides collectives into chunks and schedules them."""

    chunks: Chunks = Chunks()
    """Number of parts of a collective, each scheduled on its own: one number, or one for each
    operation. cosim makes fewer if a chunk would be empty."""
    concurrent_chunks: ConcurrentChunks = ConcurrentChunks()
    """Most chunks that a rank has in flight: one number, or one for each dimension."""
    concurrent_chunks_per: Literal["dimension", "level"] = "dimension"
    """Where `concurrent_chunks` counts. dimension: all chunks that a rank has in flight in a
    network dimension. level: those in each level of a collective with `levels`."""
    admission: Literal["local", "negotiated"] = "negotiated"
    """Who decides that a phase of a chunk starts. local: each rank, when it has reached the phase
    and has a free slot of `concurrent_chunks`. It prefers chunks for which data has arrived, and
    keeps its last free slot for its oldest chunk. Messages of the same picosecond leave in the
    order of the ranks and of their traces.
    negotiated: all members of the phase together, when each has reached it and has a free slot.
    They agree in no time."""
    scheduling: Literal["lifo", "fifo"] = "lifo"
    """Which of several waiting collectives of equal priority starts first: the latest (lifo) or the
    earliest (fifo)."""
    chunk_order: Literal["index", "arrival"] = "index"
    """Which of several waiting chunks of a collective starts first. index: the lowest one, and of
    its phases the latest. arrival: the one that has waited longest, as in ASTRA-sim; only with
    `admission: negotiated`."""
    injection_latency: Delay = Delay.parse("10ns")
    """Delay between computation and network interface, for each message at both ends."""
    send: HostCost = HostCost()
    """What it costs a rank to send a message, before the message enters the network."""
    receive: HostCost = HostCost()
    """What it costs a rank to receive a message, after its last byte has arrived."""
    reduction_bandwidth: ByteRate | None = None
    """Rate at which a rank adds received data to its own; null: reductions take no time."""
