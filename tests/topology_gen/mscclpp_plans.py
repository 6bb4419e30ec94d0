"""MSCCL++ plans that tests share: ranks with every channel there is, and the blocks of a test."""

import json


def here(buffer, index):
    return {"type": buffer, "index": index, "size": 1}


def there(buffer_id, index):
    return {"buffer_id": buffer_id, "index": index, "size": 1}


def signal(name="signal", ids=(0,)):
    return {"name": name, "channel_ids": list(ids), "channel_type": "memory"}


def data(name, sources, targets):
    return {"name": name, "src_buff": sources, "dst_buff": targets, "channel_type": "memory"}


def plan(blocks, ranks=2, semaphores=()):
    """A plan whose rank r has the thread blocks `blocks(r)`, with every channel there is."""
    gpus = []
    for rank in range(ranks):
        others = [other for other in range(ranks) if other != rank]
        count = len(blocks(rank))
        gpus.append(
            {
                "id": rank,
                "input_chunks": ranks,
                "output_chunks": ranks,
                "scratch_chunks": ranks,
                "channels": [
                    {"channel_type": "memory", "connected_to": others * count},
                    {
                        "channel_type": "switch",
                        "buffer_type": "i",
                        "rank_groups": [{"size": ranks, "ranks": list(range(ranks))}],
                    },
                ],
                "remote_buffers": [
                    {"rank": other, "type": kind, "access_channel_types": ["memory"]}
                    for other in others
                    for kind in "is"
                ],
                "semaphores": [{"init_value": value} for value in semaphores],
                "threadblocks": [
                    {
                        "id": number,
                        "ops": ops,
                        "channels": [
                            {
                                "channel_type": "memory",
                                "channel_ids": [
                                    number * len(others) + i for i in range(len(others))
                                ],
                            },
                            {"channel_type": "switch", "channel_ids": [0]},
                        ],
                        "remote_buffer_refs": [
                            {
                                "access_channel_type": "memory",
                                "remote_buffer_ids": list(range(2 * len(others))),
                            }
                        ],
                    }
                    for number, ops in enumerate(blocks(rank))
                ],
            }
        )
    head = {"name": "plan", "collective": "allreduce", "protocol": "Simple", "inplace": True}
    return json.dumps(head | {"gpus": gpus}).encode()


def getting(rank):
    """As `reading`, but in four operations: get, reduce, put, and with a release in between."""
    return [
        [
            signal("rlxsignal"),
            signal("rlxwait"),
            data("get", [there(0, rank)], [here("s", rank)]),
            data("re", [here("i", rank), here("s", rank)], [here("i", rank)]),
            data("put", [here("i", rank)], [there(0, rank)]),
            signal(),
            signal("wait"),
        ]
    ]


def plan_with_meetings():
    """Return `getting` by three blocks, which use barriers and semaphores between its halves."""
    meeting = {"name": "barrier", "barrier_id": 0, "num_threadblocks": 3}

    def blocks(rank):
        first, second = getting(rank)[0][:4], getting(rank)[0][4:]
        group = {"tbg_info": {"tb_id": 0, "tbg_size": 1}}
        first[3] |= group
        handing = {"semaphore_ids": [0]}
        return [
            [*first, meeting, {"name": "sem_release"} | handing],
            [meeting, {"name": "sem_acquire"} | handing, *second],
            [meeting],
        ]

    return plan(blocks, semaphores=[0])
