"""Words that answer nothing: refusals, and the polite lines that models end with.

Two models that refuse in the same words agree on nothing, and two that both end with "Let me know if you need anything else."
have not given the same answer; nor two letters that are both signed "Best regards, [Your Name]".
"""

import re

_APOSTROPHE = "['’]"
_SORRY = (
    rf"(?:(?:i{_APOSTROPHE}?m|i am|we are)?\s*(?:very |so |truly )?sorry|unfortunately|(?:my )?apologies|as an ai[^,.]{{0,60}})"
)
_CAN_NOT = (
    rf"i(?:{_APOSTROPHE}m| am)? (?:can{_APOSTROPHE}?t|can ?not|could not|couldn{_APOSTROPHE}t|(?:un|not )able to|"
    rf"won{_APOSTROPHE}t|will not|must decline to|have to decline to|do not|don{_APOSTROPHE}t)"
)
_DO = (
    "help|assist|answer|provide|comply|do (?:this|that|so)|fulfil|fulfill|determine|continue|respond|support|discuss|share|know|"
    "have (?:enough|access|the|any)|complete|engage|solve|say"
)
_REFUSAL = re.compile(
    rf"(?:{_SORRY}\s*[,.;:!-]?\s*(?:but\s+|however,?\s+)?)?{_CAN_NOT} (?:{_DO})\b(?:(?!\b(?:but|however)\b)[^\n]){{0,200}}",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:(?:please )?(?:let me know|feel free|do not hesitate|don['’]t hesitate)|(?:i )?hope (?:this|that|it)\b|"
    r"if you (?:have|need|want|would|['’]d|wish)|is there anything|(?:i['’]?m |i am )?(?:always )?happy to help|would you like|"
    r"do you (?:want|need|have))\b[^\n]{0,300}",
    re.IGNORECASE,
)
_SIGNED = re.compile(
    r"(?:(?:with )?(?:(?:best|kind|warm)(?:est)? (?:regards|wishes)|regards)|yours (?:sincerely|truly|faithfully)|"
    r"sincerely(?: yours)?)[,.!]?",
    re.IGNORECASE,
)
_SIGNATURE = 6
"""Lines that a signature may have."""
_DECORATION = " \t*_`#>-"
INVISIBLE = dict.fromkeys((0xAD, 0x180E, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
"""Characters of no width, for ``str.translate``."""


def is_refusal(text: str) -> bool:
    """Whether all that ``text`` says is that there will be no answer. Example: ``is_refusal("I can't help with that.")``."""
    bare = text.strip(_DECORATION + "\n\r")
    return len(bare) <= 300 and _REFUSAL.fullmatch(bare) is not None


def without_closing(text: str) -> str:
    """``text`` without polite lines and a signature at its end; a text of nothing else stays.

    Example: ``without_closing("Paris\\n\\nLet me know if you need more.")`` is ``"Paris"``.
    """
    lines = text.rstrip().split("\n")
    end = _before_closing(lines, len(lines))
    signed = (at for at in range(max(0, end - _SIGNATURE), end) if _SIGNED.fullmatch(lines[at].strip(_DECORATION + "\r")))
    end = _before_closing(lines, next(signed, end))
    return "\n".join(lines[:end]) if end and end < len(lines) else text


def _before_closing(lines: list[str], end: int) -> int:
    """Where the polite lines and the empty ones begin that end before ``end``."""
    while end and (not lines[end - 1].strip() or _CLOSING.fullmatch(lines[end - 1].strip(_DECORATION + "\r"))):
        end -= 1
    return end
