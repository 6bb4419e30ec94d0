"""Fuzzing: altered copies of the project's own files, given to the commands that read them.

`cases.py` makes case number N of a kind from a seed, so that a case can be made again. `workers.py`
runs cases in child processes with limits of time and memory, and `oracle.py` says what is wrong
with an answer. `found/` holds the cases that once were answered wrongly; `test_fuzz.py` repeats
them, and runs a few new ones. `python -m tests.fuzz` runs as many as fit into a time.
"""
