"""WHO writes the workflow: prompted models and hand-written baselines."""
