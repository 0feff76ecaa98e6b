"""One machine: the order of the stages, checkpoints, memory, threads and progress."""
