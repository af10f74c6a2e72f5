"""What a subtask asks for: free English wording to verbs, by one table.

The verbs are ``plan`` (write the expression), ``recall`` (write the facts), ``write`` (write the program), ``compute``,
``answer`` (do whatever it takes to the end), ``verify`` (look again at what is visible), and ``report`` (pass on the
answer that is visible; of several, the most common). A text may ask for several; a text in which nothing is recognised
asks for nothing, and the specialist then answers.

The table is read from top to bottom, and a phrase that matches is taken out of the text: so "evaluate the plan" computes
and does not plan, "check the facts" verifies and does not recall, "do not compute it yet" asks for nothing.
"""

import re
from functools import lru_cache

VERBS = ("plan", "recall", "compute", "write", "verify", "answer", "report")

_THE = r"(?:\s+(?:the|this|that|these|those|your|its|their|an?|any|all|each|every|it|as|one|down))*"
_CLAUSE = r"[^.;,!?\n]{0,200}"
_FEW = r"(?:\s+[\w'-]+){0,3}?"
_PLAN = r"\s+(?:plans?|expressions?|formulas?|equations?|outline|strategy|approach|set-?up)\b"
_FACTS = r"\s+(?:facts?|knowledge|information|constants?|conversion factors?|data|definitions?)\b"
_PROGRAM = r"\s+(?:functions?|code|programs?|implementation|scripts?|drafts?)\b"
_RESULT = (
    r"\s+(?:answers?|results?|responses?|solutions?|work|reasoning|replies|reply|steps?|outputs?|attempts?|calculations?|"
    r"arithmetic)\b"
)
_ANY = rf"(?:{_PLAN}|{_FACTS}|{_PROGRAM}|{_RESULT})(?:\s*(?:,|and|or){_THE}{_FEW}(?:{_PLAN}|{_FACTS}|{_PROGRAM}|{_RESULT}))*"
_MAKE = (
    r"\b(?:write|make|give|find|state|provide|draft|create|devise|propose|produce|work out|prepare|formulate|sketch|lay out|"
    r"outline|build|derive|develop|come up with|list|supply|name|collect|gather|note|show|return|present|express|only|just|your)"
)
_CHECK = (
    r"\b(?:double-?\s?check|re-?check|check|verify|verifies|review|inspect|correct|fix|validate|proofread|test|debug|examine|"
    r"critique|improve|repair|refine|reconsider|re-?examine|audit|assess|confirm)(?:\s*(?:,|and|or)\s*"
    r"(?:verify|review|correct|fix|improve|repair|refine|check|confirm))*"
)
_DO = (
    r"\b(?:compute|calculate|evaluate|execute|carry out|carrying out|follow|apply|simplify|finish|complete|solve|use|using|"
    r"do|run|work through|work out the value of)"
)
_INPUT = r"\b(?:from|with|based on|given|according to|per|in|of|by|after|about|on)"

_TABLE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), verb)
    for pattern, verb in (
        (rf"\b(?:do not|don't|does not|without|no need to|never|rather than|instead of|before|not)\b{_CLAUSE}", ""),
        (rf"\b(?:needed|required|necessary|relevant|useful|in order|so as|how|that lead)\s+(?:to|for)\b{_CLAUSE}", ""),
        (rf"{_CHECK}{_THE}{_FEW}{_ANY}", "verify"),
        (rf"\b(?:weigh|compare|judge|cross-?check){_THE}{_FEW}{_ANY}", "verify"),
        (r"\b(?:majority|most (?:common|frequent|popular)|consensus|vote|aggregate|combine|synthesi[sz]e|merge|agree\w*)\b"
         r"[^.;\n]{0,200}", "report"),
        (rf"\b(?:pick|choose|select)\b{_THE}\s+(?:best|right|correct)\b{_FEW}{_RESULT}", "report"),
        (rf"{_DO}{_THE}{_FEW}{_PLAN}", "compute"),
        (rf"\b(?:into|as){_THE}{_FEW}{_PLAN}", "plan"),
        (rf"\bplan{_THE}{_FEW}{_RESULT}", "plan"),
        (rf"\bcode{_THE}{_FEW}{_RESULT}", "write"),
        (rf"{_MAKE}{_THE}{_FEW}{_PLAN}", "plan"),
        (rf"(?:{_MAKE}|\b(?:recall|look up|remember|retrieve)){_THE}{_FEW}{_FACTS}", "recall"),
        (rf"(?:{_MAKE}|\bcode){_THE}{_FEW}{_PROGRAM}", "write"),
        (rf"\b(?:use|using|apply|applying|take){_THE}{_FEW}{_ANY}", "compute"),
        (rf"{_INPUT}{_THE}{_FEW}{_ANY}", ""),
        (rf"(?:{_MAKE}|\b(?:report|repeat|output|reply with|respond with|restate|end with)){_THE}{_FEW}"
         r"\s+(?:answers?|results?|letter|option|final value)\b", "report"),
        (_CHECK + r"\b", "verify"),
        (r"\b(?:mistakes?|errors?|bugs?)\b", "verify"),
        (r"\b(?:plan|planning|expression|formula|equation|outline|strategy|translate|break (?:it |this )?down)\b", "plan"),
        (r"\b(?:recall|look up|looking up|facts?|remember|retrieve|what you know)\b", "recall"),
        (r"\b(?:implement|implementation|function|program|code)\b", "write"),
        (r"\b(?:comput\w*|calculat\w*|evaluat\w*|arithmetic|work out|carry out|do the (?:sums?|maths?))\b", "compute"),
        (r"\b(?:answer|solve|solution|respond|reply|figure out|determine|find|think|reason|explain)\b", "answer"),
    )
)  # fmt: skip
_PURPOSE = re.compile(
    r"\b(?:to|for|so that|which|that|and then)\s+(?:\w+\s+){0,2}?(?:solv\w+|answer\w*|comput\w+|calculat\w+|find\w*|work\w*)\b"
    rf"{_CLAUSE}",
    re.IGNORECASE,
)


@lru_cache(maxsize=1 << 14)
def verbs_in(subtask: str) -> frozenset[str]:
    """The verbs of ``subtask``. Example: ``verbs_in("Plan only, do not compute.") == {"plan"}``."""
    # "Recall the facts to solve it" asks for facts; the purpose counts only where nothing else is asked for.
    return _read(_PURPOSE.sub(" . ", subtask)) or _read(subtask)


def _read(text: str) -> frozenset[str]:
    found: set[str] = set()
    for pattern, verb in _TABLE:
        text, count = pattern.subn(" . ", text)
        if count and verb:
            found.add(verb)
    return frozenset(found)
