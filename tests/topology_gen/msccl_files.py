"""Makes MSCCL XML files of the forms that msccl-tools writes, without using it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Op(NamedTuple):
    """A step: its type, source and target as "i3", chunks, and what it waits for."""

    kind: str
    source: str
    target: str
    chunks: int = 1
    waits: tuple[tuple[str, int], ...] = ()  # (thread block's key, index of its op)


Blocks = Mapping[str, tuple[int, int, int, Sequence[Op]]]
"""Thread blocks by key: send peer, receive peer, channel, ops."""


def xml(
    gpus: Sequence[Blocks],
    collective: str,
    chunks: int,
    sizes: tuple[int, int, int],
    *,
    in_place: bool = False,
    name: str = "test",
) -> str:
    """Return a file: blocks sorted by peers and channel, all waits but the first of an op as nops,
    no document head and no outofplace, as msccl-tools does."""
    channels = max(block[2] for gpu in gpus for block in gpu.values()) + 1
    lines = [
        f'<algo name="{name}" proto="Simple" nchannels="{channels}" nchunksperloop="{chunks}" '
        f'ngpus="{len(gpus)}" coll="{collective}" inplace="{int(in_place)}">'
    ]
    for rank, blocks in enumerate(gpus):
        order = sorted(blocks, key=lambda key: blocks[key][:3])
        awaited = {wait for *_, ops in blocks.values() for op in ops for wait in op.waits}
        places = {}
        for key in order:
            at = 0
            for index, op in enumerate(blocks[key][3]):
                at += max(len(op.waits) - 1, 0)
                places[key, index] = at
                at += 1
        i, o, s = sizes
        lines.append(f'  <gpu id="{rank}" i_chunks="{i}" o_chunks="{o}" s_chunks="{s}">')
        for number, key in enumerate(order):
            send, receive, channel, ops = blocks[key]
            lines.append(f'    <tb id="{number}" send="{send}" recv="{receive}" chan="{channel}">')
            at = 0
            for index, op in enumerate(ops):
                for wait in op.waits[1:]:
                    dep = f'depid="{order.index(wait[0])}" deps="{places[wait]}"'
                    lines.append(
                        f'      <step s="{at}" type="nop" srcbuf="i" srcoff="-1" dstbuf="o" '
                        f'dstoff="-1" cnt="0" {dep} hasdep="0"/>'
                    )
                    at += 1
                dep = 'depid="-1" deps="-1"'
                if op.waits:
                    wait = op.waits[0]
                    dep = f'depid="{order.index(wait[0])}" deps="{places[wait]}"'
                lines.append(
                    f'      <step s="{at}" type="{op.kind}" srcbuf="{op.source[0]}" '
                    f'srcoff="{op.source[1:]}" dstbuf="{op.target[0]}" dstoff="{op.target[1:]}" '
                    f'cnt="{op.chunks}" {dep} hasdep="{int((key, index) in awaited)}"/>'
                )
                at += 1
            lines.append("    </tb>")
        lines.append("  </gpu>")
    return "\n".join([*lines, "</algo>", ""])


def ring_all_reduce(ranks: int, channels: int) -> str:
    """In place, fused, one thread block a channel: channel k carries chunks k·ranks and on."""
    gpus = []
    for rank in range(ranks):
        blocks = {}
        for channel in range(channels):
            ops = []
            for time in range(2 * ranks - 1):  # how far a chunk has come when it is here
                chunk = f"i{channel * ranks + (rank - time) % ranks}"
                last = 2 * ranks - 2
                kind = "s" if time == 0 else "r" if time == last else "rcs"
                if 0 < time < ranks:
                    kind = "rrs" if time < ranks - 1 else "rrcs"
                ops.append(Op(kind, chunk, chunk))
            blocks[f"ring{channel}"] = ((rank + 1) % ranks, (rank - 1) % ranks, channel, ops)
        gpus.append(blocks)
    chunks = ranks * channels
    return xml(gpus, "allreduce", chunks, (chunks, 0, 0), in_place=True, name="allreduce_ring")


def all_pairs_all_reduce(ranks: int) -> str:
    """In place: everybody sends block p to p's scratch, p adds and sends the sum to all."""
    block = ranks  # chunks of a rank's part: one for each thread block that adds
    gpus = []
    for rank in range(ranks):
        peers = [peer for peer in range(ranks) if peer != rank]
        arrived = {peer: slot * block for slot, peer in enumerate(peers)}
        blocks = {}
        for peer in peers:
            slot = [other for other in range(ranks) if other != peer].index(rank)
            ops = [
                Op("s", f"i{peer * block}", f"s{slot * block}", block),
                Op("r", f"i{rank * block}", f"s{arrived[peer]}", block),
            ]
            others = tuple((f"peer{other}", 1) for other in peers if other != peer)
            for number, other in enumerate(peers):
                target = f"i{rank * block + peer}"
                source = f"s{arrived[other] + peer}"
                ops.append(Op("re", source, target, 1, others if number == 0 else ()))
            sums = [(f"peer{other}", 1 + len(peers)) for other in peers if other != peer]
            sums.append(("own", len(peers) - 1))
            place = f"i{rank * block}"
            ops.append(Op("s", place, place, block, tuple(sums)))
            place = f"i{peer * block}"
            ops.append(Op("r", place, place, block))
            blocks[f"peer{peer}"] = (peer, peer, 0, ops)
        waits = tuple((f"peer{peer}", 1) for peer in peers)
        target = f"i{rank * block + rank}"
        adds = [
            Op("re", f"s{arrived[peer] + rank}", target, 1, waits if number == 0 else ())
            for number, peer in enumerate(peers)
        ]
        blocks["own"] = (-1, -1, 0, adds)
        gpus.append(blocks)
    chunks = ranks * block
    sizes = (chunks, 0, (ranks - 1) * block)
    return xml(gpus, "allreduce", chunks, sizes, in_place=True, name="allreduce_pairs")


def recursive_all_reduce(ranks: int) -> str:
    """In place: halving, then doubling, with a thread block for each partner."""
    gpus = []
    for rank in range(ranks):
        blocks: dict[str, tuple[int, int, int, list[Op]]] = {}
        low, size, before = 0, ranks, None
        kept = []
        distance = ranks // 2
        while distance:
            partner, size = rank ^ distance, size // 2
            give = low if rank & distance else low + size
            low = low + size if rank & distance else low
            waits = ((before, 1),) if before is not None else ()
            blocks[f"at{distance}"] = (partner, partner, 0, [
                Op("s", f"i{give}", f"i{give}", size, waits), Op("rrc", f"i{low}", f"i{low}", size),
            ])  # fmt: skip
            kept.append((distance, low, give, size))
            before, distance = f"at{distance}", distance // 2
        before = None
        for distance, mine, theirs, size in reversed(kept):
            waits = ((before, 3),) if before is not None else ()
            blocks[f"at{distance}"][3].extend([
                Op("s", f"i{mine}", f"i{mine}", size, waits),
                Op("r", f"i{theirs}", f"i{theirs}", size),
            ])  # fmt: skip
            before = f"at{distance}"
        gpus.append(blocks)
    return xml(gpus, "allreduce", ranks, (ranks, 0, 0), in_place=True, name="allreduce_recursive")


def ring_all_gather(ranks: int) -> str:
    """In place, in the output alone, as msccl-tools writes it."""
    gpus = []
    for rank in range(ranks):
        ops = []
        for time in range(ranks):
            place = f"o{(rank - time) % ranks}"
            ops.append(Op("s" if time == 0 else "r" if time == ranks - 1 else "rcs", place, place))
        gpus.append({"ring": ((rank + 1) % ranks, (rank - 1) % ranks, 0, ops)})
    return xml(gpus, "allgather", ranks, (0, ranks, 0), in_place=True, name="allgather_ring")


def hierarchical_all_gather(instances: int) -> str:
    """Out of place, of 2 nodes of 2: own shard to both partners, and the far one's passed on."""
    gpus = []
    for rank in range(4):
        near, far = rank ^ 1, rank ^ 2
        blocks = {}
        for k in range(instances):
            own, there = f"i{k}", f"o{rank * instances + k}"
            passed = f"o{far * instances + k}"
            distant = f"o{(far ^ 1) * instances + k}"
            blocks[f"in{k}"] = (
                -1, near, k,
                [Op("r", own, f"o{near * instances + k}"), Op("r", distant, distant)],
            )  # fmt: skip
            blocks[f"pass{k}"] = (
                near, far, k, [Op("s", own, there), Op("rcs", own, passed)],
            )  # fmt: skip
            blocks[f"out{k}"] = (far, -1, k, [Op("s", own, there), Op("cpy", own, there)])
        gpus.append(blocks)
    chunks = 4 * instances
    return xml(gpus, "allgather", chunks, (instances, chunks, 0), name="allgather_hierarchical")


def two_step_all_to_all(nodes: int, local: int) -> str:
    """Out of place: what goes to local rank g of any node is gathered by g, then sent in one."""
    ranks = nodes * local
    gpus = []
    for rank in range(ranks):
        node, own = divmod(rank, local)
        blocks = {}
        for near in range(local):
            peer = node * local + near
            if near == own:
                ops = []
                for other in range(nodes):
                    to = f"o{rank}" if other == node else f"s{other * local + own}"
                    ops.append(Op("cpy", f"i{other * local + own}", to))
                blocks["own"] = (-1, -1, 0, ops)
                continue
            sends, receives = [], []
            for other in range(nodes):
                mine = f"o{rank}" if other == node else f"s{other * local + own}"
                theirs = f"o{peer}" if other == node else f"s{other * local + near}"
                sends.append(Op("s", f"i{other * local + near}", mine))
                receives.append(Op("r", f"i{other * local + own}", theirs))
            blocks[f"to{near}"] = (peer, -1, 0, sends)
            blocks[f"from{near}"] = (-1, peer, 0, receives)
        for other in range(nodes):
            if other == node:
                continue
            peer = other * local + own
            waits = [("own", other)]
            waits += [(f"from{near}", other) for near in range(local) if near != own]
            gathered = f"s{other * local}"
            send = Op("s", gathered, f"o{node * local}", local, tuple(waits))
            receive = Op("r", gathered, f"o{other * local}", local)
            blocks[f"far{other}"] = (peer, peer, 1, [send, receive])
        gpus.append(blocks)
    return xml(gpus, "alltoall", ranks, (ranks, ranks, ranks), name="alltoall_two_step")


def shifted_reduce_scatter() -> str:
    """Out of place, of 2 ranks, right only as msccl-tools means it: rrc adds to its target."""
    gpus = []
    for rank in range(2):
        peer = 1 - rank
        ops = [
            Op("cpy", f"i{rank}", "o0"),
            Op("cpy", f"i{peer}", "s0"),
            Op("s", "s0", "o0"),
            Op("rrc", "s0", "o0"),
        ]
        gpus.append({"both": (peer, peer, 0, ops)})
    return xml(gpus, "reduce_scatter", 2, (2, 1, 1))
