"""Schedules as algorithms of thread blocks, as MSCCL runs them."""
