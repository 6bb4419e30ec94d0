"""Predict blind rows before anybody reads them.

``python -m bridge.studies.measured_collectives.blind`` simulates those without a prediction. A row
that `blind.csv` has keeps its time: a change of the model does not change it.
"""

from __future__ import annotations

import csv

import bridge
from bridge.studies.measured_collectives.machines import FOLDER, Row
from bridge.studies.measured_collectives.tables import blind
from frontend import load_scenario

MIB = 2**20
SIZES = {"all_reduce": 9, "all_gather": 7, "all_to_all": 7}
"""Sizes of each table of the p5, from 32 MiB on in powers of two."""

BLIND = [
    *(
        Row("p5", operation, servers, 8 * servers, 32 * MIB << step, None, "")
        for servers in (8, 32)
        for operation, sizes in SIZES.items()
        for step in range(sizes)
    ),
    *(Row("b200-ib", "all_reduce", 2, 16, 512 * MIB << step, None, "") for step in range(6)),
    *(Row("smc-h100", "all_reduce", 1, 8, 21 * MIB << step, None, "") for step in range(6)),
    Row("oci-h100", "all_reduce", 1, 8, 53687090, None, ""),
    *(
        Row("a3-ultra", "all_reduce", servers, 8 * servers, 1731821448, None, "")
        for servers in (1, 8)
    ),
    *(
        Row(group, "all_reduce", gpus, gpus, 2**exponent, None, "")
        for group in ("v100", "v100-sharp")
        for gpus in (4, 8)
        for exponent in range(16, 31)
    ),
]
"""The rows that were blind: the p5 on 8 and 32 servers, 2 × 8 B200 with InfiniBand (issue 389 of
NVIDIA/nccl-tests), what MLPerf's submissions of bert, resnet and Stable Diffusion measured before
they trained (rounds 4.0 and 5.0), and V100 with and without SHARP (pictures of osrg/optcast)."""


def main() -> None:
    """Predict the rows that have no time yet."""
    file = FOLDER / "blind.csv"
    known = blind() if file.exists() else {}
    for row in BLIND:
        if row.name not in known:
            known[row.name] = bridge.run(load_scenario(row.scenario())).time_ns / 1e3
            print(row.name, known[row.name], flush=True)
            with file.open("w", encoding="utf-8", newline="") as out:
                writer = csv.writer(out, lineterminator="\n")
                writer.writerow(("name", "time_us"))
                writer.writerows((name, f"{time:.5g}") for name, time in known.items())


if __name__ == "__main__":
    main()
