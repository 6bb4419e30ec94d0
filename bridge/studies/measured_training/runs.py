"""The published runs of `runs.csv`, and the scenario of each."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

from frontend.models.cards import CARDS, Card
from frontend.models.transformer import token_flop
from frontend.schema.compute import ACCELERATORS, Precision

FOLDER = Path(__file__).parent

AS_STORED = 1e-4
"""A prediction is as stored within this factor, as it is stored with five digits."""

_LLAMA2 = {"vocabulary": 32000, "sequence": 4096}
MODELS: Mapping[str, Mapping[str, Any]] = {
    "llama2_7b": {**_LLAMA2, "layers": 32, "hidden": 4096, "heads": 32, "feed_forward": 11008},
    "llama2_13b": {**_LLAMA2, "layers": 40, "hidden": 5120, "heads": 40, "feed_forward": 13824},
    "llama2_70b": {
        **_LLAMA2, "layers": 80, "hidden": 8192, "heads": 64, "kv_heads": 8, "feed_forward": 28672,
    },
    "nemotron_340b": {
        "vocabulary": 256000, "layers": 96, "hidden": 18432, "heads": 96, "kv_heads": 8,
        "feed_forward": 73728, "gated": False,
    },
    "qwen3_30b": {
        "vocabulary": 151936, "layers": 48, "hidden": 2048, "heads": 32, "kv_heads": 4,
        "head_width": 128, "feed_forward": 6144,
        "experts": {"count": 128, "top_k": 8, "width": 768},
    },
    "gpt_oss_120b": {
        "vocabulary": 201088, "layers": 36, "hidden": 2880, "heads": 64, "kv_heads": 8,
        "head_width": 64, "feed_forward": 2880,
        "experts": {"count": 128, "top_k": 4, "width": 2880},
    },
    "kimi_k2": {
        **CARDS["deepseek_v3"], "vocabulary": 163840, "heads": 64,
        "experts": {"count": 384, "top_k": 8, "width": 2048, "shared": 1, "dense_layers": 1},
    },
}  # fmt: skip
"""Models that have no card."""


_CONTEXT = {"p2p": "ring", "a2a": "all_to_all"}
"""What options say about `layout.cp_exchange`, by the names of Transformer Engine."""


_HOST = {"linear": "1.036ms", "operator": "13.48us"}
"""What hosts with x86 processors took to launch operators without CUDA graphs in 2023: docs/llm.md
has the sources."""


def _host(chip: Chip, precision: Precision) -> dict[str, str]:
    """Return what hosts took in 2025: a linear layer of Transformer Engine, and an operator.

    On Grace, 95.5 us in 16 bits, twice as long in 8, and 35 us; x86 takes 13.48 us for the latter,
    and as much less for the former. An expert adds 19.3 us in 8 bits on Grace. docs/llm.md has the
    sources.
    """
    operator_us = 35 if chip.rack else 13.48
    longer = operator_us / 35 * (1 if precision == "bf16" else 2)
    times = {"linear": 95.5 * longer, "expert": 19.3 / 2 * longer, "operator": operator_us}
    return {name: f"{time_us:.4g}us" for name, time_us in times.items()}


class Chip(NamedTuple):
    """An accelerator, and the links of the machines that these runs had."""

    accelerator: str
    """Name in a scenario."""
    scale_up_gbps: int
    """NVLink in each direction."""
    gathered_gbps: int
    """What an all-gather over NVLink reaches, measured: with `shapes`, in place of the rate."""
    scale_out_gbps: int
    """NIC of an accelerator."""
    rack: int = 0
    """Accelerators of an NVLink domain of a rack. Jobs that it does not divide take 8 of 9."""


CHIPS: Mapping[str, Chip] = {
    "a100": Chip("a100", 2400, 1879, 200),
    "h100": Chip("h100", 3600, 2891, 400),
    "h800": Chip("h800", 1600, 1285, 400),
    "h200": Chip("h200", 3600, 2891, 400),
    "b200": Chip("b200", 7200, 5968, 400),
    "b300": Chip("b300", 7200, 5968, 800),
    "gb200": Chip("gb200", 7200, 5968, 400, rack=72),
    "gb300": Chip("gb300", 7200, 5968, 800, rack=72),
}


SYSTEM: Mapping[str, Any] = {
    "system": {"concurrent_chunks": 64, "injection_latency": "1us"},
    "links": {"mtu": "9000B"},
    "transport": {"variant": "new_reno", "window": "4MB", "initial_cwnd": 10},
}
"""What the scenarios of all runs share."""


def topology(
    chip: Chip, gpus: int, measured: bool = False, nic_gbps: int | None = None
) -> dict[str, Any]:
    """Return a machine: the largest NVLink domains that divide it, and a NIC for each GPU.

    NVLink has its nominal rate, or the `measured` one; NICs have `nic_gbps`, if these runs had
    others than most runs of the chip.
    """
    sizes = (chip.rack, chip.rack // 9 * 8, 8) if chip.rack else (8,)
    together = next((each for each in sizes if gpus % each == 0), gpus)
    return {
        "family": "hierarchical",
        "ranks": gpus,
        "scale_up": {
            "ranks": together,
            "switches": 1,  # NVLink spreads each transfer over all NVSwitches
            "bandwidth": f"{chip.gathered_gbps if measured else chip.scale_up_gbps}Gbps",
            "latency": "0.5us",
            "buffer": "unlimited",
        },
        "scale_out": {
            "bandwidth": f"{nic_gbps or chip.scale_out_gbps}Gbps",
            "latency": "1us",
            "buffer": "unlimited",
        },
    }


class Run(NamedTuple):
    """A row of the table."""

    id: str
    group: str
    """Source, chip, software and precision: the runs of a group share one fitted number."""
    model: str
    """A card, one of `MODELS`, or ``gpt:LAYERS:HIDDEN:HEADS:VOCABULARY``."""
    sequence: int
    chip: str
    gpus: int
    tp: int
    cp: int
    pp: int
    chunks: int
    micro_batch: int
    global_batch: int
    precision: Precision
    options: frozenset[str]
    unit: str
    measured: float | None
    """None until the measurement of a blind run is entered."""
    values: int
    """Number of values of which `measured` is the median."""
    blind: bool
    """Whether its prediction was committed before the measurement was read."""
    source: str

    @property
    def micro_batches(self) -> int:
        """Micro-batches of an iteration on each rank."""
        return self.global_batch // (self.micro_batch * self.replicas)

    @property
    def stages(self) -> int:
        """Ranks of one replica of the model."""
        return self.tp * self.cp * self.pp

    @property
    def replicas(self) -> int:
        """Data parallelism."""
        return self.gpus // self.stages

    @property
    def ep(self) -> int:
        """Replicas that share the experts."""
        return self._number("ep") or 1

    @property
    def simulated_replicas(self) -> int:
        """Replicas that the study simulates: fewer for the option ``replicas=N``."""
        return min(self.replicas, self._number("replicas") or self.replicas)

    @property
    def deferred(self) -> int:
        """Micro-batches that leave a gradient of the output layer for the end."""
        return self._number("deferred") or 0

    @property
    def start(self) -> int:
        """Micro-batches of a start that the study simulates, after which all others are alike.

        It fills the pipeline, and has all that leave a gradient for the end. Each stage takes its
        micro-batches pp by pp.
        """
        return max(2, -(-self.deferred // self.pp)) * self.pp

    def _number(self, name: str) -> int | None:
        """Return the number of an option ``NAME=NUMBER``."""
        text = self._text(name)
        return None if text is None else int(text)

    def _text(self, name: str) -> str | None:
        """Return the value of an option ``NAME=VALUE``."""
        found = (one.partition("=") for one in self.options)
        return next((value for key, _, value in found if key == name), None)

    @property
    def card(self) -> dict[str, Any]:
        """The model's card."""
        if self.model.startswith("gpt:"):
            layers, hidden, heads, vocabulary = map(int, self.model.split(":")[1:])
            found: dict[str, Any] = {
                "layers": layers, "hidden": hidden, "heads": heads, "feed_forward": 4 * hidden,
                "vocabulary": vocabulary, "gated": False, "tied_embedding": True,
            }  # fmt: skip
        else:
            found = dict(MODELS.get(self.model) or CARDS[self.model])
        modules = 1 if "mtp" in self.options else 0
        return found | {"sequence": self.sequence, "mtp_layers": modules}

    @property
    def folds(self) -> int:
        """Parts into which the scenario cuts sequences.

        If every second layer attends to a short window (`half_window`), attention takes half as
        long, as it does in all layers with sequences of half the length.
        """
        return 2 if "half_window" in self.options else 1

    @property
    def measured_s(self) -> float | None:
        """The measured step in seconds, from whatever unit the source has."""
        if self.measured is None or self.unit == "s":
            return self.measured
        tokens = self.global_batch * self.sequence
        if self.unit == "tokens/s/GPU":
            return tokens / self.gpus / self.measured
        flop = tokens * token_flop(Card(**self.card), self.sequence)
        # Megatron-LM counted the FLOPs of the second forward phase in 2021.
        again = 4 / 3 if self.unit == "TFLOP/s with recomputation" else 1
        tflops = self.measured
        if self.unit == "% of the peak":
            tflops *= ACCELERATORS[CHIPS[self.chip].accelerator].bf16_tflops / 100
        return flop * again / self.gpus / tflops / 1e12

    def scenario(
        self,
        efficiency: float,
        replicas: int | None = None,
        micro_batches: int | None = None,
        *,
        shapes: bool = False,
    ) -> dict[str, Any]:
        """Return the run as a scenario.

        Parameters
        ----------
        efficiency : float
            The fitted number of its group.
        replicas, micro_batches : int, optional
            Other numbers than those of the run.
        shapes : bool
            Whether kernels take as long as their shape lets expect, and collectives of tp, cp and
            dp as NCCL carries them out where the run did.
        """
        replicas = replicas or self.replicas
        micro_batches = micro_batches or self.micro_batches
        gpus, sequences = replicas * self.stages, self.folds * self.micro_batch
        return {
            "schema_version": 1,
            "name": self.id,
            "description": f"{self.group}: {self.source}",
            "fabric": "flow",
            "topology": topology(CHIPS[self.chip], gpus, shapes, self._number("nic")),
            "workload": {
                "kind": "llm",
                "model": self.card | {"sequence": self.sequence // self.folds},
                "layout": self._layout(),
                "global_batch": sequences * replicas * micro_batches,
                "micro_batch": sequences,
                "check_memory": False,
                **self._workload(shapes),
                "compute": self._compute(efficiency, shapes),
            },
            **SYSTEM,
        }

    def _layout(self) -> dict[str, Any]:
        return {
            "tp": self.tp,
            "cp": self.cp,
            "pp": self.pp,
            "chunks": self.chunks,
            "layers": self._text("layers"),
            "ep": self.ep,
            "schedule": "dual_pipe" if "dual_pipe" in self.options else "1f1b",
            "zero": int("zero1" in self.options),
            "sequence_parallel": "no_sequence_parallel" not in self.options,
            "scatter_gather": "scatter_gather" in self.options,
            "order": "tp-cp-ep-pp-dp" if "pp_inside" in self.options else "tp-cp-ep-dp-pp",
            "cp_exchange": next(
                (how for name, how in _CONTEXT.items() if name in self.options), "all_gather"
            ),
        }

    def _workload(self, shapes: bool) -> dict[str, Any]:
        has = self.options.__contains__
        recompute = next(
            (how for how in ("selective", "light", "full") if has(f"{how}_recompute")), "none"
        )
        gradient = 2 if has("bf16_gradients") else 4
        bucket, nodes = self._number("bucket"), self._number("super_nodes")
        # The submissions of MLPerf leave the choice of algorithms to NCCL.
        nccl = shapes and "/training_results_v" in self.source
        lora = {"targets": ["qkv", "proj"], "dropout": True} if has("lora") else None
        return {
            **({} if lora is None else {"lora": lora}),
            **({"algorithms": dict.fromkeys(("tp", "cp", "dp"), "nccl")} if nccl else {}),
            "precision": self.precision,
            "fp8_scaling": next(
                (how for how in ("current", "blocks", "mx") if has(f"{how}_scaling")), "delayed"
            ),
            "gradient_element": f"{gradient}B",
            **({} if bucket is None else {"bucket": f"{bucket * gradient}B"}),
            **({} if nodes is None else {"routing": {"super_nodes": nodes}}),
            "kept_activation": "8 bits" if has("fp8_activation") else "16 bits",
            "dispatch_element": "1B" if has("fp8_dispatch") else "2B",
            "gather_element": "1B" if has("fp8_gather") else "2B",
            "recompute": recompute,
            "flash_attention": not has("no_flash"),
            "overlap": {
                "tp": has("tp_overlap"),
                "ep": has("ep_overlap"),
                "gather": has("gather"),
                "dp": not has("late_gradients"),
                "pp": not has("waiting_messages"),
            },
            "deferred_output": self.deferred,
            **({"nvfp4": self._nvfp4()} if self.precision == "fp4" else {}),
        }

    def _nvfp4(self) -> dict[str, bool]:
        """Return what is left of Transformer Engine's recipe: MLPerf turns parts of it off."""
        return {name: name in self.options for name in ("hadamard", "stochastic_rounding")}

    def _compute(self, efficiency: float, shapes: bool) -> dict[str, Any]:
        chip = CHIPS[self.chip]
        found: dict[str, Any] = {"accelerator": chip.accelerator, "efficiency": efficiency}
        if "no_graphs" in self.options:
            found["host"] = _HOST
        if "no_graphs_2025" in self.options:
            found["host"] = _host(chip, self.precision)
        if shapes:
            found["kernels"] = "shapes"
            if "unfused_loss" in self.options:
                found["loss_accesses"] = 13
            if "flash2" in self.options:
                found["attention"] = "flash2"
            if "fp8_attention" in self.options:
                found["attention"] = "cudnn_fp8"
        return found


class Fit(NamedTuple):
    """The numbers of a group, see `fit`."""

    group: str
    run: str
    """The run whose step gives the efficiency."""
    efficiency: float
    """The one number."""
    second_run: str
    """The other run of the two numbers; empty if there is none."""
    slower: float | None
    """Factor of the simulated step, of the two numbers."""
    fixed_s: float | None
    """Time of each step, of the two numbers."""


class Prediction(NamedTuple):
    """A row of `predictions.csv`: seconds."""

    id: str
    one_number_s: float
    two_numbers_s: float | None
    textbook_s: float


class Table:
    """All runs, and the fitted number of each group."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder

    @cached_property
    def all_runs(self) -> dict[str, Run]:
        """The runs by their id, in the order of the table, with those that await a measurement."""
        return {row["id"]: _run(row) for row in rows(self.folder / "runs.csv")}

    @cached_property
    def runs(self) -> dict[str, Run]:
        """The runs of groups whose first run, which gives their number, is measured."""
        first: dict[str, Run] = {}
        for run in self.all_runs.values():
            first.setdefault(run.group, run)
        return {
            name: run
            for name, run in self.all_runs.items()
            if first[run.group].measured is not None
        }

    @cached_property
    def apart(self) -> frozenset[str]:
        """The ids of `blind.csv`, whose runs have chapters of their own."""
        return frozenset(row["id"] for row in rows(self.folder / "blind.csv"))

    @cached_property
    def fits(self) -> dict[str, Fit]:
        """The fit of each group."""
        return {row["group"]: _fit(row) for row in rows(self.folder / "fits.csv")}

    @cached_property
    def predictions(self) -> dict[str, Prediction]:
        """The stored prediction of each run."""
        found = rows(self.folder / "predictions.csv")
        return {row["id"]: _prediction(row) for row in found}

    @cached_property
    def groups(self) -> dict[str, list[Run]]:
        """The runs of each group; the first one is the one that is fitted."""
        found: dict[str, list[Run]] = {}
        for run in self.runs.values():
            found.setdefault(run.group, []).append(run)
        return found

    def fitted(self, run: Run) -> bool:
        """Return whether a run is the one that its group's number comes from."""
        return self.groups[run.group][0] == run


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def write_numbers(file: Path, rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> None:
    """Write rows whose first value is an id and whose others are numbers, with five digits."""
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(names)
        for name, *numbers in rows:
            shown = ("" if number is None else f"{number:.5g}" for number in numbers)
            writer.writerow([name, *shown])


def _fit(row: Mapping[str, str]) -> Fit:
    slower, fixed_s = (float(row[name]) if row[name] else None for name in ("slower", "fixed_s"))
    return Fit(
        row["group"], row["run"], float(row["efficiency"]), row["second_run"], slower, fixed_s
    )


def _prediction(row: Mapping[str, str]) -> Prediction:
    two = row["two_numbers_s"]
    return Prediction(
        row["id"], float(row["one_number_s"]), float(two) if two else None, float(row["textbook_s"])
    )


def _run(row: Mapping[str, str]) -> Run:
    return Run(
        id=row["id"],
        group=row["group"],
        model=row["model"],
        sequence=int(row["sequence"]),
        chip=row["chip"],
        gpus=int(row["gpus"]),
        tp=int(row["tp"]),
        cp=int(row["cp"]),
        pp=int(row["pp"]),
        chunks=int(row["chunks"]),
        micro_batch=int(row["micro_batch"]),
        global_batch=int(row["global_batch"]),
        precision=cast(Precision, row["precision"]),
        unit=row["unit"],
        options=frozenset(row["options"].split()),
        measured=float(row["measured"]) if row["measured"] else None,
        values=int(row["values"] or 0),
        blind=bool(row["blind"]),
        source=" ".join(filter(None, (row["repository"], row["commit"], row["file"]))),
    )
