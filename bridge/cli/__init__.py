"""The sub-commands of ``cosim``, one a file."""
