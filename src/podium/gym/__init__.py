"""A small world whose best workflow is known: problems, rule-based specialists, the optimum."""
