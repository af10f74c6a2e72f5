"""Is the program right? Read ``verifier.py`` first.

verifier.py      the verifier: one submission per answer, judged as its style of tests allows
target.py        the tests of a problem, as JSON
code.py          which program an answer proposes
runs.py          one program in the sandbox: its outputs, its calls, and what went wrong
outputs.py       expected output and stdout, token by token; values.py compares returned values
assertions.py    asserts taken apart on the host; expressions.py evaluates them
relayed.py       tests with loops of their own, in a second sandbox
inside_texts.py  the programs of ``tasks/inside/`` as texts
"""
