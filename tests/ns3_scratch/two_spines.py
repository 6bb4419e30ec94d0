"""Four ranks below two leaves and two spines, and events on them."""

from typing import Any

CHANGING = ["express", "flow"]

TWO_SPINES: list[Any] = [
    *([f"gpu{rank}", f"leaf{rank // 2}", "100Gbps", "1us"] for rank in range(4)),
    *([f"leaf{leaf}", f"spine{spine}", "100Gbps", "1us"] for leaf in (0, 1) for spine in (0, 1)),
]
ONE_WAY_OUT = [0, "leaf0"]


def scenario(*events: Any, fabric: str = "express", **changes: Any) -> dict[str, Any]:
    content: dict[str, Any] = {
        "fabric": fabric,
        "topology": {"family": "graph", "links": TWO_SPINES, "buffer": "16MB"},
        "workload": {
            "kind": "collective",
            "operation": "all_reduce",
            "algorithm": "ring",
            "bytes": "1MB",
        },
        "transport": {"min_rto": "200us"},
        "routing": {"detection": "20us"},
        "events": list(events),
    }
    return content | changes


def down(link: Any, at: str = "50us", **more: Any) -> dict[str, Any]:
    return {"event": "link_down", "link": link, "at": at} | more
