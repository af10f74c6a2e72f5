"""WHAT is asked, and what counts as right."""
