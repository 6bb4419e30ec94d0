"""How MSCCL spells what an algorithm has, and which attributes its elements have."""

from __future__ import annotations

from collections.abc import Mapping

from topology_gen.lowering.algorithm import Operation

COLLECTIVES: Mapping[str, Operation] = {
    "allreduce": "all_reduce",
    "reducescatter": "reduce_scatter",
    "allgather": "all_gather",
    "alltoall": "all_to_all",
    "reduce_scatter": "reduce_scatter",  # as msccl-tools writes it
}

SPELLING: Mapping[Operation, str] = {
    operation: name for name, operation in reversed(list(COLLECTIVES.items()))
}

PROTOCOLS = ("Simple", "LL", "LL128")

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "algo": ("proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace"),
    "gpu": ("id", "i_chunks", "o_chunks", "s_chunks"),
    "tb": ("id", "send", "recv", "chan"),
    "step": (
        "s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep",
    ),
}  # fmt: skip

OPTIONAL: Mapping[str, tuple[str, ...]] = {
    # What older files do not have; redop is of ncclize's.
    "algo": ("name", "outofplace", "minBytes", "maxBytes", "redop"),
}

PARENT: Mapping[str, str | None] = {"algo": None, "gpu": "algo", "tb": "gpu", "step": "tb"}
