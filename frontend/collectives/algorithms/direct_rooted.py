"""Direct algorithms with a root: it sends to every other member, or receives from every other."""

from __future__ import annotations

from frontend.collectives.program.program import Program, ProgramBuilder, known_root


def _program(operation: str, group_size: int, root: int, dimension: str) -> Program:
    known_root(root, group_size)
    shards = operation in ("gather", "scatter")
    builder = ProgramBuilder(
        "direct",
        operation,
        group_size,
        units=group_size if shards else 1,
        dimensions=(dimension,),
        root=root,
    )
    for turn in range(1, group_size):
        other = (root + turn) % group_size
        source, target = (root, other) if operation in ("broadcast", "scatter") else (other, root)
        offset = other if shards else 0
        builder.message(source, target, offset, 1, reduce=operation == "reduce")
    return builder.build()


def broadcast(group_size: int, *, root: int = 0, dimension: str = "scale_out") -> Program:
    """Return the program in which the root sends everything to every other member."""
    return _program("broadcast", group_size, root, dimension)


def reduce(group_size: int, *, root: int = 0, dimension: str = "scale_out") -> Program:
    """Return the program in which every other member sends everything to the root, which adds."""
    return _program("reduce", group_size, root, dimension)


def gather(group_size: int, *, root: int = 0, dimension: str = "scale_out") -> Program:
    """Return the program in which every other member sends its shard to the root."""
    return _program("gather", group_size, root, dimension)


def scatter(group_size: int, *, root: int = 0, dimension: str = "scale_out") -> Program:
    """Return the program in which the root sends every other member its shard."""
    return _program("scatter", group_size, root, dimension)
