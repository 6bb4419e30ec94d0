"""Labels of results: names that the user gives them, in a file beside ``result.json``."""

from __future__ import annotations

from pathlib import Path

from bridge.errors import InputError
from bridge.files import remove, write_whole
from bridge.results.folders import RESULTS, result_folders
from topology_gen.files import read_text

#: The file in the folder of a result. A new run in the folder leaves it there.
LABEL_NAME = "label.txt"

#: Characters of a label at most, so that tables have room for it.
LONGEST = 40


def label_of(result: Path) -> str:
    """Return the label of a result, or an empty text.

    Parameters
    ----------
    result : Path
        Its folder, or a file in it.
    """
    folder = result if result.is_dir() else result.parent
    try:
        text = read_text(folder / LABEL_NAME, 4 * LONGEST).strip()
    except (OSError, ValueError):  # there is none, or it is no text
        return ""
    return text if _is_label(text) else ""


def set_label(result: Path, label: str) -> None:
    """Give a result a label in place of the one that it has; an empty text removes it.

    Parameters
    ----------
    result : Path
        Its folder, or a file in it.
    label : str
        The label.

    Raises
    ------
    InputError
        The text cannot be a label, or another result below `RESULTS` has it.
    OutputError
        The folder cannot be written to.
    """
    folder = result if result.is_dir() else result.parent
    if not label:
        remove(folder / LABEL_NAME)
        return
    if not _is_label(label):
        raise InputError(
            f"label {label!r}: expected at most {LONGEST} printable characters, no / and no space "
            "at an end"
        )
    for other in labelled(label):
        if other.resolve() != folder.resolve():
            raise InputError(f"label {label}: {other} has it, expected another one")
    write_whole(folder / LABEL_NAME, f"{label}\n".encode())


def labelled(label: str) -> list[Path]:
    """Return the folders of the results below `RESULTS` that have a label."""
    return [folder for folder in result_folders(RESULTS) if label_of(folder) == label]


def _is_label(text: str) -> bool:
    is_plain = text.isprintable() and "/" not in text and text == text.strip()
    return is_plain and 0 < len(text) <= LONGEST
