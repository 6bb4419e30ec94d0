"""Write the pages that are generated from the code: `python docs/generate.py`, from the root.

`scenario.md`, the pages `scenario_*.md` and `result.md` list every key with the values that it
accepts and its meaning. Other pages have generated tables between two comments: the families of
graphs, the errors of estimates, and the newest run of the benchmark. `result.schema.json` is the
JSON Schema of a result. A test fails if a stored page is out of date.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from bridge.results.result import result_schema, result_schema_text
from frontend.fabrics import ESTIMATORS
from frontend.scenario.json_schema import schema
from frontend.scenario.reference import Section, sections
from topology_gen import specs

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent

SCENARIO_INTRODUCTION = """\
# Scenario reference

A *scenario* is one YAML 1.2 file that describes a simulation. Its blocks are:

BLOCKS

Only `topology`, and `workload` or `jobs`, are required. An unknown key is an error. You can set
every key on the command line: `--set topology.bandwidth=400Gbps`. Quantities carry a unit: times
`0.5us`, rates `100Gbps` or `12.5GB/s`, sizes `8MB` (10⁶ bytes) or `8MiB` (2²⁰ bytes).

Parts that repeat can stand below a key of your own that begins with `x-`, which cosim ignores. Give
them an anchor (`x-links: &links {latency: 1us, buffer: 64MB}`), and merge them where you need them
(`<<: *links`). Where a command takes a scenario, it also takes the `result.json` of a run, and uses
the scenario in it. Files that a scenario names are relative to its folder.

The [README](../README.md#a-scenario) shows a complete scenario, and the [glossary](glossary.md)
explains the terms. If cosim warns that keys have moved since the version before, `cosim convert`
rewrites the file. `cosim explain KEY` prints what these pages say about a key, with an example.

## Editors and shells

`cosim init` and `cosim examples` write the file `scenario.schema.json`, the JSON Schema of these
pages, beside the scenarios, and name it in their first line:

```yaml
# yaml-language-server: $schema=scenario.schema.json
```

Editors that use yaml-language-server then complete keys and mark wrong ones: Visual Studio Code
with the extension YAML of Red Hat, Neovim, Emacs and others. For a scenario without this line, add
it and run `cosim schema > scenario.schema.json`.

To let bash complete commands and options, run this line, or add it to `~/.bashrc`; for zsh, write
`zsh_source`, and for fish run `_COSIM_COMPLETE=fish_source cosim | source`:

```sh
eval "$(_COSIM_COMPLETE=bash_source cosim)"
```

## Keys outside all blocks
"""

PARTS = {
    "scenario_topology.md": "Scenario: the network",
    "scenario_network.md": "Scenario: ports, transport and paths",
    "scenario_workload.md": "Scenario: what ranks do",
    "scenario_llm.md": "Scenario: language models",
    "scenario_collectives.md": "Scenario: collectives and chunks",
    "scenario_run.md": "Scenario: events and outputs",
}
"""The pages of the reference, and their titles."""

BLOCKS = {
    "topology": ("topology", "the ranks, switches and links; `family` chooses a kind of network"),
    "links": ("network", "the largest packet, and the header of a link"),
    "switches": ("network", "how a switch divides its memory, and when it marks packets (ECN)"),
    "workload": ("workload", "what the ranks compute and communicate; `kind` chooses one"),
    "workload: llm": ("llm", "a language model"),
    "jobs": ("workload", "in place of `workload`: several jobs that share the network"),
    "mix": ("workload", "how many jobs there are of the kinds in `jobs`, and when they arrive"),
    "collective": ("collectives", "which algorithm carries out each collective of the workload"),
    "system": ("collectives", "how a rank divides collectives into chunks and schedules them"),
    "transport": ("network", "the protocol between the ranks: TCP or RoCE"),
    "routing": ("network", "which paths packets take, and how fast they follow a failure"),
    "events": ("run", "links and switches that fail, slow ranks, other traffic"),
    "simulation": ("run", "what is simulated packet by packet"),
    "outputs": ("run", "files that a run writes besides its result and tables"),
}
"""The blocks of a scenario: the page, and what a block describes."""

RESULT_INTRODUCTION = """\
# Result reference

A run gives one document: the file `result.json`, the output of `--json`, and `cosim.Result` in
Python. Times are nanoseconds of simulated time; fractions are exact picoseconds. Sizes are bytes
and rates bit/s. The [glossary](glossary.md) explains the terms.

Two runs of the same scenario are byte-identical, except for `simulator.wall_s`, `simulator.cpu_s`
and `simulator.peak_rss_bytes`. `cosim schema result` prints this reference as a JSON Schema, which
is also in [result.schema.json](result.schema.json).
"""


def pages() -> dict[str, str]:
    """Return the generated files.

    Returns
    -------
    dict
        File name to content.
    """
    return {
        **scenario_pages(list(sections(schema()))),
        "result.md": RESULT_INTRODUCTION + "".join(map(part, sections(result_schema()))),
        "result.schema.json": result_schema_text(),
        "topologies.md": filled("topologies.md", {"families": families()}),
        "model.md": filled("model.md", {"errors": errors()}),
        "llm.md": filled("llm.md", {"speed": speed()}),
        "parallelization.md": filled("parallelization.md", {"searches": searches()}),
        "performance.md": filled(
            "performance.md", {"benchmark": benchmark(), "schedules": schedules()}
        ),
        "seeing.md": filled("seeing.md", {"outputs": outputs()}),
    }


def filled(page: str, parts: Mapping[str, Iterable[str]]) -> str:
    """Return the text of a page with lines between its comments `NAME: …` and `end of NAME`."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    for name, lines in parts.items():
        before, begin, rest = text.partition(f"<!-- {name}: ")
        source, close, rest = rest.partition(" -->\n")
        _, end, after = rest.partition(f"<!-- end of {name} -->\n")
        assert end, f"{page} has no place for {name}"
        text = "".join([before, begin, source, close, *lines, end, after])
    return text


def families() -> Iterator[str]:
    """Yield the table of the families of graphs; expansions have another table."""
    yield "| example | what it is |\n"
    yield "| --- | --- |\n"
    for name, family in specs.FAMILIES.items():
        parsers = {parameter.parser for parameter in family.parameters.values()}
        if not parsers & {specs.BASE, specs.BASES}:
            yield f"| `{specs.example(name)}` | {family.text} |\n"


CLASSES = {
    "direct": "ranks linked to ranks",
    "one tier": "one tier of switches",
    "tiers": "tiers with as much rate above as below",
    "oversubscribed": "oversubscribed tiers",
}
"""The classes of networks, in words."""


def errors() -> Iterator[str]:
    """Yield the table of the errors of the estimators, by class of the network."""
    stored = json.loads((ROOT / "bridge/simulator/estimate_errors.json").read_text("utf-8"))
    assert {row["network"] for row in stored} == set(CLASSES)
    headings = ("network", "scenarios", "`flow`: mean", "worst", "`analytical`: mean", "worst")
    yield f"| {' | '.join(headings)} |\n"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |\n"
    for name, text in CLASSES.items():
        rows = [row for row in stored if row["network"] == name]
        cells = [text, str(len(rows))]
        for fabric in ESTIMATORS:
            own = [100 * row[fabric] for row in rows]
            cells += [f"{fmean(map(abs, own)):.1f} %", f"{max(own, key=abs):+.1f} %"]
        yield f"| {' | '.join(cells)} |\n"


def newest_run() -> dict[str, Any]:
    """Return the newest run of the benchmark that has the full-size points."""
    runs = [json.loads(file.read_text("utf-8")) for file in (ROOT / "benchmarks").glob("*.json")]
    full = [run for run in runs if any(row.get("point") == "dlrm_hier" for row in run["rows"])]
    return dict(max(full, key=lambda run: run["date"]))


def benchmark() -> Iterator[str]:
    """Yield the machine of the newest run of the benchmark, and its points."""
    run = newest_run()
    machine = run["machine"]
    yield (
        f"Measured on {run['date'][:10]} at commit {run['commit']}: {machine['cpu']}, "
        f"{machine['cores']} cores, Python {run['versions']['python']}, load average "
        f"{machine['load_average']} to {machine['load_average_at_end']}.\n\n"
    )
    yield "| point | fabric | CPU s | native / it | M packets/CPU s | memory MB | simulated ms |\n"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n"
    for row in run["rows"]:
        if "fabric" not in row or "error" in row:
            continue
        cpu = row["cpu_s"]
        packets = "" if row["fabric"] in ESTIMATORS else f"{row['packets'] / cpu / 1e6:.2f}"
        cells = [
            *(row["point"], row["fabric"], f"{cpu:.3g}"),
            f"{row['ratio']:.0f}" if row["ratio"] else "",
            *(packets, f"{row['peak_rss_bytes'] / 1e6:.0f}", f"{row['time_ns'] / 1e6:.3f}"),
        ]
        yield f"| {' | '.join(cells)} |\n"


def searches() -> Iterator[str]:
    """Yield the searches of the newest run of the benchmark; each has 1000 proposals."""
    yield "| scenario | set-up, CPU s | proposals per CPU minute | ms of an estimate |\n"
    yield "| --- | ---: | ---: | ---: |\n"
    for row in newest_run()["rows"]:
        kind, _, name = row["name"].partition("search: ")
        if kind == "" and name:
            cells = f"{row['setup_cpu_s']:.2f}", f"{60_000 / row['cpu_s']:.0f}"
            yield f"| `{name}` | {' | '.join(cells)} | {1e3 * row['estimate_cpu_s']:.2f} |\n"


def outputs() -> Iterator[str]:
    """Yield what outputs cost in the newest run of the benchmark."""
    yield "| outputs | process, CPU s | | run, CPU s | | written MB |\n"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |\n"
    for row in newest_run()["rows"]:
        if "output" in row:
            cells = [
                row["output"],
                f"{row['command_cpu_s']:.3f}",
                f"{100 * row['more_command_cpu_s']:+.1f} %",
                f"{row['cpu_s']:.3f}",
                f"{100 * row['more_cpu_s']:+.0f} %",
                f"{row['written_bytes'] / 1e6:.2f}",
            ]
            yield f"| {' | '.join(cells)} |\n"


def speed() -> Iterator[str]:
    """Yield what Llama 3 70B costs on each fabric in the newest run of the benchmark."""
    rows = [row for row in newest_run()["rows"] if row.get("point") == "Llama 3 70B, 1024 ranks"]
    yield "| fabric | CPU s | memory | iteration | error of the iteration |\n"
    yield "| --- | ---: | ---: | ---: | ---: |\n"
    (packets,) = (row["time_ns"] for row in rows if row["fabric"] == "express")
    for row in rows:
        error = row["time_ns"] / packets - 1
        cells = [
            f"`{row['fabric']}`",
            f"{row['cpu_s']:.1f}",
            f"{row['peak_rss_bytes'] / 1e9:.2f} GB",
            f"{row['time_ns'] / 1e6:.3f} ms",
            f"{100 * error:+.3f} %" if error else "",
        ]
        yield f"| {' | '.join(cells)} |\n"


def schedules() -> Iterator[str]:
    """Yield the schedules of the newest run of the benchmark."""
    yield "| schedule | CPU s | memory MB | at a smaller size | CPU s | programs CPU s | ratio |\n"
    yield "| --- | ---: | ---: | --- | ---: | ---: | ---: |\n"
    for row in newest_run()["rows"]:
        if not row["name"].startswith("schedule: "):
            continue
        cells = [row["what"], f"{row['cpu_s']:.2f}", f"{row['peak'] / 1e6:.0f}", "", "", "", ""]
        if "small" in row:
            small, programs = row["small_cpu_s"], row["program_cpu_s"]
            cells[3:] = row["small"], f"{small:.4f}", f"{programs:.2f}", f"{programs / small:.0f}"
        yield f"| {' | '.join(cells)} |\n"


def scenario_pages(known: list[Section]) -> dict[str, str]:
    """Return the pages of the scenario reference."""
    root, *blocks = known
    found: dict[str, list[Section]] = {name: [] for name in PARTS}
    begins: dict[str, str] = {}
    for one in blocks:
        own = f"{one.name}: {one.choice}"
        name = own if own in BLOCKS else one.name
        page = f"scenario_{BLOCKS[name][0]}.md"
        found[page].append(one)
        begins.setdefault(name, f"{page}#{anchor(one)}")
    rows = "".join(
        f"| [`{name}`]({begins[name]}) | {text} |\n" for name, (_, text) in BLOCKS.items()
    )
    introduction = SCENARIO_INTRODUCTION.replace(
        "BLOCKS\n", f"| block | describes |\n| --- | --- |\n{rows}"
    )
    pages = {"scenario.md": introduction + part(root)}
    for page, title in PARTS.items():
        links = " · ".join(f"[{heading(one)}](#{anchor(one)})" for one in found[page])
        begin = f"# {title}\n\nA part of the [scenario reference](scenario.md): {links}.\n"
        pages[page] = begin + "".join(map(part, found[page]))
    return pages


def heading(section: Section) -> str:
    """Return the heading of a block, or of one of its kinds."""
    return f"`{section.name}`" + (f": {section.choice}" if section.choice else "")


def anchor(section: Section) -> str:
    """Return the anchor of that heading, as GitHub and the site make it."""
    return f"{section.name}-{section.choice}" if section.choice else section.name


def part(section: Section) -> str:
    """Return the keys of a block or of one of its kinds, with a heading if it has a name."""
    begin = f"\n## {heading(section)}\n\n{section.text}\n\n" if section.name else "\n"
    return begin + table(
        (f"`{row.key}`", row.accepts, f"`{row.default}`" if row.default else "", row.meaning)
        for row in section.rows
    )


def table(lines: Iterator[tuple[str, str, str, str]]) -> str:
    """Return rows as a Markdown table, without the default column if it is empty."""
    rows = [("key", "accepts", "default", "meaning"), *lines]
    columns = [0, 1, 2, 3] if any(row[2] for row in rows[1:]) else [0, 1, 3]
    cells = [[row[column].replace("|", "\\|") for column in columns] for row in rows]
    cells.insert(1, ["---"] * len(columns))
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def main() -> None:
    """Write the files."""
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
