"""The seeds: files of every format that cosim reads, made by its own commands at a small size."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner
from google.protobuf.message import Message
from google.protobuf.proto import parse_length_prefixed, serialize_length_prefixed

from bridge.cli.main import main
from frontend.formats.chakra import execution_trace_pb2 as chakra
from frontend.stream import decode, encode
from tests.fuzz import datapaths
from tests.fuzz.cases import Case, Corpus, Seed
from tests.fuzz.mutators import alter_bytes, alter_messages, alter_text, alter_values, inside_gzip
from tests.topology_gen.mscclpp_plans import plan_with_meetings

_ALL = "express native flow analytical"

_SMALL = {
    "collective_small": ("topology.ranks=4 workload.bytes=20KB", _ALL),
    "link_flap_small": ("workload.bytes=20KB", "express flow"),
    "direct_bfb_small": ("topology.graph=circulant:n=6,offsets=2+3 workload.bytes=10KB", _ALL),
    "direct_all_to_all_small": ("workload.bytes=2KB", "express"),
    "boxes_small": ("topology.ranks=6 topology.ranks_per_box=2 workload.bytes=10KB", "native"),
    "ocs_reconfig_small": ("workload.iterations=1 workload.embedding.tables=4", "express"),
    "ocs_reconfig_nofw_small": ("workload.iterations=1 workload.embedding.tables=4", "express"),
    "moe_small": (
        "workload.encoder.layers=1 workload.decoder.layers=1 workload.vocabulary=10",
        "express flow",
    ),
    "dlrm_hier_small": (
        "workload.iterations=1 topology.ranks=4 topology.scale_up.ranks=2 "
        "topology.scale_up.switches=1",
        _ALL,
    ),
    "llm_llama3_8b_small": (
        "workload.model.hidden=64 workload.model.vocabulary=64 workload.model.sequence=16",
        "analytical",
    ),
    "topoopt_dlrm_small": ("", "express"),
    "rail_failure_small": ("", "express"),
    "incast_roce_small": ("", "express flow analytical"),
    "llm_llama3_8b_roce_small": (
        "workload.model.hidden=64 workload.model.vocabulary=64 workload.model.sequence=16",
        "express flow",
    ),
}
"""The scenarios, the values that make their runs short, and the fabrics that run them."""

_NETWORKS = ("csv", "graphml", "yaml", "astra-sim", "simai", "infragraph")

_OTHER_NETWORKS = (
    (
        b"topology: [Ring, FullyConnected, Switch]\nnpus_count: [3, 2, 2]\n"
        b"bandwidth: [50.0, 25, 12.5]\nlatency: [500.0, 1, 0]\n",
        True,
    ),
    (
        b"Nodes 8\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\n"
        b"Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 4\n"
        b"Switch_Latency_ns 9\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nBundle 2\n",
        False,
    ),
)
"""Files of the formats that are only read, and whether they are trees: those of ASTRA-sim's
analytical backend and of htsim."""

_ANY_NETWORK = b"""
topology: {family: graph, file: case.net, buffer: 1MB}
workload: {kind: collective, operation: all_reduce, algorithm: direct, bytes: 4KB}
"""


def make(scenarios: Path) -> Corpus:
    """Return the seeds of each kind.

    Parameters
    ----------
    scenarios : path
        The folder with the scenarios of the project.
    """
    with TemporaryDirectory() as folder, chdir(folder):
        os.symlink(scenarios, "scenarios")
        return {
            "scenario": tuple(_scenarios(scenarios)),
            "stream": tuple(_streams()),
            "network": tuple(_networks()),
            "schedule": tuple(_schedules()),
            "chakra": tuple(_chakra(scenarios)),
            "goal": tuple(_goal(scenarios)),
            "result": tuple(_results()),
            "datapath": tuple(datapaths.seeds()),
        }


def _cosim(*arguments: str) -> None:
    answer = CliRunner().invoke(main, arguments)
    if answer.exit_code != 0:
        raise RuntimeError(f"cosim {' '.join(arguments)}: {answer.output}")


def _settings(text: str) -> list[str]:
    return [word for value in text.split() for word in ("--set", value)]


def _scenarios(scenarios: Path) -> Iterable[Seed]:
    for name, (changes, _) in _SMALL.items():
        content = (scenarios / f"{name}.yaml").read_bytes()
        files = {"case.yaml": content.replace(b"file: traces/", b"file: ")}
        for trace in re.findall(r"file: traces/(\S+)", content.decode()):
            files[trace] = (scenarios / "traces" / trace).read_bytes()
        for arguments in (
            ("validate", "case.yaml"),
            ("run", "case.yaml", "--json", *_settings(changes)),
        ):
            case = Case(arguments, files)
            yield Seed(case, "case.yaml", (alter_values, alter_values, alter_text, alter_bytes))


def _streams() -> Iterable[Seed]:
    alter_records = alter_messages(lambda data: list(decode(data)), encode)
    for name, (changes, fabrics) in _SMALL.items():
        for fabric in fabrics.split():
            _cosim(
                *("compile", f"scenarios/{name}.yaml", "-o", "case.stream"),
                *_settings(f"{changes} fabric={fabric}"),
            )
            case = Case(
                ("replay", "case.stream", "--json"),
                {"case.stream": Path("case.stream").read_bytes()},
            )
            yield Seed(case, "case.stream", (alter_records, alter_records, alter_bytes))


def _networks() -> Iterable[Seed]:
    for form in _NETWORKS:
        _cosim(
            *("topo", "export", "--scenario", "scenarios/collective_small.yaml"),
            *("--set", "topology.ranks=3", "--format", form, "-o", "case.net"),
        )
        yield from _network(Path("case.net").read_bytes(), form in ("yaml", "infragraph"))
    for content, is_tree in _OTHER_NETWORKS:
        yield from _network(content, is_tree)


def _network(content: bytes, is_tree: bool) -> Iterable[Seed]:
    files = {"case.net": content, "case.yaml": _ANY_NETWORK}
    mutators = (alter_text, alter_bytes, *([alter_values] * 2 if is_tree else []))
    for arguments in (("topo", "show", "case.net"), ("run", "case.yaml", "--json")):
        yield Seed(Case(arguments, files), "case.net", mutators)


def _schedules() -> Iterable[Seed]:
    makers = (
        ("bfb", "circulant:n=5,offsets=1+2"),
        ("all-to-all", "hypercube:n=4"),
        ("trees", "ring:n=4,d=2", "--segments", "1"),
    )
    for maker, spec, *options in makers:
        _cosim("schedule", maker, spec, *options, "-o", "made.json")
        Path("meetings.json").write_bytes(plan_with_meetings())
        for file in ("made.json", "meetings.json", *_exports(("msccl-xml", "mscclpp-json"))):
            case = Case(("schedule", "check", "case.txt"), {"case.txt": Path(file).read_bytes()})
            is_xml = file == "msccl-xml"
            mutators = (alter_text, alter_bytes, *([] if is_xml else [alter_values] * 2))
            yield Seed(case, "case.txt", mutators)


def _exports(forms: Iterable[str]) -> Iterable[str]:
    for form in forms:
        _cosim("schedule", "export", "made.json", "--format", form, "-o", form)
        yield form


def _chakra(scenarios: Path) -> Iterable[Seed]:
    name = "chakra_transformer_small.yaml"
    files = _with_traces(scenarios, name, "transformer.*")
    alter_nodes = alter_messages(_read_nodes, _write_nodes)
    for command in ("validate", "run"):
        for rank in (0, 5):
            case = Case((command, name, *(["--json"] if command == "run" else [])), files)
            yield Seed(case, f"traces/transformer.{rank}.et", (alter_nodes, alter_bytes))
        yield Seed(case, "traces/transformer.groups.json", (alter_values, alter_text))


def _read_nodes(data: bytes) -> list[Message]:
    file = io.BytesIO(data)
    first = parse_length_prefixed(chakra.GlobalMetadata, file)
    messages: list[Message] = [] if first is None else [first]
    while (node := parse_length_prefixed(chakra.Node, file)) is not None:
        messages.append(node)
    return messages


def _write_nodes(messages: Sequence[Message]) -> bytes:
    file = io.BytesIO()
    for message in messages:
        serialize_length_prefixed(message, file)
    return file.getvalue()


def _goal(scenarios: Path) -> Iterable[Seed]:
    name = "goal_halo_small.yaml"
    files = _with_traces(scenarios, name, "halo.goal")
    for command in ("validate", "run"):
        case = Case((command, name, *(["--json"] if command == "run" else [])), files)
        yield Seed(case, "traces/halo.goal", (alter_text, alter_text, alter_bytes))


def _results() -> Iterable[Seed]:
    for name in ("dlrm_hier_small", "rail_failure_small"):
        changes, _ = _SMALL[name]
        outputs = "outputs.timeline=true outputs.series.interval=1us outputs.critical_path=true"
        _cosim("run", f"scenarios/{name}.yaml", "--out", "made", *_settings(f"{changes} {outputs}"))
        files = {
            f"{folder}/{file.name}": file.read_bytes()
            for folder in ("case", "usual")
            for file in sorted(Path("made").glob("*.*"))
            if file.suffix in (".json", ".csv", ".gz")
        }
        for arguments in (
            ("plot", "case", "-o", "page.html"),
            ("plot", "usual", "case", "-o", "page.html"),
            ("compare", "usual", "case", "--json"),
            ("compare", "case", "usual"),
            ("plot", "case", "-o", "picture.json"),
        ):
            case = Case(arguments, files)
            mutators = (alter_values, alter_values, alter_values, alter_text, alter_bytes)
            yield Seed(case, "case/result.json", mutators)
        tables = [file for file in files if file.startswith("case/") and file.endswith(".csv")]
        for file in tables:
            case = Case(("plot", "case", "-o", "page.html"), files)
            yield Seed(case, file, (alter_text, alter_text, alter_bytes))
        timeline = "case/timeline.json.gz"
        for arguments in (
            ("plot", "case", "-o", "page.html"),
            ("plot", "timeline", "case", "-o", "picture.svg"),
        ):
            inside = (inside_gzip(alter_text), inside_gzip(alter_bytes))
            yield Seed(Case(arguments, files), timeline, (alter_bytes, *inside))


def _with_traces(scenarios: Path, name: str, pattern: str) -> dict[str, bytes]:
    traces = sorted((scenarios / "traces").glob(pattern))
    return {
        name: (scenarios / name).read_bytes(),
        **{f"traces/{trace.name}": trace.read_bytes() for trace in traces},
    }
