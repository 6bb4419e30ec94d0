"""Which program and how many chunks carry a collective; equal programs are built once."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from frontend import collectives
from frontend.collectives.algorithms.bfb import best_chunks
from frontend.collectives.importers.from_file import from_file
from frontend.collectives.program.program import Program
from frontend.errors import ScenarioError
from frontend.fabrics import ESTIMATORS
from frontend.parallelization.rings import group_rings
from frontend.schema import Scenario
from frontend.schema.collective import DIRECT_CONNECT, HIERARCHICAL, AlgorithmFile
from frontend.schema.direct_connect import DirectTopology
from frontend.schema.topology import HierarchicalTopology
from frontend.schema.topoopt import TopoOptTopology
from frontend.workloads.plan import Issue
from topology_gen.graphs.digraph import Digraph
from topology_gen.topoopt import ring, select_permutations, totient_perms

SEGMENT_PARTS = 256
"""`segments: auto` cuts so that chunks × segments is about this: filling the pipeline then costs
a few percent (a double binary tree of 128 ranks is 14 hops deep, up and down)."""

SEGMENT_BYTES = 8192
"""`segments: auto` cuts no smaller segments than this, about one packet of a 9000-byte MTU."""


class Use(NamedTuple):
    """How one issue is carried: the index of its program, and its chunks."""

    program: int
    chunks: int


@dataclass
class ProgramLibrary:
    """The programs of a stream, in the order of their first use; their ids are their indices."""

    scenario: Scenario
    programs: list[Program] = field(default_factory=list)
    _known: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def use(self, issue: Issue) -> Use:
        """Return the program and the chunks of an issue."""
        chunks = self.chunks(issue)
        options = self.options(issue, chunks)
        file = issue.algorithm if isinstance(issue.algorithm, AlgorithmFile) else None
        name = issue.algorithm if file is None else file.file
        size = self.group_size(issue)
        key = (issue.operation, file is None, name, size, issue.route, *sorted(options.items()))
        if key not in self._known:
            self._known[key] = len(self.programs)
            self.programs.append(self._build(issue, options))
        return Use(self._known[key], chunks)

    def group_size(self, issue: Issue) -> int:
        """Return how many ranks a collective is over."""
        return self.scenario.topology.ranks if issue.ranks is None else len(issue.ranks)

    def chunks(self, issue: Issue) -> int:
        """Return `system.chunks`, or fewer where a chunk would be below `system.min_chunk`.

        On an estimator there are at most `system.estimator_chunks`.
        """
        system = self.scenario.system
        wanted = int(getattr(system.chunks, issue.operation))
        if self.scenario.fabric in ESTIMATORS and system.estimator_chunks is not None:
            wanted = min(wanted, system.estimator_chunks)
        return max(1, min(wanted, issue.bytes // system.min_chunk))

    def options(self, issue: Issue, chunks: int) -> dict[str, Any]:
        """Return the options of `frontend.collectives.build` that the algorithm takes."""
        topology, given = self.scenario.topology, issue.options
        chosen: dict[str, Any] = {}
        if isinstance(issue.algorithm, AlgorithmFile):
            return {"dimension": "scale_out"}
        parts: set[str] = {issue.algorithm}
        per_chunk = issue.bytes // chunks
        if issue.algorithm in HIERARCHICAL:
            assert isinstance(topology, HierarchicalTopology)  # the schema checks it
            chosen["local_size"] = topology.scale_up.ranks
            chosen["dimensions"] = ("scale_up", "scale_out")
            parts = {"direct"}
            if issue.operation != "all_to_all":
                chosen["scale_up_algorithm"] = given.scale_up_algorithm
                chosen["scale_out_algorithm"] = given.scale_out_algorithm
                parts = {given.scale_up_algorithm, given.scale_out_algorithm}
            if issue.algorithm == "hierarchical_optimal":
                per_chunk //= topology.scale_up.ranks  # what a tree between super-nodes carries
        else:
            chosen["dimension"] = "scale_out"
        if isinstance(topology, DirectTopology) and issue.algorithm in DIRECT_CONNECT:
            chosen["graph"] = topology.graph
            if issue.algorithm == "bfb":
                chosen["shard_chunks"] = self.shard_chunks(issue, topology.graph, per_chunk)
        if issue.algorithm == "multi_ring":
            chosen |= self.rings(issue)
        if "dbt" in parts:
            chosen["segments"] = self.segments(given.segments, chunks, per_chunk)
            if isinstance(topology, DirectTopology):
                chosen["separate_links"] = True
        if "direct" in parts:
            chosen["peer_order"] = given.peer_order
            if given.peer_order == "random":
                chosen["seed"] = self.scenario.seed
        return chosen

    def shard_chunks(self, issue: Issue, graph: Digraph, chunk_bytes: int) -> int:
        """Return the chunks of a shard of BFB, whose exact number may be too many."""
        given = issue.options.shard_chunks
        if isinstance(given, int):
            return given
        shard = Fraction(chunk_bytes, graph.nodes)
        header_bytes = self.scenario.transport.packet_overhead
        return best_chunks(graph, issue.operation, shard, header_bytes)

    def rings(self, issue: Issue) -> dict[str, Any]:
        """Return the orders of a group's members in the rings, and whether these go both ways."""
        topology, given = self.scenario.topology, issue.options.rings
        ranks = issue.ranks or range(topology.ranks)
        found = issue.rings
        if found is None and isinstance(topology, TopoOptTopology):
            found = group_rings(ranks, topology.found)
        if given == "auto" and found is not None:
            place = {rank: member for member, rank in enumerate(ranks)}
            orders = [[place[rank] for rank in order] for order in found.orders]
            duplex = found.duplex
        else:
            count, size = given if isinstance(given, int) else 1, len(ranks)
            strides = select_permutations(totient_perms(size), count, size)
            orders, duplex = [ring(range(size), stride) for stride in strides], False
        return {"orders": tuple(map(tuple, orders)), "duplex": duplex}

    @staticmethod
    def segments(given: int | str, chunks: int, chunk_bytes: int) -> int:
        """Return the segments of a chunk; each of the two trees carries half of the chunk."""
        if isinstance(given, int):
            return given
        return max(1, min(SEGMENT_PARTS // chunks, chunk_bytes // 2 // SEGMENT_BYTES))

    def _build(self, issue: Issue, options: dict[str, Any]) -> Program:
        ranks = self.group_size(issue)
        try:
            if isinstance(issue.algorithm, AlgorithmFile):
                path = Path(issue.algorithm.file)
                program = from_file(path, issue.operation, ranks, **options)
            else:
                program = collectives.build(issue.operation, issue.algorithm, ranks, **options)
        except collectives.CollectiveError as error:
            raise ScenarioError(f"{issue.name}: {error}") from None
        if not issue.route:
            return program
        taken = program.route if program.route.size else np.zeros(program.steps, np.uint32)
        return replace(program, route=taken + issue.route)
