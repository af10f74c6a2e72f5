"""Is the final answer of a mathematical problem right? Read ``verifier.py`` first.

verifier.py     the verifier
deciding.py     what numbers, names and equal spellings decide, and what is left for the processes
agreeing.py     which of several answers say the same
letters.py      whether letters behind a number are a unit or variables of the question
question.py     what the question asks for, and what an answer only repeats of it
clock.py        times of day
reading.py      one answer as it is read: for verdicts, and for whether two answers agree
spelling.py     what is typed or in Unicode, as LaTeX
answer.py       which part of a reply states the final answer
sentences.py    the one number that a short sentence names
notation.py     one answer, written in many ways, as text
pool.py         formulas compared in processes that can be killed; worker.py is such a process
equivalence.py  whether two formulas are the same, inside those processes only; formulas.py reads them, values.py evaluates them
solutions.py    which numbers a condition allows: "x < 0 or x > 1"
"""

from podium.tasks.mathematics.answer import final_answer
from podium.tasks.mathematics.verifier import MathVerifier

__all__ = ["MathVerifier", "final_answer"]
