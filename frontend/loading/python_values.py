"""Turn numbers of numpy into Python's, as scripts compute values of a scenario with numpy."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def python_values(value: Any) -> Any:
    """Return a value with numpy's numbers and arrays, also nested ones, as Python's.

    Examples
    --------
    >>> python_values({"ranks": np.int64(8), "sizes": [np.float64(0.5)], "dims": np.arange(2)})
    {'ranks': 8, 'sizes': [0.5], 'dims': [0, 1]}
    """
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: python_values(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [python_values(part) for part in value]
    return value
