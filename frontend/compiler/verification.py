"""Verify that a program computes the collective that asked for it."""

from __future__ import annotations

from frontend.collectives.program.composition import AnyProgram, Composition
from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Program, dimension_and_level
from frontend.collectives.program.repetition import Repetition
from frontend.collectives.program.rotation import Rotation
from frontend.collectives.setting import Setting
from frontend.collectives.verify.check import problems

MOST_MEMORY = 2**32
"""Bytes that the verification of a program may take."""
_BYTES_PER_ACCESS = 320  # a step's access to a unit, in `problems`
_BYTES_PER_UNIT = 32  # places and the result, beside the sets of members


def require_match(program: AnyProgram, algorithm: str, setting: Setting) -> None:
    """Raise CollectiveError unless a program is made for a collective.

    Parameters
    ----------
    program : AnyProgram
        What an algorithm built for the collective.
    algorithm : str
        Name of the algorithm, for messages.
    setting : Setting
        The collective and its group.

    Raises
    ------
    CollectiveError
        If the program is of another operation, group size, root, dimension or blocks than the
        collective.
    """
    wrong = _mismatch(program, setting) if len(setting.ranks) > 1 else None
    if wrong:
        raise CollectiveError(f"{setting.operation} by {algorithm!r}: {wrong}")


def verify(program: AnyProgram, algorithm: str, setting: Setting) -> None:
    """Raise CollectiveError unless a program computes the result of its operation.

    Parameters
    ----------
    program, algorithm, setting
        As for `require_match`.

    Raises
    ------
    CollectiveError
        If `frontend.collectives.problems` finds any, or if the program is too large for it.
    """
    if not setting.given.verify:
        return
    name = f"{setting.operation} by {algorithm!r}"
    needed = memory_bytes(program)
    if needed > MOST_MEMORY:
        raise CollectiveError(
            f"{name}: {program.steps} steps are too many to verify, which would "
            f"take {needed / 2**30:.3g} GiB: expected at most {MOST_MEMORY >> 30} GiB, or "
            "verify: false"
        )
    found = problems(program.table())
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise CollectiveError(f"{name}: {found[0].message}{more}")


def memory_bytes(program: AnyProgram) -> int:
    """Return roughly the memory that the verification of a program takes."""
    words = -(-program.group_size // 64)
    cells = program.group_size * program.space
    return _accesses(program) * (_BYTES_PER_ACCESS + 4 * words) + cells * (
        _BYTES_PER_UNIT + 24 * words
    )


def _accesses(program: AnyProgram) -> int:
    """Return the number of units that the steps of all members access."""
    if isinstance(program, Composition):
        return sum(piece.groups * _accesses(piece.program) for piece in program.pieces)
    turns = 1
    if isinstance(program, Rotation):
        turns = program.group_size
    elif isinstance(program, Repetition):
        turns = program.times
    return turns * int(program.count.sum(dtype="int64"))


def _mismatch(program: AnyProgram, setting: Setting) -> str | None:
    """Return what is wrong about the head of a program, if anything."""
    if not isinstance(program, Program | Rotation | Composition):
        return f"its function returns {type(program).__name__}: expected a program"
    for what, has, wanted in (
        ("operation", program.operation, setting.operation),
        ("group size", program.group_size, len(setting.ranks)),
        ("root", program.root, setting.root),
    ):
        if has != wanted:
            return f"the program has the {what} {has}: expected {wanted}"
    dimensions = ("scale_out",) if setting.layout.super_node is None else ("scale_up", "scale_out")
    for name in program.phase_dimension:
        if dimension_and_level(name)[0] not in dimensions:
            return f"the program has the dimension {name!r}: expected {' or '.join(dimensions)}"
    own = program.blocks if isinstance(program, Program) else None
    blocks = None if own is None else tuple(map(tuple, own.tolist()))
    if blocks != setting.blocks:
        return "its blocks are not those of the all-to-all: expected direct or auto"
    return None
