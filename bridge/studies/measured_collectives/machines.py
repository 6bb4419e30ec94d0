"""The machines of the published tables, and the scenario of a row."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.batch.nccl_programs import launch_us
from frontend.formats.nccl_server import on_rails

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Group:
    """Rows of one machine.

    Attributes
    ----------
    text : str
        The machine in words.
    server : mapping
        `topology.server` in a scenario. NVLink has the latency of NCCL's tuner, 0.6 µs for a step
        of LL.
    nccl : mapping
        Options of the algorithm `nccl`: the plug-in, where the server has none, and variables of
        NCCL that the source names.
    network : str
        The network between servers and its plug-in, if tables of several machines or operations
        have it.
    program : str
        What issued the operations and measured their time.
    sharp : bool
        Whether the switches between servers reduced.
    """

    text: str
    server: Mapping[str, Any]
    nccl: Mapping[str, Any] = field(default_factory=dict)
    network: str = ""
    program: str = "nccl-tests"
    sharp: bool = False


def _server(model: str, **given: Any) -> dict[str, Any]:
    return {"model": model, "scale_up_latency": "0.3us"} | given


_ALONE = {"gpus": 1, "nics": 1, "nic_bandwidth": "100Gbps"}
"""A GPU that reaches others by its NIC alone (NCCL_P2P_DISABLE=1, NCCL_SHM_DISABLE=1)."""

GROUPS: dict[str, Group] = {
    "a100": Group("8 A100, one server", _server("dgx_a100")),
    "h200": Group(
        "4 to 8 H200, one server, NVLS off",
        _server("hgx_h200", in_network=False),
        program="PyTorch",
    ),
    "b200": Group(
        "4 to 8 B200, one server, NVLS off",
        _server("hgx_b200", in_network=False),
        program="PyTorch",
    ),
    "h200-nvls": Group(
        "4 to 8 H200, one server",
        _server("hgx_h200"),
        {"version": "2.27"},
        program="PyTorch",
    ),
    "b200-nvls": Group(
        "4 to 8 B200, one server",
        _server("hgx_b200"),
        {"version": "2.27"},
        program="PyTorch",
    ),
    "h100-dgx": Group("8 H100, one server", _server("dgx_h100")),
    "smc-h100": Group("8 H100, one server, Supermicro", _server("hgx_h100"), {"version": "2.18"}),
    "oci-h100": Group("8 H100, one server, Oracle", _server("hgx_h100"), {"version": "2.21"}),
    "smc-b200": Group("8 B200, one server, Supermicro", _server("hgx_b200"), {"version": "2.25"}),
    "a3-ultra": Group(
        "servers of 8 H200, 8 RoCE NICs of 400 Gb/s, Google's A3 Ultra",
        _server("hgx_h200"),
        {"version": "2.22"},
        network="RoCE",
    ),
    "gb200-nvls": Group("72 GB200, one NVL72", _server("gb200_nvl72")),
    "p5": Group(
        "servers of 8 H100, 32 EFA adapters of 100 Gb/s each",
        _server("p5"),
        {"version": "2.28"},
        network="EFA",
    ),
    "p5-no-tuner": Group(
        "servers of 8 H100, 32 EFA adapters of 100 Gb/s each, without the plug-in's tuner",
        _server("p5"),
        {"plugin_tuner": False, "version": "2.20"},
        network="EFA",
    ),
    "p5en-ring": Group(
        "servers of 8 H200, 16 EFA adapters of 200 Gb/s, ring",
        _server("p5en"),
        {"algorithms": ["ring"]},
        network="EFA",
    ),
    "p6-b200": Group(
        "servers of 8 B200, 8 EFA adapters of 400 Gb/s",
        _server("hgx_b200"),
        {"plugin": "efa_p6", "version": "2.27"},
        network="EFA",
    ),
    "p6-b200-torch": Group(
        "servers of 8 B200, 8 EFA adapters of 400 Gb/s, PyTorch",
        _server("hgx_b200"),
        {"plugin": "efa_p6", "version": "2.27"},
        network="EFA",
        program="PyTorch",
    ),
    "a100-2x4-ring": Group(
        "servers of 4 A100, 4 NICs of 200 Gb/s, NCCL_ALGO=RING",
        _server("dgx_a100", gpus=4, nics=4),
        {"algorithms": ["ring"]},
    ),
    "p4d": Group(
        "servers of 8 A100, 4 EFA adapters of 100 Gb/s", _server("p4d"), {"version": "2.20"}
    ),
    "oke-a100": Group(
        "servers of 8 A100, 200 Gb/s of RoCE for each", _server("dgx_a100"), network="RoCE"
    ),
    "h100-nebius": Group(
        "servers of 8 H100, 8 NDR NICs of 400 Gb/s", _server("hgx_h100"), network="InfiniBand"
    ),
    "h200-nebius": Group(
        "servers of 8 H200, 8 NDR NICs of 400 Gb/s", _server("hgx_h200"), network="InfiniBand"
    ),
    "b200-lambda": Group(
        "servers of 8 B200, 8 NICs of 400 Gb/s, Lambda",
        _server("hgx_b200"),
        {"version": "2.26"},
        network="InfiniBand",
    ),
    "a4": Group(
        "servers of 8 B200, 8 RoCE NICs of 400 Gb/s, Google's A4",
        _server("hgx_b200"),
        network="RoCE",
    ),
    "a3-mega": Group(
        "servers of 8 H100, 8 NICs of 200 Gb/s, TCPXO", _server("a3_mega"), network="TCPXO"
    ),
    "a3-mega-simple": Group(
        "servers of 8 H100, 8 NICs of 200 Gb/s, TCPXO, Simple",
        _server("a3_mega"),
        {"plugin": "tcpxo_simple"},
        network="TCPXO",
    ),
    "a3-high": Group(
        "servers of 8 H100, 4 NICs of 200 Gb/s, TCPX",
        _server("hgx_h100", nics=4, nic_bandwidth="200Gbps"),
        {"plugin": "tcpx"},
    ),
    "b200-ib": Group(
        "servers of 8 B200, 8 NDR NICs of 400 Gb/s", _server("hgx_b200"), network="InfiniBand"
    ),
    "v100": Group("V100, each with a NIC of 100 Gb/s of InfiniBand", _ALONE, {"version": "2.19"}),
    "v100-sharp": Group(
        "V100, each with a NIC of 100 Gb/s of InfiniBand, SHARP",
        _ALONE,
        {"version": "2.19"},
        sharp=True,
    ),
    "spark": Group("two DGX Spark, one cable of 200 Gb/s", {"model": "dgx_spark"}),
}


@dataclass(frozen=True)
class Row:
    """A row of a published table.

    Attributes
    ----------
    group, operation : str
        The machine, and the operation.
    servers, gpus, bytes : int
        Servers, GPUs of all of them, and the size.
    gpus_per_thread : int
        GPUs that a thread of nccl-tests drove (its option `-g`).
    measured_us : float, optional
        The time; None for a blind row that nobody has read yet.
    source : str
        Repository, commit and file, or repository and issue.
    """

    group: str
    operation: str
    servers: int
    gpus: int
    bytes: int
    measured_us: float | None
    source: str
    gpus_per_thread: int = 1

    @property
    def name(self) -> str:
        """A name of the row's simulation."""
        return (
            f"{self.group} {self.servers}x{self.gpus // self.servers} {self.operation} {self.bytes}"
        )

    @property
    def table(self) -> tuple[str, str, int, int, str]:
        """What the rows of a table have in common."""
        return self.group, self.operation, self.servers, self.gpus, self.source

    @property
    def machine(self) -> tuple[str, str]:
        """What tables of different numbers of servers have in common."""
        return self.group, self.operation

    @property
    def program(self) -> str:
        """What issued the operation; empty if no other table has it.

        A thread that drives several GPUs is another program.
        """
        return "" if self.gpus_per_thread > 1 else GROUPS[self.group].program

    @property
    def network(self) -> str:
        """What carried the operation between servers; empty if no other table has it."""
        return GROUPS[self.group].network if self.servers > 1 else "one server"

    @property
    def least_us(self) -> float:
        """The time of a thread to launch the operation on its GPUs, if it has several."""
        return launch_us(self.gpus_per_thread)

    def scenario(self) -> dict[str, Any]:
        """Return the scenario of the row."""
        server = dict(GROUPS[self.group].server)
        local = self.gpus // self.servers
        if self.servers == 1:
            server |= {"gpus": local, "nics": local}
        work = {
            "kind": "collective",
            "operation": self.operation,
            "algorithm": "nccl",
            "bytes": f"{self.bytes}B",
            "nccl": dict(GROUPS[self.group].nccl),
        }
        network = {"pxn": True} | ({"in_network": True} if GROUPS[self.group].sharp else {})
        made = on_rails(self.name.replace(" ", "-"), server, self.servers, **network)
        return {**made, "description": self.source, "workload": work}


def errors_of(times: Mapping[Row, float]) -> dict[Row, float]:
    """Return the relative errors of some times in µs, of the rows that were measured."""
    return {
        row: time / row.measured_us - 1
        for row, time in times.items()
        if row.measured_us is not None
    }


@dataclass(frozen=True)
class Predicted:
    """A table, predicted with numbers that fit other rows.

    Attributes
    ----------
    rows : sequence of Row
        Its rows, by size.
    times : mapping of Row to float
        The time of each row with these numbers, in µs.
    """

    rows: Sequence[Row]
    times: Mapping[Row, float]

    @property
    def errors(self) -> dict[Row, float]:
        """The error of each row."""
        return errors_of(self.times)


def rows() -> list[Row]:
    """Return the rows that were measured, in the order of `rows.csv`."""
    with (FOLDER / "rows.csv").open(encoding="utf-8", newline="") as file:
        return [
            Row(
                one["group"],
                one["operation"],
                int(one["servers"]),
                int(one["gpus"]),
                int(one["bytes"]),
                float(one["time_us"]) if one["time_us"] else None,
                " ".join(filter(None, (one["repository"], one["commit"], one["file"]))),
                int(one["gpus_per_thread"]),
            )
            for one in csv.DictReader(file)
        ]
