"""Reading the files of other tools: what cannot be read is one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from frontend.errors import ScenarioError
from topology_gen import files


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
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{path}: expected JSON ({error})") from None
