"""Traces of clusters: rows as published become arrivals, sizes and times of jobs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from frontend import load_scenario
from frontend.errors import ScenarioError
from frontend.formats.job_traces import TracedJob, read_table, read_traces, traced_scenario

# Rows of openb_pod_list_default.csv (alibaba/clusterdata, cluster-trace-gpu-v2023).
PODS = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
openb-pod-4447,8200,33792,1,1000,A10|T4,LS,Failed,11724207,11725419,11724207
openb-pod-0096,18708,64512,1,1000,,LS,Pending,10019975,10020052,
openb-pod-0098,8000,30517,1,320,,BE,Running,10020315,10020891,10020315
openb-pod-0035,16000,32768,1,1000,V100M16|V100M32,LS,Running,9967058,9968575,9967063
"""

# The example of README.md (msr-fiddle/philly-traces, 29a1b87f).
GPUS = [f"gpu{number}" for number in range(8)]
PHILLY = {
    "status": "Pass",
    "vc": "ee9e8c",
    "jobid": "application_1506638472019_14199",
    "attempts": [
        {
            "start_time": "2017-10-07 01:12:09",
            "end_time": "2017-10-07 01:13:23",
            "detail": [{"ip": "m47", "gpus": GPUS}],
        },
        {
            "start_time": "2017-10-07 01:13:30",
            "end_time": "2017-10-09 06:53:12",
            "detail": [{"ip": "m412", "gpus": GPUS}],
        },
    ],
    "submitted_time": "2017-10-07 01:11:39",
    "user": "ce2f4c",
}

# Columns as README.md of cluster-trace-gpu-v2020 lists them, without a line of names.
TASKS = """\
a,ps,1.0,Terminated,100.0,400.0,600.0,29.0,,
a,worker,3.0,Terminated,110.0,410.0,600.0,29.0,50.0,MISC
b,tensorflow,16.0,Terminated,90.0,190.0,600.0,29.0,100.0,V100
c,tensorflow,1.0,Running,95.0,,600.0,29.0,100.0,V100
d,evaluator,1.0,Terminated,95.0,100.0,600.0,29.0,,
"""
JOBS = """\
a,id_a,user,Terminated,80.0,410.0
b,id_b,user,Terminated,85.5,190.0
"""
TAGS = "id_b,user,V100M32,fbeb,nmt\n"

TABLE = """\
topology: {family: flat, ranks: 8, bandwidth: 100Gbps, latency: 1us, buffer: 4MB}
fabric: analytical
models:
  - names: [nmt, b*]
    gpus: [2, 8]
    iteration: 50ms
    job: {workload: &ring {kind: collective, operation: all_reduce, algorithm: ring, bytes: 1MB}}
  - iteration: 100s
    job: {placement: spread, workload: *ring}
"""


def written(folder: Path, **texts: str) -> list[Path]:
    paths = [folder / name for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    return paths


def test_pods_of_alibaba_2023(tmp_path):
    """The pod that was never scheduled is left out; times count from the schedule on."""
    assert read_traces(written(tmp_path, pods=PODS)) == [
        TracedJob(9967058, 9968575 - 9967063, 1, "LS"),
        TracedJob(10020315, 10020891 - 10020315, 1, "BE"),
        TracedJob(11724207, 11725419 - 11724207, 1, "LS"),
    ]


def test_a_job_of_philly(tmp_path):
    """74 s, and then 2 d 5 h 39 min 42 s, on 8 GPUs."""
    known, *rest = read_traces(
        written(tmp_path, log=json.dumps([PHILLY, PHILLY | {"attempts": []}]))
    )
    assert known[1:] == (74 + 2 * 86400 + 5 * 3600 + 39 * 60 + 42, 8, "ee9e8c")
    assert rest == []


def test_tables_of_alibaba_2020(tmp_path):
    """Job a has 3 halves of a GPU, which are 2; b has 16, and its workload from the tags."""
    tables = {"tasks": TASKS, "jobs": JOBS, "tags": TAGS}
    assert read_traces(written(tmp_path, **tables)) == [
        TracedJob(80.0, 310.0, 2, "ps+worker"),
        TracedJob(85.5, 100.0, 16, "nmt"),
    ]
    alone = read_traces(written(tmp_path, tasks=TASKS))
    assert [job.arrival_s for job in alone] == [90.0, 100.0]


def test_the_table_decides_what_jobs_do(tmp_path):
    (path,) = written(tmp_path, table=TABLE)
    jobs = [
        TracedJob(10.0, 310.0, 2, "ps+worker"),
        TracedJob(10.25, 1.01, 4, "bert"),
        TracedJob(11, 5, 16, "nmt"),
        TracedJob(2e6, 5, 1, "x"),
    ]
    content, notes = traced_scenario(jobs, read_table(path), 8)
    made = [work.job for work in load_scenario(content).work]
    assert [
        (one.name, one.ranks, one.placement, int(one.arrival), one.iterations)
        for one in made
        if one is not None
    ] == [("job_0", 2, "spread", 0, 3), ("job_1", 4, "packed", 25 * 10**10, 20)]
    assert content["queueing"] == "fifo"
    assert [note.split()[0] for note in notes] == ["1", "1"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n", "an openb_pod_list with times"),
        (TAGS, "pai_task_table.csv, too"),
        (TASKS + "a\n", ":6: 1 columns: expected 10"),
        (TASKS.replace("110.0", "soon"), "a: start_time: value soon: expected a number"),
        ('[{"vc": 1}]', "0: 'attempts': expected a job of Philly's"),
    ],
)
def test_what_is_no_trace(tmp_path, text, sentence):
    with pytest.raises(ScenarioError, match=sentence):
        read_traces(written(tmp_path, trace=text))


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("models:", "model:", "models: expected a list"),
        ("[nmt, b*]", "nmt", "models.0.names: value nmt"),
        ("[2, 8]", "[2]", r"models.0.gpus: value \[2\]"),
        ("50ms", "50", "models.0.iteration: value 50"),
        ("placement: spread, ", "", None),
        ("    gpus", "    gpu", "models.0.gpu: expected names"),
        ("job: {placement", "job: {jobs", None),
    ],
)
def test_what_is_no_table(tmp_path, before, after, sentence):
    (path,) = written(tmp_path, table=TABLE.replace(before, after, 1))
    if sentence is None:
        assert len(read_table(path).kinds) == 2
        return
    with pytest.raises(ScenarioError, match=sentence):
        read_table(path)


def test_the_command_makes_a_scenario_that_cosim_cluster_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, tasks=TASKS, table=TABLE)
    made = CliRunner().invoke(main, ["import", "jobs", "tasks", "--models", "table"])
    assert made.exit_code == 0, made.output
    assert "trace.yaml: 1 jobs" in made.stderr
    assert "1 jobs with more GPUs than the 8" in Path("trace.yaml").read_text()
    answer = CliRunner().invoke(main, ["cluster", "trace.yaml", "--json"])
    assert answer.exit_code == 0, answer.output
    (job,) = json.loads(answer.stdout)["jobs"]
    assert job["ranks"] == 2
