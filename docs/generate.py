"""Write the pages that are generated from the code: `python docs/generate.py`, from the root.

`scenario.md` and `result.md` list every key with the values that it accepts and its meaning.
`topologies.md` has a table of the families of graphs.
`result.schema.json` is the JSON Schema of a result. A test fails if a stored page is out of date.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bridge.results.result import result_schema, result_schema_text
from frontend.scenario.json_schema import schema
from frontend.scenario.reference import sections
from topology_gen import specs

FOLDER = Path(__file__).resolve().parent

FAMILIES = ("<!-- families: from topology_gen/specs.py -->\n", "<!-- end of families -->\n")
"""The lines around the generated part of `topologies.md`."""

SCENARIO_INTRODUCTION = """\
# Scenario reference

A *scenario* is one YAML 1.2 file that describes a simulation. Its blocks are:

| block | describes |
| --- | --- |
| `topology` | the ranks, switches and links; `family` chooses the kind of network |
| `links` | the largest packet, and the header of a link |
| `switches` | how a switch divides its memory, and when it marks packets (ECN) |
| `workload` | what the ranks compute and communicate; `kind` chooses one |
| `collective` | which algorithm carries out each collective of the workload |
| `system` | how a rank divides collectives into chunks and schedules them |
| `transport` | the protocol between the ranks: TCP |
| `routing` | which paths packets take, and how fast they follow a failure |
| `events` | links and switches that fail, slow ranks, other traffic |
| `measurement` | samples, and the limit of a run |
| `simulation` | what is simulated packet by packet |
| `outputs` | files that a run writes besides its result and tables |

Only `topology` and `workload` are required. An unknown key is an error. You can set every key on
the command line: `--set topology.bandwidth=400Gbps`. Quantities carry a unit: times `0.5us`, rates
`100Gbps` or `12.5GB/s`, sizes `8MB` (10⁶ bytes) or `8MiB` (2²⁰ bytes).

Parts that repeat can stand below a key of your own that begins with `x-`, which cosim ignores. Give
them an anchor (`x-links: &links {latency: 1us, buffer: 64MB}`), and merge them where you need them
(`<<: *links`). Where a command takes a scenario, it also takes the `result.json` of a run, and uses
the scenario in it.

The [README](../README.md#a-scenario) shows a complete scenario, and the [glossary](glossary.md)
explains the terms. If cosim warns that keys have moved since the version before, `cosim convert`
rewrites the file. `cosim explain KEY` prints what this page says about a key, with an example.

## Editors and shells

`cosim init` and `cosim examples` write the file `scenario.schema.json`, the JSON Schema of this
page, beside the scenarios, and name it in their first line:

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
    scenario = schema()
    return {
        "scenario.md": SCENARIO_INTRODUCTION + "".join(parts(scenario)),
        "result.md": RESULT_INTRODUCTION + "".join(parts(result_schema())),
        "result.schema.json": result_schema_text(),
        "topologies.md": with_families((FOLDER / "topologies.md").read_text(encoding="utf-8")),
    }


def with_families(page: str) -> str:
    """Return a page with the families of graphs in their place; expansions have another table."""
    lines = ["| example | what it is |\n", "| --- | --- |\n"]
    for name, family in specs.FAMILIES.items():
        parsers = {parameter.parser for parameter in family.parameters.values()}
        if not parsers & {specs.BASE, specs.BASES}:
            lines.append(f"| `{specs.example(name)}` | {family.text} |\n")
    before, begin, rest = page.partition(FAMILIES[0])
    _, end, after = rest.partition(FAMILIES[1])
    return "".join([before, begin, *lines, end, after])


def parts(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the keys of a schema's root, then one section for each kind of a block."""
    for section in sections(schema):
        if section.name:
            heading = f"`{section.name}`" + (f": {section.choice}" if section.choice else "")
            yield f"\n## {heading}\n\n{section.text}\n\n"
        else:
            yield "\n"
        yield table(
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
