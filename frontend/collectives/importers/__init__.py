"""Programs made from algorithms in files: MSCCL XML, MSCCL++ plans, schedules."""
