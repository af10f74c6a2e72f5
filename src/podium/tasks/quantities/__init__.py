"""Numbers and units as people and models write them, read exactly: shared by the verifiers of mathematics and free answers.

numbers.py      "-$1,234.50" -> a fraction and the unit behind it
behind.py       what stands behind a number: " million people", "km", or the letters of a product
compound.py     "1 hour 30 minutes" -> 90 minutes
number_words.py "forty-two" -> "42"
equations.py    which side of an equation is the answer
units.py        what a unit means; whether 5000 m is 5 km
unit_table.py   our own units; pint_units.py: the long tail, asked lazily
measures.py     "50.7 atm" -> a value and how exact its printed digits say it is
arithmetic.py   "(8 - 2) × 4" -> a tree, never executed
"""
