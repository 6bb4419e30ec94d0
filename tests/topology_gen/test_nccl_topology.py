"""Topology files of NCCL: the numbers of servers, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.topology_gen.nccl_files import gpu, net, nvlinks, pci, server, system
from topology_gen.errors import FileFormatError
from topology_gen.formats.nccl_topology import MOST_BYTES, ServerFile, read_server

GBPS = 10**9


def read(text: str) -> ServerFile:
    return read_server(text.encode())


@pytest.mark.parametrize(
    ("generation", "links", "gbps", "reduces"),
    [(100, 18, 7200, True), (90, 18, 3600, True), (90, 8, 1600, True), (80, 12, 2400, False),
     (86, 4, 450, False), (70, 6, 1200, False), (60, 4, 640, False), (103, 18, 7200, True)],
)  # fmt: skip
def test_nvlinks_to_switches_have_the_rate_of_their_generation(
    generation: int, links: int, gbps: int, reduces: bool
) -> None:
    """H100: 18 NVLinks of 25 GB/s; H800: 8; B200: 18 of 50 GB/s; A6000: 4 of 14 GB/s."""
    found = read(server(4, generation=generation, links=links))
    assert (found.unknown, found.notes) == ({}, ())
    assert found.numbers == {
        "gpus": 4, "scale_up_switches": 1, "scale_up_bps": gbps * GBPS, "in_network": reduces,
        "nics": 4, "nic_bps": 400 * GBPS, "pcie_bps": 512 * GBPS,
    }  # fmt: skip


@given(switches=st.integers(1, 6), gpus=st.integers(1, 4), power=st.integers(0, 2))
def test_nics_are_counted_by_the_gpus_that_they_are_near(
    switches: int, gpus: int, power: int
) -> None:
    """A PCIe switch has some GPUs and NICs; a NIC at the processor is nearest to none."""
    nics = gpus << power
    inside = "".join(
        pci(f"{one}:0", "0x060400", "".join(
            [gpu(f"{one}:1.{k}", one * gpus + k, nvlinks(18, "f", "0x068000"))
             for k in range(gpus)]
            + [pci(f"{one}:2.{k}", "0x020700", net(f"mlx{one}.{k}", one * nics + k))
               for k in range(nics)]
        ))
        for one in range(switches)
    )  # fmt: skip
    found = read(system(inside + pci("9:0", "0x020000", net("storage", 99))))
    assert found.numbers["gpus"] == switches * gpus
    assert found.numbers["nics"] == switches * nics
    assert found.notes == ("storage: nearest to no GPU, so left out",)


def test_gpus_below_one_switch_may_share_its_nic() -> None:
    """As on AWS's p4d; a longer way below the same switch is as near as no other NIC."""
    one = gpu("1:1", 0, nvlinks(12, "f", "0x068000"), generation=80)
    far = pci("1:2", "0x060400", gpu("1:3", 1, nvlinks(12, "f", "0x068000"), generation=80))
    nic = pci("1:4", "0x020000", net("efa0", 0, 100_000, 75.0))
    found = read(system(pci("1:0", "0x060400", one + far + nic)))
    assert (found.numbers["gpus"], found.numbers["nics"]) == (2, 1)
    assert found.net_latency_us == 75


def test_pcie_links_are_those_up_to_where_the_nics_part() -> None:
    """The link of the shared switch carries none of it; virtual machines say 2.5 GT/s there."""
    inside = gpu("1:1", 0, "", speed="16.0 GT/s PCIe") + pci(
        "1:2", "0x020000", net("a", 0, 200_000)
    )
    found = read(system(pci("1:0", "0x060400", inside, "2.5 GT/s PCIe", 1)))
    assert found.numbers["pcie_bps"] == 256 * GBPS
    deeper = pci("1:3", "0x060400", gpu("1:1", 0, ""), "8 GT/s", 8)
    found = read(system(pci("1:0", "0x060400", deeper + pci("1:2", "0x020000", net("a", 0)))))
    assert found.numbers["pcie_bps"] == 64 * GBPS
    unknown = pci("1:0", "0x060400", gpu("1:1", 0, "", speed="") + pci("1:2", "0x02", net("a", 0)))
    assert read(system(unknown)).unknown == {"pcie_bps": "PCIe links without a speed"}


def test_ports_of_a_nic_share_its_pcie_link() -> None:
    """Two ports of 100 Gb/s behind 16 lanes of 8 GT/s have 64 Gb/s each."""
    ports = net("mlx5_0", 0, 100_000) + net("mlx5_1", 1, 100_000)
    inside = gpu("1:1", 0, "") + pci("1:2", "0x020700", ports, "8.0 GT/s PCIe")
    found = read(system(pci("1:0", "0x060400", inside)))
    assert (found.numbers["nics"], found.numbers["nic_bps"]) == (2, 64 * GBPS)
    assert found.notes == (
        "mlx5_0: 64000 Mbit/s, because of its PCIe link",
        "mlx5_1: 64000 Mbit/s, because of its PCIe link",
    )


def test_a_socket_at_two_processors_is_one_nic() -> None:
    one = gpu("1:1", 0, nvlinks(18, "f", "0x068000")) + f"<nic>{net('eth0', 0, 10_000)}</nic>"
    other = gpu("2:1", 1, nvlinks(18, "f", "0x068000")) + f"<nic>{net('eth0', 0, 10_000)}</nic>"
    found = read(system(one, other))
    assert (found.numbers["nics"], found.numbers["nic_bps"]) == (1, 10 * GBPS)
    assert found.notes == ("2 GPUs reach their NICs over a processor, whose rate is not simulated",)


def test_gpus_that_are_linked_to_each_other_need_no_switch() -> None:
    names = [f"{number}:1" for number in range(4)]
    inside = [
        gpu(own, number, "".join(nvlinks(4, one, "0x030200") for one in names if one != own),
            generation=80)
        for number, own in enumerate(names)
    ]  # fmt: skip
    found = read(system(*inside))
    assert (found.numbers["scale_up_switches"], found.numbers["scale_up_bps"]) == (0, 2400 * GBPS)
    assert found.unknown == dict.fromkeys(("nics", "nic_bps", "pcie_bps"), "no NICs")


def test_a_file_for_nccl_to_complete_tells_less() -> None:
    """As Azure's files: PCIe devices by their classes, and neither NVLinks nor rates."""
    inside = [
        pci(f"{one}:0", "0x060400", pci(f"{one}:1", "0x030200") + pci(f"{one}:2", "0x020700"))
        for one in range(8)
    ]
    found = read(system("".join(inside)))
    assert found.numbers == {"gpus": 8, "nics": 8, "pcie_bps": 512 * GBPS}
    assert set(found.unknown) == {"scale_up_bps", "scale_up_switches", "in_network", "nic_bps"}


def test_gpus_without_a_rank_and_nics_of_no_plug_in_are_left_out() -> None:
    idle = pci("3:1", "0x030200", '<gpu dev="1" sm="90"/>')
    inside = gpu("1:1", 0, "") + pci("1:2", "0x020700", net("a", 0)) + pci("1:4", "0x020000")
    found = read(system(pci("1:0", "0x060400", inside), idle))
    assert (found.numbers["gpus"], found.numbers["nics"]) == (1, 1)


def uneven() -> str:
    one = pci("1:0", "0x060400", gpu("1:1", 0, nvlinks(18, "f", "0x068000"))
              + pci("1:2", "0x02", net("a", 0)) + pci("1:3", "0x02", net("b", 1)))  # fmt: skip
    other = pci("2:0", "0x060400", gpu("2:1", 1, nvlinks(18, "f", "0x068000"))
                + pci("2:2", "0x02", net("c", 2)))  # fmt: skip
    return system(one + other)


def deep() -> str:
    inside = ""
    for level in range(100):
        inside = pci(f"{level}:0", "0x060400", inside)
    return system(inside)


SWITCHED = nvlinks(18, "f", "0x068000")
CHAIN = (
    gpu("1:1", 0, nvlinks(4, "2:1", "0x03"))
    + gpu("2:1", 1, nvlinks(4, "1:1", "0x03"))
    + gpu("3:1", 2, nvlinks(4, "1:1", "0x03"))
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<system", "expected a topology file of NCCL, XML (unclosed token: line 1, column 0)"),
        ("<graphs/>", "begins with an element 'graphs': expected 'system' of version 1"),
        ("<system version='2'/>", "'system' of version 2: expected 'system' of version 1"),
        ("<!DOCTYPE system><system version='1'/>", "a document type: expected a topology file"),
        (system(""), "no GPUs: expected elements 'gpu', or 'pci' of a class that begins with 0x03"),
        (system(gpu("1:1", 0, "", generation="x")), "gpu 1:1: sm is 'x': expected a number"),
        (system(gpu("1:1", 0, nvlinks(-2, "f", "0x068000"))), "nvlink 1:1: count is '-2'"),
        (
            system(gpu("1:1", 0, SWITCHED) + gpu("2:1", 1, "")),
            "GPU 1:1 has 18 NVLinks of sm 90 and GPU 2:1 no NVLinks: expected the same",
        ),
        (
            system(CHAIN),
            "GPU 1:1 has NVLinks to 2:1: expected NVSwitches, or as many NVLinks to each other GPU",
        ),
        (uneven(), "the NICs nearest to GPUs (1:1 a/b, 2:1 c): expected as many for each GPU"),
        (deep(), "expected PCIe devices in at most 64 levels"),
        (" " * (MOST_BYTES + 1), f"{MOST_BYTES + 1} bytes: expected at most {MOST_BYTES}"),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_no_server_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(FileFormatError) as error:
        read(text)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


TEXTS = st.text("<>/=\"' systempcigun10", max_size=80)


@given(st.binary(max_size=200) | TEXTS.map(str.encode))
def test_any_bytes_are_a_server_or_a_sentence(content: bytes) -> None:
    try:
        read_server(content)
    except FileFormatError as error:
        assert str(error)
