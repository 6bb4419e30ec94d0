"""Build programs from algorithm files: MSCCL XML, MSCCL++ execution plans and schedules."""
