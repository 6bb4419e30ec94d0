"""GOAL: the schedules of LogGOPSim and ATLAHS, as text and binary."""

from frontend.formats.goal.read import read_goal
from frontend.formats.goal.write import goal_text

__all__ = ["goal_text", "read_goal"]
