"""Files of other tools that hold a workload: readers, writers, and the checks that they share."""
