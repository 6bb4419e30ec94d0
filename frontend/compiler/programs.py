"""Choose the program and the number of chunks of each collective; build equal programs once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from frontend.collectives import OWN
from frontend.collectives.choices import AlgorithmFile, AnyAlgorithm, algorithm_of
from frontend.collectives.program.composition import (
    AnyProgram,
    Composition,
    on_routes,
    parts_of,
    side_by_side,
)
from frontend.collectives.program.program import (
    CollectiveError,
    Program,
    StepsError,
    dimension_and_level,
)
from frontend.collectives.program.rotation import Repetition, Rotation
from frontend.collectives.registry import (
    ALGORITHMS,
    ROOTED,
    Algorithm,
    require_numbers,
    require_repeated_numbers,
)
from frontend.collectives.setting import Setting
from frontend.collectives.verify.check import problems
from frontend.errors import ScenarioError, shown
from frontend.resolve import Resolved
from frontend.workloads.plan import Issue

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
        turns = program.turns
    elif isinstance(program, Repetition):
        turns = program.times
    return turns * int(program.count.sum(dtype="int64"))


def _mismatch(program: AnyProgram, setting: Setting) -> str | None:
    """Return what is wrong about the head of a program, if anything."""
    if not isinstance(program, Program | Rotation | Composition):
        return f"its function returns {type(program).__name__}: expected a program"
    for what, has, wanted in (
        ("operation", program.operation, setting.operation),
        ("group size", program.ranks, len(setting.ranks)),
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
        return "its blocks are not those of the all-to-all: expected direct, nccl or auto"
    return None


_OWN_NAMES = frozenset(algorithm.name for algorithm in OWN)

_SHORT = ("dbt", "halving_doubling", "dissemination", "ring", "direct")
"""Algorithms that may work where another one has too many steps, those with the fewest first."""


class Use(NamedTuple):
    """The program and chunks of one issued collective."""

    program: int
    """Index of the program in `ProgramLibrary.programs`."""
    chunks: int
    """Number of chunks."""
    members: Sequence[int] | None
    """The ranks that run it, and switches that reduce; None: all ranks."""
    choice: str
    """Why this algorithm was chosen; empty if the scenario names it."""


@dataclass
class ProgramLibrary:
    """The programs of a stream in the order of first use. The index of a program is its id.

    The programs of the pieces of a composition come before it.
    """

    resolved: Resolved
    programs: list[AnyProgram] = field(default_factory=list)
    _known: dict[tuple[Any, ...], int] = field(default_factory=dict)
    _used: dict[Issue, Use] = field(default_factory=dict)

    def use(self, issue: Issue) -> Use:
        """Return the program and the chunks of an issue; raise ScenarioError if none fits."""
        alike = issue._replace(name="", iteration=0, layer=0)
        if alike not in self._used:
            self._used[alike] = self._use(issue)
        return self._used[alike]

    def _use(self, issue: Issue) -> Use:
        setting = self.setting(issue)
        algorithm, size = algorithm_of(issue.algorithm), len(setting.ranks)
        try:
            options = algorithm.choose(setting)
            members = self._members(issue, algorithm, options)
            choice = algorithm.explain(setting) if algorithm.explain is not None else ""
            key = (
                issue.operation,
                issue.algorithm,
                size,
                issue.route,
                issue.groups,
                setting.root,
                setting.blocks,
                *sorted(options.items()),
            )
            if key not in self._known:
                _require_fitting(algorithm, setting)  # a program that does not fit takes all memory
                program = algorithm.build(issue.operation, size, **options)
                require_match(program, algorithm.name, setting)
                _require_numbers(program)
                if _is_foreign(issue.algorithm):
                    verify(program, algorithm.name, setting)
                spreads = issue.operation == "all_to_all"
                first = 0 if spreads else self.resolved.layout.relay_route
                program = side_by_side(on_routes(program, issue.route + first), issue.groups)
                self.programs += parts_of(program)
                self._known[key] = len(self.programs)
                self.programs.append(program)
        except CollectiveError as error:
            raise ScenarioError(self._sentence(issue, error)) from None
        return Use(self._known[key], setting.chunks, members, choice)

    def _members(
        self, issue: Issue, algorithm: Algorithm, options: dict[str, Any]
    ) -> Sequence[int] | None:
        """Return the ranks of an issue, group by group, each with its switches that reduce."""
        if algorithm.members is None or len(self.setting(issue).ranks) == 1:
            return issue.ranks
        setting = self.setting(issue)
        if len(algorithm.members(setting, options)) == len(setting.ranks):
            return issue.ranks
        settings = [self.setting(issue, group) for group in range(issue.groups)]
        return tuple(node for setting in settings for node in algorithm.members(setting, options))

    def check(self, issue: Issue) -> None:
        """Raise ScenarioError where `use` would.

        Build a program only if it must be verified, if its algorithm has no check, or if its blocks
        differ, which few algorithms support.
        """
        check = algorithm_of(issue.algorithm).check
        if check is None or issue.blocks is not None or _is_foreign(issue.algorithm):
            self.use(issue)
            return
        try:
            check(self.setting(issue))
        except CollectiveError as error:
            raise ScenarioError(self._sentence(issue, error)) from None

    def _sentence(self, issue: Issue, error: CollectiveError) -> str:
        """Return the sentence for a collective that is not supported."""
        keys = [
            work.path(path)
            for work in self.resolved.scenario.work
            if work.job is None or issue.name.startswith(f"{work.job.name}.")
            for operation, path, choice in work.kind.algorithms(work.workload, work.collective)
            if (operation, choice) == (issue.operation, issue.algorithm)
        ]
        if not keys:
            return f"{issue.name}: {error}"
        path, value = keys[0], issue.algorithm
        if isinstance(value, AlgorithmFile):
            problem = str(error).removeprefix(f"{value.file}: ")
            return f"{path}.file: value {value.file}: {issue.name}: {problem}"
        if error.inside:
            path, value = f"{path}.{error.inside}", error.value
        content = value if isinstance(value, str) else value.model_dump(mode="json")
        place = f"{path}: value {shown(content, ())}: {issue.name}"
        if not isinstance(error, StepsError):
            return f"{place}: {error}"
        others = [name for name in _SHORT if name != value and self._works(name, issue)]
        instead = f", or another algorithm, such as {' or '.join(others)}" if others else ""
        fewer = "fewer ranks (topology.ranks)" + (" or segments" if error.segments else "")
        return f"{place}: {error}: expected {fewer}{instead}"

    def _works(self, name: str, issue: Issue) -> bool:
        """Return whether an algorithm carries out an issue on any topology."""
        algorithm = ALGORITHMS[name]
        if issue.operation not in algorithm.operations or algorithm.check is None:
            return False
        try:
            algorithm.check(self.setting(issue))
        except CollectiveError:
            return False
        return True

    def chunks(self, issue: Issue) -> int:
        """Return the number of chunks of an issue: `system.chunks`, but no chunk is empty."""
        wanted = int(getattr(self.resolved.scenario.system.chunks, issue.operation))
        return max(1, min(wanted, issue.bytes))

    def setting(self, issue: Issue, group: int = 0) -> Setting:
        """Return the setting from which the algorithm of an issue chooses its options.

        It is that of one of the issue's groups, which are all alike.
        """
        scenario, chunks = self.resolved.scenario, self.chunks(issue)
        every = range(self.resolved.ranks) if issue.ranks is None else issue.ranks
        size = len(every) // issue.groups
        ranks = every[group * size : (group + 1) * size]
        return Setting(
            operation=issue.operation,
            given=issue.options,
            ranks=ranks,
            chunks=chunks,
            chunk_bytes=issue.bytes // chunks,
            layout=self.resolved.layout,
            rings=issue.rings,
            seed=scenario.seed,
            header_bytes=self.resolved.header_bytes_of(
                issue.protocol or scenario.transport.protocol
            ),
            network=lambda: self.resolved.network,
            hop_ps=2 * scenario.system.injection_latency,
            root=every[:size].index(issue.root) if issue.operation in ROOTED else 0,
            blocks=issue.blocks,
        )


def _require_fitting(algorithm: Algorithm, setting: Setting) -> None:
    """Raise CollectiveError if an algorithm says that it does not work in a setting."""
    if algorithm.check is not None and setting.blocks is None:
        algorithm.check(setting)


def _require_numbers(program: AnyProgram) -> None:
    """Raise StepsError if the simulator cannot number the steps of a program."""
    for part in parts_of(program) or (program,):
        if isinstance(part, Rotation):
            require_numbers(part.turns, part.op.size, part.block)
        elif isinstance(part, Repetition):
            require_repeated_numbers(part.op.size, part.times)


def _is_foreign(choice: AnyAlgorithm) -> bool:
    """Return whether a plug-in or a script has the algorithm.

    `from_file` verifies the algorithms of files.
    """
    return isinstance(choice, str) and choice not in _OWN_NAMES
