"""Numbers and units as people and models write them, read exactly: shared by the verifiers of mathematics and free answers.

numbers.py      "-$1,234.50" -> a fraction and the unit behind it
units.py        what a unit means; whether 5000 m is 5 km
measures.py     "50.7 atm" -> a value and how exact its printed digits say it is
arithmetic.py   "(8 - 2) × 4" -> a tree, never executed
"""
