"""The DLRM of Section 5.4 with gradients counted once, as the paper's numbers do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bridge.batch.points import Point
from bridge.present.quantities import percent_text, time_text
from bridge.results.result import Result
from bridge.studies.framework.model import Experiment, Findings, Results, Scale, Table
from bridge.studies.framework.scoring import number
from bridge.studies.topoopt.all_to_all import (
    PUBLISHED_TAX,
    RATE_GBPS,
    bandwidth_tax,
    dlrm_changes,
    moved_share,
)
from bridge.studies.topoopt.systems import iteration_ns, job_name, job_point

FIGURE = "12-once"
LARGEST, DEGREE = 2048, 4


def _changes(scale: Scale, batch: int) -> dict[str, Any]:
    return dlrm_changes(scale, batch) | {"workload.gradient_element": "2B"}


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return TopoOpt for each published tax, and the Fat-tree for the largest batch."""
    wanted = [
        *(("topoopt", degree, batch) for batch, degree in PUBLISHED_TAX),
        ("fat_tree", DEGREE, LARGEST),
    ]
    return [
        job_point(folder, scale, "dlrm", name, degree, RATE_GBPS, _changes(scale, batch))
        for name, degree, batch in wanted
    ]


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare taxes and iterations with the paper's."""

    def result(name: str, degree: int, batch: int) -> Result:
        return results[job_name("dlrm", name, degree, RATE_GBPS, _changes(scale, batch))]

    found = {key: result("topoopt", key[1], key[0]) for key in PUBLISHED_TAX}
    largest, tree = found[LARGEST, DEGREE], result("fat_tree", DEGREE, LARGEST)
    statements = [
        number(
            FIGURE,
            f"Batch {LARGEST}: bytes of the all-to-all over those of the all-reduce.",
            paper=0.8,
            ours=moved_share(largest),
            unit="share",
        ),
        number(
            FIGURE,
            f"Batch {LARGEST}, d = {DEGREE}: TopoOpt's iteration over the Fat-tree's.",
            paper=1.1,
            ours=iteration_ns(largest) / iteration_ns(tree),
            unit="times",
        ),
        *(
            number(
                FIGURE,
                f"Bandwidth tax at batch {batch}, d = {degree}.",
                paper=paper,
                ours=bandwidth_tax(found[batch, degree]),
                unit="times",
            )
            for (batch, degree), paper in PUBLISHED_TAX.items()
        ),
    ]
    rows = [
        [
            f"batch {batch}, d = {degree}",
            time_text(iteration_ns(one)),
            percent_text(moved_share(one)),
            f"{bandwidth_tax(one):.2f}",
        ]
        for (batch, degree), one in found.items()
    ]
    headings = ("DLRM", "TopoOpt", "all-to-all over all-reduce", "bandwidth tax")
    return Findings(
        statements, [Table(FIGURE, "Gradients counted once", headings, rows)], notes=NOTES
    )


NOTES = """\
A ring all-reduce of S bytes over k servers makes each of them send 2(k-1)/k · S, which the
simulations do. The paper's share of 80 % and its bandwidth taxes follow if each gradient counts
once. `workload.gradient_element: 2B` has this effect: gradients then travel with half of the
weights' 4 bytes, so a ring carries (k-1)/k · S. To try it:

```sh
cosim run scenarios/topoopt_dlrm.yaml --set fabric=flow --set workload.model.tables=128 \\
    --set workload.batch_per_gpu=2048 --set workload.gradient_element=2B
```
"""

EXPERIMENT = Experiment(
    "All-to-all traffic, with gradients counted once (Section 5.4)", (FIGURE,), points, evaluate
)
