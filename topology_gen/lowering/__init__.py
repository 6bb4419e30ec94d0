"""Turns schedules into algorithms of thread blocks, as MSCCL runs them."""
