"""Data-parallel training on the testbed (Section 8.4, Fig. 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from bridge.batch.points import Point
from bridge.results.measurements import Collective
from bridge.studies.direct_connect.clusters import topology
from bridge.studies.direct_connect.testbed import OURS, SHIFTED, TREES, system
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from frontend import load_scenario

FIGURE = Figure("8-training")
NODES = 12
SYSTEMS = (OURS, SHIFTED, TREES)

GPT_2, GPT_2_MEDIUM = "GPT-2", "GPT-2 medium"


def _transformer(blocks: int, width: int) -> dict[str, Any]:
    """Return GPT-2 with 64 elements per head (A. Radford et al., 2019)."""
    return {
        "name": "bert",
        "blocks": blocks,
        "hidden": width,
        "feed_forward": 4 * width,
        "sequence": 1024,
        "heads": width // 64,
        "embedding": width,
        "vocabulary": 50257,
        "positions": 1024,
        "segments": 1,
    }


#: Scenario, batch of a GPU and other changes of each model.
MODELS: Mapping[str, tuple[str, int, Mapping[str, Any]]] = {
    "VGG-16": ("topoopt_vgg16", 64, {}),
    "ResNet-50": ("topoopt_resnet50", 64, {}),
    "BERT": ("topoopt_bert", 64, {}),
    GPT_2: ("topoopt_bert", 4, {"workload.model": _transformer(12, 768)}),
    GPT_2_MEDIUM: ("topoopt_bert", 2, {"workload.model": _transformer(24, 1024)}),
}
TRAINED: Mapping[Scale, tuple[str, ...]] = {
    "small": ("VGG-16", "ResNet-50", GPT_2),
    "full": tuple(MODELS),
}


def points(folder: Path, scale: Scale) -> Points:
    """Return an iteration for each model and topology."""
    return {
        (model, name): _point(folder, model, name) for model in TRAINED[scale] for name in SYSTEMS
    }


def _point(folder: Path, model: str, name: str) -> Point:
    scenario, batch, changes = MODELS[model]
    what = system(name, NODES)
    overrides = {
        "fabric": "express",
        "topology": topology(what.spec),
        "workload.gpus": 1,
        "workload.batch_per_gpu": batch,
        "workload.bucket": "25MB",  # PyTorch's default
        "workload.compute.efficiency": 0.5,
        "system.scheduling": "fifo",
        "system.concurrent_chunks": 1,  # a stream of collectives, one at a time
        "collective.all_reduce": what.algorithm,
        "transport.window": what.window,
        **changes,
    }
    file = folder / f"{scenario}.yaml"
    return Point(f"training {model} {name}", load_scenario(file, overrides))


def busy_ns(collectives: Iterable[Collective]) -> float:
    """Return how long at least one of some collectives is under way."""
    busy, until = 0.0, 0.0
    for one in sorted(collectives, key=lambda each: each.start_ns):
        end = one.start_ns + one.time_ns
        busy += max(0.0, end - max(until, one.start_ns))
        until = max(until, end)
    return busy


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare total all-reduce times and iteration times."""
    small = [model for model in TRAINED[scale] if model not in (GPT_2, GPT_2_MEDIUM)]
    large = [model for model in TRAINED[scale] if model not in small]
    all_reduces = {pair: busy_ns(result.collectives) for pair, result in results.items()}
    iterations = {pair: result.iterations[0].time_ns for pair, result in results.items()}
    ring = "at these sizes of buckets the topologies differ only in α·steps"
    trees = "a bucket fills a pipeline of segments, and the trees' links are not all in use"
    for models, what, times, other, paper, why in (
        (small, "Small models, total all-reduce time", all_reduces, SHIFTED, 0.70, ring),
        (small, "Small models, total all-reduce time", all_reduces, TREES, 0.50, trees),
        (small, "Small models, iteration time", iterations, SHIFTED, 0.90, ring),
        (small, "Small models, iteration time", iterations, TREES, 0.75, trees),
        (large, "GPT-2, iteration time", iterations, SHIFTED, 0.93, ring),
        (large, "GPT-2, iteration time", iterations, TREES, 0.75, trees),
    ):
        ours = mean(times[model, OURS] / times[model, other] for model in models)
        yield FIGURE.share(f"{what}: our topology over {other}, mean.", paper, ours, why=why)
    shown = {"all-reduces": all_reduces, "iteration": iterations}
    rows = [
        [
            model,
            *(f"{times[model, name] / 1e6:.1f}" for times in shown.values() for name in SYSTEMS),
        ]
        for model in TRAINED[scale]
    ]
    headings = ["model", *(f"{what}, {name}" for what in shown for name in SYSTEMS)]
    yield FIGURE.table("Time in ms", headings, rows)


NOTES = """\
One iteration of 12 servers with an A100 each, as a roofline at half of the peak. Gradients are
FP32 and are reduced in buckets of 25 MB during the backward pass, as PyTorch does by default. The
time of the all-reduces is the time in which at least one is under way. The text does not name the
small models or the batch sizes; here they are VGG-16, ResNet-50 and BERT with 64 samples a GPU, and
GPT-2 with sequences of 1024 tokens, 4 a GPU (2 for GPT-2 medium). GPT-2 is an encoder with GPT-2's
sizes: its masked attention computes all products, and the projection to the vocabulary is left out.
"""

EXPERIMENT = Experiment(
    "Data-parallel training on the testbed (Section 8.4)", (FIGURE,), evaluate, points, NOTES
)
