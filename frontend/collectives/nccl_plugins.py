"""The networks of NCCL: what their plug-ins and their vendors' settings tell it.

A plug-in tells NCCL's tuner a latency, by which NCCL chooses. What a step takes is another number:
AWS tells 75 µs on its p5, where a message of 8 bytes takes 20 µs, because NCCL chooses the wrong
algorithm on two servers with less (aws/aws-ofi-nccl d87d61e0). Vendors also set variables of NCCL,
and some plug-ins have a tuner of their own.

Sources:

- aws/aws-ofi-nccl 2daf7d303aa1, `src/platform-aws.cpp` (latencies told, variables),
  `src/tuner/nccl_ofi_model.cpp` (latency of 8 bytes between two servers: 20 µs on the p5, 18 µs on
  the p5en). We know of no such number for the p4d, so it has what it is told, and of none for the
  p6, so it has that of the p5en. NCCL's own steps have 1 µs of InfiniBand in them, as `ib_send_lat`
  of perftest measures it.
- google/nccl-plugin-gpudirect-tcpxo 04815d1, `tcpxo_scripts/nccl-env-profile.sh` and
  `nccl-env-profile-simple.sh`; dstackai/dstack 511c318c8a76,
  `mkdocs/docs/examples/clusters/gcp.md` (TCPX). Google has published no latency of its networks.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from frontend.collectives.nccl_regions import Tuner

PluginName = Literal[
    "verbs", "efa_p4d", "efa_p5", "efa_p5en", "efa_p6", "tcpx", "tcpxo", "tcpxo_simple"
]
_KIB, _MIB = 2**10, 2**20


class Plugin(NamedTuple):
    """A network of NCCL.

    Attributes
    ----------
    told_us : float
        Latency that the plug-in tells the tuner.
    step_us : float
        What a step between servers takes more than over InfiniBand.
    kinds, protocols : tuple of str
        The algorithms and the protocols that it allows (`NCCL_ALGO`, `NCCL_PROTO`); empty: all.
    tuner : str
        Its own tuner; empty: it has none.
    buffer_bytes : int
        Buffer of a connection with Simple (`NCCL_BUFFSIZE`).
    message_bytes : int
        Chunk of sends and receives between servers (`NCCL_P2P_NET_CHUNKSIZE`).
    nvls_chunk_bytes, nvls_tree_chunk_bytes : int
        Largest chunks of NVLS and NVLS tree (`NCCL_NVLS_CHUNKSIZE`, `NCCL_NVLSTREE_MAX_CHUNKSIZE`);
        0: those that NCCL has.
    """

    told_us: float = 0.0
    step_us: float = 0.0
    kinds: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    tuner: Tuner | Literal[""] = ""
    buffer_bytes: int = 4 * _MIB
    message_bytes: int = 128 * _KIB
    nvls_chunk_bytes: int = 0
    nvls_tree_chunk_bytes: int = 0


_EFA = Plugin(
    told_us=35.0,
    step_us=17.0,
    buffer_bytes=8 * _MIB,
    message_bytes=512 * _KIB,
    nvls_chunk_bytes=512 * _KIB,
    nvls_tree_chunk_bytes=512 * _KIB,
)
_TCPXO = Plugin(
    protocols=("LL128", "Simple"),
    buffer_bytes=8 * _MIB,
    message_bytes=512 * _KIB,
    nvls_tree_chunk_bytes=128 * _KIB,
)

PLUGINS: dict[str, Plugin] = {
    "verbs": Plugin(),
    "efa_p4d": Plugin(told_us=75.0, step_us=75.0, buffer_bytes=8 * _MIB, message_bytes=512 * _KIB),
    "efa_p5": _EFA._replace(told_us=75.0, step_us=19.0, tuner="p5"),
    "efa_p5en": _EFA._replace(tuner="p5en"),
    "efa_p6": _EFA._replace(tuner="p6"),
    "tcpx": Plugin(kinds=("ring",), protocols=("Simple",), message_bytes=512 * _KIB),
    "tcpxo": _TCPXO,
    "tcpxo_simple": Plugin(
        kinds=("ring", "tree"),
        protocols=("Simple",),
        buffer_bytes=8 * _MIB,
        message_bytes=512 * _KIB,
    ),
}
"""The networks by name. `verbs` is InfiniBand and RoCE without a plug-in."""

assert set(PLUGINS) == set(get_args(PluginName))
