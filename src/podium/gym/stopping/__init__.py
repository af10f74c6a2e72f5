"""A world in which it pays to stop: two cheap workers that agree are right, and only where they differ a dear one is needed."""
