"""What an import makes, and how its parts read files and write numbers."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from frontend.errors import ScenarioError
from topology_gen import files


@dataclass
class Imported:
    """A scenario made of ASTRA-sim's files.

    Attributes
    ----------
    scenario : dict
        Content of the scenario file.
    notes : list of str
        What has no equivalent, or differs, one sentence each.
    folder : Path
        Folder of the scenario, from which its paths start.
    files : list of Path
        The files that the scenario names.
    """

    folder: Path
    scenario: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def name(self, file: Path) -> str:
        """Return the path of a file as the scenario names it."""
        self.files.append(file)
        return os.path.relpath(file, self.folder)


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises
    ------
    ScenarioError
        If it cannot be read, or is not UTF-8.
    """
    try:
        return files.read_text(path)
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}: expected a readable file") from None


def read_json(path: Path) -> Any:
    """Return the content of a file; raise ScenarioError if it cannot be read, or is no JSON."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{path}: expected JSON ({error})") from None


def plain(value: float) -> str:
    """Return a number without the zero of a whole number's fraction.

    Examples
    --------
    >>> plain(50.0), plain(936.25)
    ('50', '936.25')
    """
    return str(int(value)) if float(value).is_integer() else repr(value)
