"""The lists of a result as pandas data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bridge.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def tables(document: dict[str, Any]) -> dict[str, pd.DataFrame]:
    """Return a table for each list in a result; see `bridge.Result.to_pandas`.

    Parameters
    ----------
    document : dict
        What `bridge.Result.to_dict` returns.

    Raises
    ------
    InputError
        pandas is not installed.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise InputError(
            "tables need pandas, which is not installed: "
            "install the extra `pandas` (pip install pandas)"
        ) from None
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    lists["dimensions"] = document["network"]["dimensions"]
    if "jobs" in lists:
        jobs = [dict(job) for job in lists["jobs"]]
        lists["job_iterations"] = [
            {"job": number, **iteration}
            for number, job in enumerate(jobs)
            for iteration in job.pop("iterations")
        ]
        lists["jobs"] = jobs
    return {name: pd.DataFrame(rows) for name, rows in lists.items()}
