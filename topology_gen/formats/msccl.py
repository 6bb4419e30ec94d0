"""Reads and writes MSCCL XML, the algorithm files of the MSCCL runtime.

Elements and attributes follow microsoft/msccl, src/graph/topo.cc,
and Azure/msccl-executor-nccl, src/misc/msccl/msccl_parser.cc. The meaning of the instructions
follows the latter's src/device/msccl_kernel.cu.

Source of the runtime's limits: microsoft/msccl, src/include/msccl.h (256 steps in a thread block,
216 thread blocks). Some builds of the later Azure/msccl-executor-nccl allow only 64 steps; see its
msccl_struct.h. It also allows only 4096 XML elements in a rank's memory: those of the rank itself
and the outermost elements of the other ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

import numpy as np

from topology_gen import kernels
from topology_gen.arrays import Numbers
from topology_gen.errors import AlgorithmError, FileFormatError
from topology_gen.lowering.algorithm import (
    BUFFERS,
    KINDS,
    Algorithm,
    Block,
    Buffer,
    Gpu,
    Instruction,
    Kind,
    Operation,
    Place,
    Step,
    Table,
    table_of,
)

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

_PROTOCOLS = ("Simple", "LL", "LL128")

_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "algo": ("proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace"),
    "gpu": ("id", "i_chunks", "o_chunks", "s_chunks"),
    "tb": ("id", "send", "recv", "chan"),
    "step": (
        "s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep",
    ),
}  # fmt: skip

_OPTIONAL: Mapping[str, tuple[str, ...]] = {
    # Older files lack these; redop is an attribute of NCCLize.
    "algo": ("name", "outofplace", "minBytes", "maxBytes", "redop"),
}

_PARENT: Mapping[str, str | None] = {"algo": None, "gpu": "algo", "tb": "gpu", "step": "tb"}

MOST_BYTES = 2**28
"""Greatest size of a file in bytes."""

_NUMBER = re.compile("-?[0-9]{1,19}")


@dataclass(slots=True)
class Element:
    """An element of the file: its name, line number, attributes and children."""

    name: str
    line: int
    attributes: Mapping[str, str]
    children: list[Element] = field(default_factory=list)

    def error(self, text: str) -> FileFormatError:
        """Return an error about this element, with its line number."""
        return FileFormatError(f"line {self.line}: <{self.name}>: {text}")

    def text(self, key: str, accepted: Mapping[str, object] | tuple[str, ...]) -> str:
        """Return an attribute that holds one of the accepted words."""
        value = self.attributes[key]
        if value not in accepted:
            raise self.error(f"{key} is {value!r}: expected one of {', '.join(accepted)}")
        return value

    def number(self, key: str, least: int, most: int = 2**31 - 1) -> int:
        """Return an attribute that holds a whole number from `least` to `most`."""
        value = self.attributes[key]
        if not _NUMBER.fullmatch(value) or not least <= int(value) <= most:
            raise self.error(f"{key} is {value!r}: expected a whole number from {least} to {most}")
        return int(value)


def read_elements(content: bytes) -> tuple[Element, tuple[str, ...]]:
    """Return the root element of a file, and what was ignored.

    As in the runtime, elements and attributes that are not in MSCCL's schema are ignored. A
    document type is an error. So there are no entities, which could read other files or expand
    without limit.

    Raises
    ------
    FileFormatError
        The file is too large or not XML, or an element or attribute is missing or in the wrong
        place.
    """
    if len(content) > MOST_BYTES:
        raise FileFormatError(f"{len(content)} bytes: expected at most {MOST_BYTES}")
    reader = _Reader()
    try:
        reader.parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"expected MSCCL XML, but it is not XML: {error}") from None
    assert reader.root is not None  # otherwise the parser would have failed
    return reader.root, reader.ignored


class _Reader:
    def __init__(self) -> None:
        self.root: Element | None = None
        self.open: list[Element] = []
        self._unknown = 0  # depth inside an element that is ignored
        self._ignored: dict[str, list[int]] = {}  # what, and the lines
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def _doctype(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        raise FileFormatError(f"line {line}: expected a file without a document type")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        element = Element(name, line, attributes)
        parent = self.open[-1].name if self.open else None
        if self._unknown or (name not in _PARENT and parent is not None):
            self._unknown += 1
            if self._unknown == 1:
                self._ignored.setdefault(f"element <{name}>", []).append(line)
            return
        if name not in _PARENT:
            raise element.error("unknown element: expected algo")
        if _PARENT[name] != parent:
            inside = f"inside <{_PARENT[name]}>" if _PARENT[name] else "as the outermost element"
            raise element.error(f"expected this element {inside}, not inside <{parent}>")
        for key in _REQUIRED[name]:
            if key not in attributes:
                raise element.error(f"missing attribute {key}")
        known = (*_REQUIRED[name], *_OPTIONAL.get(name, ()))
        for key in attributes:
            if key not in known:
                self._ignored.setdefault(f"attribute {key} of <{name}>", []).append(line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    @property
    def ignored(self) -> tuple[str, ...]:
        """A phrase for each unknown element and attribute."""
        return tuple(
            f"line {lines[0]}: {what} is ignored, as the runtime ignores it"
            + (f" (and {len(lines) - 1} more)" if len(lines) > 1 else "")
            for what, lines in self._ignored.items()
        )

    def _end(self, _: str) -> None:
        if self._unknown:
            self._unknown -= 1
        else:
            self.open.pop()

    def _text(self, data: str) -> None:
        if data.strip() and not self._unknown:
            line = self.parser.CurrentLineNumber
            raise FileFormatError(
                f"line {line}: expected elements only, not the text {data.strip()[:20]!r}"
            )


_KINDS = {kind.value: kind for kind in Kind}
_BUFFERS = {buffer.value: buffer for buffer in Buffer}
_MOST_BYTES = 2**63 - 1


def read_xml(content: bytes) -> Algorithm:
    """Return the algorithm of an MSCCL XML file; see `read_xml_and_ignored`."""
    return read_xml_and_ignored(content)[0]


def read_xml_and_ignored(content: bytes) -> tuple[Algorithm, tuple[str, ...]]:
    """Return the algorithm of an MSCCL XML file, and a phrase for everything that was ignored.

    The meaning is that of the runtime. A receive that reduces adds to its `src`. A step that others
    depend on signals them if its `hasdep` is 1; otherwise the next step of its block with `hasdep`
    1 does. The root of a broadcast or scatter is the rank that receives least, that of a reduce or
    gather the rank that sends least.

    Parameters
    ----------
    content : bytes
        The whole file.

    Raises
    ------
    FileFormatError
        The content is not MSCCL XML; the message names the line.
    AlgorithmError
        The numbers of ranks and chunks do not fit together.

    See Also
    --------
    topology_gen.formats.msccl.write_xml
    """
    root, ignored = read_elements(content)
    collective = COLLECTIVES[root.text("coll", COLLECTIVES)]
    channels = root.number("nchannels", 0)
    gpus = _in_order(root, root.number("ngpus", 1), "gpu")
    in_place = root.number("inplace", 0, 1) == 1
    given = root.attributes
    # Older files lack the attribute `outofplace` and are for one of the two.
    out_of_place = root.number("outofplace", 0, 1) == 1 if "outofplace" in given else not in_place
    parts = tuple(_gpu(element, channels) for element in gpus)
    algorithm = Algorithm(
        name=given.get("name", ""),
        operation=collective,
        chunks=root.number("nchunksperloop", 1),
        in_place=in_place,
        out_of_place=out_of_place,
        gpus=parts,
        root=_root(collective, parts),
        protocol=root.text("proto", _PROTOCOLS),
        least_bytes=root.number("minBytes", 0, _MOST_BYTES) if "minBytes" in given else 0,
        most_bytes=root.number("maxBytes", 0, _MOST_BYTES) if "maxBytes" in given else 0,
    )
    return algorithm, ignored


def _root(operation: Operation, gpus: Sequence[Gpu]) -> int:
    """Return the rank that receives or sends least, if the operation has a root."""

    def moved(rank: int) -> int:
        return sum(
            step.chunks
            for block in gpus[rank].blocks
            for step in block.instructions
            if (step.kind.receives if operation in ("broadcast", "scatter") else step.kind.sends)
        )

    rooted = operation in ("broadcast", "scatter", "reduce", "gather")
    return min(range(len(gpus)), key=moved) if rooted else 0


def _in_order(parent: Element, count: int, name: str) -> list[Element]:
    """Return the children sorted by their ids, which must be 0 … count-1."""
    found: dict[int, Element] = {}
    for child in parent.children:
        number = child.number("id", 0)
        if number in found:
            raise child.error(f"id {number} is also that of line {found[number].line}")
        found[number] = child
    for number in range(count):
        if number not in found:
            raise parent.error(f"{name} {number} is missing: expected 0 … {count - 1}")
    for number, child in found.items():
        if number >= count:
            raise child.error(f"id {number}: expected 0 … {count - 1}")
    return [found[number] for number in range(count)]


def _gpu(element: Element, channels: int) -> Gpu:
    blocks = _in_order(element, len(element.children), "tb")
    # The runtime skips nops, so a nop signals nobody.
    awaited = [
        [
            step.number("hasdep", 0, 1) == 1 and step.attributes["type"] != Kind.NOP
            for step in block.children
        ]
        for block in blocks
    ]
    return Gpu(
        element.number("i_chunks", 0),
        element.number("o_chunks", 0),
        element.number("s_chunks", 0),
        tuple(_block(block, channels, awaited) for block in blocks),
    )


def _block(element: Element, channels: int, awaited: Sequence[Sequence[bool]]) -> Block:
    send, receive = (element.number(key, -1) for key in ("send", "recv"))
    # A block without peers needs no channel and may have channel -1.
    least = -1 if max(send, receive) < 0 else 0
    return Block(
        None if send < 0 else send,
        None if receive < 0 else receive,
        element.number("chan", least, max(channels - 1, 0)),
        tuple(_instruction(step, i, awaited) for i, step in enumerate(element.children)),
    )


def _instruction(element: Element, index: int, awaited: Sequence[Sequence[bool]]) -> Instruction:
    if element.number("s", 0) != index:
        raise element.error(f"s is {element.attributes['s']}: expected {index}, its place here")
    kind = _KINDS[element.text("type", _KINDS)]
    return Instruction(
        kind,
        _place(element, "src"),
        _place(element, "dst"),
        element.number("cnt", 0 if kind is Kind.NOP else 1),
        _dependency(element, awaited),
        element.number("hasdep", 0, 1) == 1,
    )


def _place(element: Element, end: str) -> Place:
    buffer = _BUFFERS[element.text(f"{end}buf", _BUFFERS)]
    return Place(buffer, element.number(f"{end}off", -1))


def _dependency(element: Element, awaited: Sequence[Sequence[bool]]) -> Step | None:
    block, step = element.number("depid", -1), element.number("deps", -1)
    if block < 0:
        return None
    if block >= len(awaited):
        raise element.error(f"depid is {block}: expected a tb of this gpu, 0 … {len(awaited) - 1}")
    if not 0 <= step < len(awaited[block]):
        raise element.error(
            f"deps is {step}: expected a step of tb {block}, 0 … {len(awaited[block]) - 1}"
        )
    # The flag of a tb only increases, so the next step that sets it also satisfies the dependency.
    for later in range(step, len(awaited[block])):
        if awaited[block][later]:
            return Step(block, later)
    raise element.error(
        f"waits forever for tb {block} step {step}: expected hasdep=1 at that step or a later one"
    )


MOST_CHANNELS = 32
MOST_BLOCKS = 128
"""Greatest number of thread blocks of a rank; a dependency names a block with a signed byte."""
MOST_BLOCKS_OF_A_CHANNEL = 32
MOST_STEPS = 256
"""Greatest number of steps of a thread block, including nops."""
MOST_COUNT = 71
"""Greatest number of chunks in a step."""
MOST_OFFSET = 2**15 - 1
MOST_ELEMENTS = 4095
"""Greatest number of elements that a rank keeps: the algo, every gpu, and its own tbs and steps."""
MOST_NAME = 63

_NAMES = [kind.value for kind in KINDS], [buffer.value for buffer in BUFFERS]
_SPELLING: Mapping[Operation, str] = {
    operation: name for name, operation in reversed(list(COLLECTIVES.items()))
}


def write_xml(algorithm: Algorithm | Table) -> str:
    """Return the MSCCL XML of an algorithm.

    The runtime uses its own simple parser. The file must therefore start with `algo`, have one
    space between attributes, and contain all attributes.

    Parameters
    ----------
    algorithm : Algorithm or Table
        The algorithm to write.

    Raises
    ------
    AlgorithmError
        The algorithm exceeds a limit of the runtime.

    See Also
    --------
    topology_gen.formats.msccl.read_xml, topology_gen.formats.msccl.refusals
    """
    table = algorithm if isinstance(algorithm, Table) else table_of(algorithm)
    refused = refusals(table)
    if refused:
        raise AlgorithmError(f"the MSCCL runtime would reject the algorithm: {refused[0]}")
    head = {
        "name": table.name or "algorithm",
        "proto": table.protocol,
        "nchannels": int(table.blocks[:, 2].max(initial=0)) + 1,
        "nchunksperloop": table.chunks,
        "ngpus": table.ranks,
        "coll": _SPELLING[table.operation],
        "inplace": int(table.in_place),
        "outofplace": int(table.out_of_place),
        "minBytes": table.least_bytes,
        "maxBytes": table.most_bytes,
    }
    parts = [_tag("algo", head, ">\n")]
    steps = _written_steps(table)
    for rank in range(table.ranks):
        parts += _gpu_lines(table, steps, rank)
    return "".join([*parts, "</algo>\n"])


def _written_steps(table: Table) -> Numbers:
    """Return the steps with what the file says of nops and of steps that others wait for."""
    steps = table.steps.copy()
    steps[steps[:, 0] == KINDS.index(Kind.NOP), 1:6] = 0, -1, 1, -1, 0
    waiting = np.flatnonzero(steps[:, 6] >= 0)
    block = np.searchsorted(table.step_begin, waiting, side="right") - 1
    first = table.block_begin[np.searchsorted(table.block_begin, block, side="right") - 1]
    steps[table.step_begin[first + steps[waiting, 6]] + steps[waiting, 7], 8] = 1
    return steps


def _gpu_lines(table: Table, steps: Numbers, rank: int) -> Iterator[str]:
    """Yield the lines of a rank."""
    first, last = table.block_begin[rank : rank + 2].tolist()
    i, o, s = table.sizes[rank].tolist()
    yield "  " + _tag("gpu", {"id": rank, "i_chunks": i, "o_chunks": o, "s_chunks": s}, ">\n")
    for number, block in enumerate(range(first, last)):
        send, receive, channel = table.blocks[block].tolist()
        yield "    " + _tag(
            "tb", {"id": number, "send": send, "recv": receive, "chan": channel}, ">\n"
        )
        begin, end = table.step_begin[block : block + 2].tolist()
        yield kernels.step_lines(steps[begin:end], *_NAMES)
        yield "    </tb>\n"
    yield "  </gpu>\n"


def _tag(name: str, attributes: Mapping[str, object], end: str) -> str:
    # No value contains a character that XML escapes; `refusals` checks the name.
    written = " ".join([f'{key}="{value}"' for key, value in attributes.items()])
    return f"<{name} {written}{end}"


def refusals(algorithm: Algorithm | Table) -> list[str]:
    """Return the reasons why the runtime would reject an algorithm, often none.

    Returns
    -------
    list of str
        A phrase for each reason, or for each kind of reason with its first place.
    """
    table = algorithm if isinstance(algorithm, Table) else table_of(algorithm)
    found = []
    name = table.name
    if len(name) > MOST_NAME or not name.isprintable() or any(c in "\"'<>&" for c in name):
        found.append(
            f"the name {name[:80]!r}: expected at most {MOST_NAME} characters, without quotes or "
            f"<>&"
        )
    blocks = np.diff(table.block_begin)
    elements = 1 + table.ranks + blocks + np.diff(table.step_begin[table.block_begin])
    for rank in np.flatnonzero(elements > MOST_ELEMENTS)[:1].tolist():
        found.append(
            f"gpu {rank} has {elements[rank]} elements, including those of all ranks: "
            f"expected at most {MOST_ELEMENTS}"
        )
    for rank in np.flatnonzero(blocks > MOST_BLOCKS)[:1].tolist():
        found.append(f"gpu {rank} has {blocks[rank]} thread blocks: expected at most {MOST_BLOCKS}")
    ranks = np.repeat(np.arange(table.ranks), blocks)
    number = np.arange(ranks.size) - table.block_begin[ranks]
    for column, end in enumerate(("send", "receive")):
        used = table.blocks[:, column] >= 0
        pairs, counts = np.unique(
            np.stack([ranks[used], table.blocks[used, 2]], 1), axis=0, return_counts=True
        )
        for place in np.flatnonzero(counts > MOST_BLOCKS_OF_A_CHANNEL)[:1].tolist():
            found.append(
                f"gpu {pairs[place, 0]} has {counts[place]} thread blocks that {end} over a "
                f"channel: expected at most {MOST_BLOCKS_OF_A_CHANNEL}"
            )

    def where(block: int) -> str:
        return f"gpu {ranks[block]} tb {number[block]}"

    channel = table.blocks[:, 2]
    for block in np.flatnonzero(channel >= MOST_CHANNELS)[:1].tolist():
        found.append(
            f"{where(block)} has channel {channel[block]}: expected 0 … {MOST_CHANNELS - 1}"
        )
    sizes = np.diff(table.step_begin)
    for block in np.flatnonzero(sizes > MOST_STEPS)[:1].tolist():
        found.append(f"{where(block)} has {sizes[block]} steps: expected at most {MOST_STEPS}")
    count = np.where(table.steps[:, 0] == KINDS.index(Kind.NOP), 0, table.steps[:, 5])
    offset = table.steps[:, [2, 4]].max(axis=1, initial=-1)
    for values, most, verb in (
        (count, MOST_COUNT, "has {} chunks"),
        (offset, MOST_OFFSET, "is at chunk {}"),
    ):
        for step in np.flatnonzero(values > most)[:1].tolist():
            block = int(np.searchsorted(table.step_begin, step, side="right")) - 1
            found.append(
                f"{where(block)} step {step - table.step_begin[block]} "
                f"{verb.format(values[step])}: expected at most {most}"
            )
    return found
