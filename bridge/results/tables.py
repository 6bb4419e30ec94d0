"""The lists of a result as pandas data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bridge.errors import InputError
from bridge.results.run_tables import MEASURED, SERIES, RunTables

if TYPE_CHECKING:
    import pandas as pd


def tables(document: dict[str, Any], measured: RunTables) -> dict[str, pd.DataFrame]:
    """Return a table for each list in a result; see `bridge.Result.to_pandas`.

    Parameters
    ----------
    document : dict
        What `bridge.Result.to_dict` returns.
    measured : RunTables
        The tables that are not in result.json.

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
    if "critical_path" in lists:
        lists["critical_path"] = [
            {"iteration": path["iteration"], **_flat(step)}
            for path in lists["critical_path"]
            for step in path["steps"]
        ]
    files = (*MEASURED, *SERIES)
    lists |= {name: rows for name in files if (rows := measured.find(name)) is not None}
    return {name: pd.DataFrame(rows) for name, rows in lists.items()}


def _flat(step: dict[str, Any]) -> dict[str, Any]:
    """Return a step of a critical path with its times as columns."""
    return {**{name: value for name, value in step.items() if name != "times"}, **step["times"]}
