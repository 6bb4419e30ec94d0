"""The sub-commands of ``cosim``, one in each file."""
