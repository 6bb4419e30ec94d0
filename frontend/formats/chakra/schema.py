"""Numbers and names of the Chakra schema, and of the attributes that ASTRA-sim reads."""

from enum import IntEnum


class ChakraType(IntEnum):
    """Type of a node (`NodeType` of the schema)."""

    INVALID = 0
    METADATA = 1
    MEM_LOAD = 2
    MEM_STORE = 3
    COMP = 4
    COMM_SEND = 5
    COMM_RECV = 6
    COMM_COLL = 7


OPERATIONS = {
    0: "all_reduce",
    1: "reduce",
    2: "all_gather",
    3: "gather",
    4: "scatter",
    5: "broadcast",
    6: "all_to_all",
    7: "reduce_scatter",
    8: "reduce_scatter",
    9: "barrier",
}
"""The operation of each `CollectiveCommType` of the schema."""

TYPE_OF = {operation: number for number, operation in reversed(OPERATIONS.items())}
"""The `CollectiveCommType` of each operation."""

NUMBERS = (
    "is_cpu_op",
    "num_ops",
    "tensor_size",
    "comm_type",
    "comm_size",
    "comm_src",
    "comm_dst",
    "comm_tag",
    "comm_priority",
    "involved_dim",
    "duration_ps",
    "buffer_bytes",
    "iteration",
    "route",
)
"""Attributes that are whole numbers. The last four are cosim's own: the schema counts time in
microseconds, the size of an all-gather in shards, and has no iterations and no routes."""

TEXTS = ("pg_name", "comm_group", "layer")
"""Attributes that are text. STAGE has written `comm_group` in place of `pg_name`; `layer` is
cosim's own."""
