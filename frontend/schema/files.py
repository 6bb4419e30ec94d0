"""JSON files that a scenario names, looked for beside it."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationInfo

FOLDER = "folder"
"""Key of the validation context: the folder in which files are looked for."""


def read_json(name: str, info: ValidationInfo) -> Any:
    """Return the content of a file.

    Parameters
    ----------
    name : str
        Path, from the folder of the validation context.
    info : ValidationInfo
        What pydantic passes to a validator.

    Raises
    ------
    ValueError
        A file that cannot be read or is not JSON.
    """
    path = (info.context or {}).get(FOLDER, Path()) / name
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{error.strerror or error}: expected a readable file") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"expected JSON ({error})") from None
