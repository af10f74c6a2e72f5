"""HOW GOOD is a Worker: Workers x Problems -> results, figures, tables."""
