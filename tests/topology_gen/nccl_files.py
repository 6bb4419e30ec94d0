"""Topology files of NCCL, made from parts."""

from __future__ import annotations


def pci(
    name: str, kind: str, inside: str = "", speed: str = "32.0 GT/s PCIe", width: int = 16
) -> str:
    """Return a PCIe device; NICs are in an element `nic`."""
    if inside.startswith("<net"):
        inside = f"<nic>{inside}</nic>"
    return (
        f'<pci busid="{name}" class="{kind}" link_speed="{speed}" link_width="{width}">'
        f"{inside}</pci>"
    )


def gpu(
    name: str, rank: int, links: str, *, generation: object = 90, speed: str = "32.0 GT/s PCIe"
) -> str:
    """Return a GPU with its NVLinks."""
    inside = f'<gpu dev="{rank}" sm="{generation}" rank="{rank}" gdr="1">{links}</gpu>'
    return pci(name, "0x030200", inside, speed)


def nvlinks(count: int, target: str, kind: str) -> str:
    """Return NVLinks of a GPU to a device with a class."""
    return f'<nvlink target="{target}" count="{count}" tclass="{kind}"/>'


def net(name: str, number: int, mbps: int = 400_000, latency_us: float = 0.0) -> str:
    """Return a NIC as a plug-in of the network has it."""
    return (
        f'<net name="{name}" dev="{number}" speed="{mbps}" port="1" latency="{latency_us:f}" '
        'guid="0x0" maxconn="131072" gdr="1"/>'
    )


def system(*processors: str) -> str:
    """Return a file with what each processor has."""
    cpus = (f'<cpu numaid="{one}">{inside}</cpu>' for one, inside in enumerate(processors))
    return f'<system version="1">{"".join(cpus)}</system>'


def server(gpus: int, *, generation: int = 90, links: int = 18, latency_us: float = 0.0) -> str:
    """Return a server with NVSwitches, and a PCIe switch for each GPU and its NIC."""
    half = links // 2
    to_switches = nvlinks(half, "5:0", "0x068000") + nvlinks(links - half, "6:0", "0x068000")
    inside = [
        pci(
            f"{one}0:0",
            "0x060400",
            gpu(f"{one}1:0", one, to_switches, generation=generation)
            + pci(f"{one}2:0", "0x020700", net(f"mlx5_{one}", one, latency_us=latency_us)),
        )
        for one in range(gpus)
    ]
    return system("".join(inside[: gpus // 2]), "".join(inside[gpus // 2 :]))
