"""The names that MSCCL XML uses: collectives, protocols, elements and attributes."""

from __future__ import annotations

from collections.abc import Mapping

from topology_gen.lowering.algorithm import Operation

COLLECTIVES: Mapping[str, Operation] = {
    "allreduce": "all_reduce",
    "reducescatter": "reduce_scatter",
    "allgather": "all_gather",
    "alltoall": "all_to_all",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "reduce_scatter": "reduce_scatter",  # the spelling of msccl-tools
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
    # Older files lack these; redop is an attribute of NCCLize.
    "algo": ("name", "outofplace", "minBytes", "maxBytes", "redop"),
}

PARENT: Mapping[str, str | None] = {"algo": None, "gpu": "algo", "tb": "gpu", "step": "tb"}
