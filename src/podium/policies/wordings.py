"""Ways to say what a baseline tells its workers.

One sentence decides how good a mixture looks: with one wording it was a plain vote of 59 %, with another 79 %. So nobody compares
with a baseline whose wording nobody chose. Here are six of each kind, to be chosen among on training problems; the first is what
the baseline says where nothing was learned.
"""

ANSWERS = (
    "Answer the question. Show your work, then give the final answer.",
    "Answer the question.",
    "Solve the problem.",
    "Think it through step by step, then give the final answer.",
    "Work out the solution and reply with it.",
    "Write a plan, recall the facts that are needed, and compute the answer.",
)
"""Ways to ask for an answer."""
AGAIN = (
    "Check the answer so far for mistakes, correct it where it is wrong, and give the final answer.",
    "Check what was done so far and correct it.",
    "Verify the answer.",
    "Review the work and fix any mistakes.",
    "Reconsider the answer and improve it.",
    "Answer the question.",
)
"""Ways to have an answer looked at again."""
MERGES = (
    "Check these answers against each other, correct what is wrong in them, and give the final answer.",
    "Check these answers and correct them.",
    "Give the answer that most of them agree on.",
    "Pick the best answer.",
    "Compute the result of the plan.",
    "Answer the question.",
)
"""Ways to make one answer of many."""
