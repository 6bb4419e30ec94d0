"""The scenarios that come with cosim: where they are, and copies of them for a user to change."""

from __future__ import annotations

import re
from pathlib import Path

from bridge.errors import InputError
from bridge.files import prepare_directory, write_whole

TEMPLATES = {
    "collective": "first.yaml",
    "clos": "first_clos.yaml",
    "rails": "first_rails.yaml",
    "llm": "first_llm.yaml",
    "dlrm": "first_dlrm.yaml",
    "cluster": "first_cluster.yaml",
}
"""The examples that a new scenario can be a copy of."""

SCHEMA = "scenario.schema.json"
"""The file beside copied examples with which editors complete and check them."""

TRACES = "traces"
"""The folder of the traces that examples read."""

_SCHEMA_LINE = re.compile(r"^# yaml-language-server: .*\n", re.MULTILINE)
_OWN_SCHEMA = f"# yaml-language-server: $schema={SCHEMA}\n"
_NAME_LINE = re.compile(r"^name: .*$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def examples_folder() -> Path:
    """Return the folder of the scenarios that come with cosim.

    A wheel has them in the package `cosim`; the source tree has them beside the packages.
    """
    root = Path(__file__).resolve().parent.parent
    packaged = root / "cosim" / "scenarios"
    return packaged if packaged.is_dir() else root / "scenarios"


def write_scenario(file: Path, kind: str = "collective", *, replace: bool = False) -> Path:
    """Write a new, commented scenario, named after its file, and the schema for editors beside it.

    Parameters
    ----------
    file : Path
        The file; the extension .yaml is added if there is none.
    kind : str
        A key of `TEMPLATES`.
    replace : bool
        Whether to replace a file that exists.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    InputError
        The file exists, its name cannot be that of a scenario, or it cannot be written.
    """
    if file.suffix not in {".yaml", ".yml"}:
        file = file.with_name(f"{file.name}.yaml")
    if not _NAME.fullmatch(file.stem):
        raise InputError(
            f"{file}: expected a name of letters, digits, dots, dashes and underscores, such as "
            "first.yaml"
        )
    _check_new([file], replace)
    text = (examples_folder() / TEMPLATES[kind]).read_text(encoding="utf-8")
    text = _NAME_LINE.sub(f"name: {file.stem}", _SCHEMA_LINE.sub(_OWN_SCHEMA, text), count=1)
    write_whole(file, text.encode())
    from frontend.scenario import json_schema

    write_whole(file.with_name(SCHEMA), json_schema.text().encode())
    return file


def copy_examples(folder: Path, *, replace: bool = False) -> list[Path]:
    """Copy the examples, their traces, and the schema with which editors check them, to a folder.

    Parameters
    ----------
    folder : Path
        The folder; created if it does not exist.
    replace : bool
        Whether to replace files that exist.

    Returns
    -------
    list of Path
        The copied scenarios.

    Raises
    ------
    InputError
        A file exists, or the folder cannot be written to.
    """
    from frontend.scenario import json_schema

    sources = sorted(examples_folder().glob("*.yaml"))
    copies = [folder / source.name for source in sources]
    traces = sorted((examples_folder() / TRACES).iterdir())
    copied_traces = [folder / TRACES / source.name for source in traces]
    _check_new([*copies, folder / SCHEMA, *copied_traces], replace)
    prepare_directory(folder)
    prepare_directory(folder / TRACES)
    for source, copy in zip(traces, copied_traces, strict=True):
        write_whole(copy, source.read_bytes())
    for source, copy in zip(sources, copies, strict=True):
        text = _SCHEMA_LINE.sub(_OWN_SCHEMA, source.read_text(encoding="utf-8"))
        write_whole(copy, text.encode())
    write_whole(folder / SCHEMA, json_schema.text().encode())
    return copies


def _check_new(files: list[Path], replace: bool) -> None:
    for file in files:
        if file.exists() and not replace:
            raise InputError(f"{file}: exists, expected a new file or --force to replace it")
