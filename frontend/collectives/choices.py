"""The scenario's `collective` part, which selects the algorithm of each collective operation."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    Tag,
    ValidationInfo,
    field_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from frontend.collectives.algorithm_options import AlgorithmOptions, LevelAlgorithmName
from frontend.collectives.registry import ALGORITHMS, Algorithm, dimension_and_root
from frontend.collectives.setting import Setting
from frontend.errors import one_of
from frontend.schema.base import Model, as_tuple
from frontend.schema.files import require_allowed
from topology_gen.lowering.algorithm import Operation


class AlgorithmFile(Model):
    """An algorithm from a file, for as many ranks as the topology has."""

    file: str
    """MSCCL XML, an MSCCL++ execution plan or a file of `cosim schedule`. The path is relative to
    the scenario's folder."""

    @field_validator("file")
    @classmethod
    def _require_allowed(cls, value: str, info: ValidationInfo) -> str:
        # Loading has put the scenario's folder before the name.
        require_allowed(Path(value), value, info.context or {})
        return value


class Level(Model):
    """One level of a collective: the ranks that differ in one dimension of the group only."""

    size: Annotated[int, Field(ge=2)]
    """Number of ranks."""
    algorithm: LevelAlgorithmName = "ring"
    """Algorithm among these ranks."""


class LevelAlgorithm(Model):
    """One level after the other, each with its own algorithm."""

    levels: Annotated[
        tuple[Level, ...],
        BeforeValidator(as_tuple),
        Field(min_length=1),
        PlainSerializer(list, return_type=list[Level]),
    ]
    """The levels from the innermost on: ranks 0, 1, 2 … are neighbours in the first one. A group of
    another size than their product runs the algorithm of the first level."""
    shards: bool = False
    """An all-reduce is a reduce-scatter in each level but the last, an all-reduce of shards there,
    and an all-gather in each level on the way back; false: an all-reduce of the whole buffer in
    each level."""


class _RegisteredName:
    """The name of a registered algorithm.

    Names are looked up when a value is checked, because plug-in packages may add algorithms.
    """

    @staticmethod
    def _known(value: Any) -> Any:
        if not isinstance(value, str) or value not in ALGORITHMS:
            problem = ALGORITHMS.problem(value)
            because = f" ({problem})" if problem else ""
            raise ValueError(f"{one_of(value, ALGORITHMS)}{because}")
        return value

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(cls._known)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"enum": list(ALGORITHMS), "type": "string"}


def _form(value: Any) -> str:
    if isinstance(value, LevelAlgorithm) or (isinstance(value, Mapping) and "levels" in value):
        return "levels"
    return "file" if isinstance(value, Mapping | AlgorithmFile) else "name"


AnyAlgorithm = Annotated[
    Annotated[str, _RegisteredName, Tag("name")]
    | Annotated[AlgorithmFile, Tag("file")]
    | Annotated[LevelAlgorithm, Tag("levels")],
    Field(discriminator=Discriminator(_form)),
]


def algorithm_of(choice: AnyAlgorithm) -> Algorithm:
    """Return the algorithm that a scenario names, that of its levels, or that in its file."""
    if isinstance(choice, LevelAlgorithm):
        from frontend.collectives.algorithms.hierarchical import of_levels

        levels = tuple((one.size, one.algorithm) for one in choice.levels)
        return of_levels(levels, in_shards=choice.shards)
    if not isinstance(choice, AlgorithmFile):
        return ALGORITHMS[choice]
    from frontend.collectives.algorithm_files import from_file

    path = Path(choice.file)
    builders = {operation: partial(from_file, path, operation) for operation in get_args(Operation)}
    choose = partial(_of_file, path)
    return Algorithm(choice.file, "an algorithm from a file", builders, choose=choose)


def _of_file(path: Path, setting: Setting) -> dict[str, Any]:
    """Return the options of an algorithm from a file, if it is made for the collective's size."""
    from frontend.collectives.algorithm_files import check_size

    check_size(path, setting.chunks * setting.chunk_bytes)
    return dimension_and_root(setting)


class CollectiveAlgorithms(AlgorithmOptions):
    """Collective algorithms of a workload that has several collectives."""

    all_reduce: AnyAlgorithm = "dbt"
    """Algorithm of every all-reduce."""
    all_to_all: AnyAlgorithm = "direct"
    """Algorithm of every all-to-all."""
    reduce_scatter: AnyAlgorithm = "ring"
    """Algorithm of every reduce-scatter."""
    all_gather: AnyAlgorithm = "ring"
    """Algorithm of every all-gather."""
    broadcast: AnyAlgorithm = "direct"
    """Algorithm of every broadcast."""
    reduce: AnyAlgorithm = "direct"
    """Algorithm of every reduce."""
    gather: AnyAlgorithm = "direct"
    """Algorithm of every gather."""
    scatter: AnyAlgorithm = "direct"
    """Algorithm of every scatter."""
    barrier: AnyAlgorithm = "dissemination"
    """Algorithm of every barrier."""

    def of(self, operation: str) -> AnyAlgorithm:
        """Return the algorithm of an operation."""
        algorithm: AnyAlgorithm = getattr(self, operation)
        return algorithm
