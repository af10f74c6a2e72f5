"""Which arm is better: many arms on the same problems, compared in pairs, in one folder."""
