"""A pool, opened: its workers, the models it offers, its problems and verifiers."""
