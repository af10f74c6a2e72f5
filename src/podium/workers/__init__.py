"""WHO carries out a subtask: pools, adapters, wrappers, the journal of paid calls."""
