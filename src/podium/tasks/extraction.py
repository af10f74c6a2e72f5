r"""Where in a reply the final answer stands: shared by the verifiers.

A reply is prose, LaTeX, Markdown, JSON that is often no JSON any more, or all of them. Each function here finds one way of
marking an answer, always the *last* such mark, and says "" where there is none; the verifiers choose and order them. What
the found text means is theirs as well. There is no guess: the last number or letter of a text is not an answer.

The text is hostile: every pattern takes time linear in it.
"""

import json
import re
from collections.abc import Iterator

MAX_ANSWER_CHARS = 200_000
"""Of a longer reply only the end is read: no model's answer to one question is longer, and the result stands last."""
MAX_CANDIDATE_CHARS = 2_000
"""A final answer longer than this is prose."""
MAX_SHOWN_CHARS = 200
"""Of an answer in a verdict."""
IN_TEXT = re.compile(r"\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mbox|operatorname) ?\{([^{}]*)\}")
"""What LaTeX sets as words and not as a product of letters; the words are group 1."""

_MARK = re.compile(r"(?P<box>\\\\?(?:boxed|fbox)\s*+\{)|\\[\\{}]|[{}]")
_ANCHOR = re.compile(r"\banswer\b[\"'*_`)]*+\s{0,20}+(?:is\b|[:=])(?:[*_`:=\s$]|\\[\[(]){0,20}+", re.IGNORECASE)
_FIELD = re.compile(r"\"answer\"\s{0,20}+:\s{0,20}+", re.IGNORECASE)
_HASHES = re.compile(r"####([^\n]*+)")
_ANY_FIELD = re.compile(r"(?P<escape>\\?)(?P<quote>[\"'])answer(?P=escape)(?P=quote)\s{0,20}+:\s{0,20}+", re.IGNORECASE)
_ABBREVIATIONS = ("Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Jr", "Sr", "vs", "sq", "approx", "U.S")
_NO_ABBREVIATION = "".join(rf"(?<!\b{re.escape(word)})" for word in _ABBREVIATIONS)
# A line of JSON that is no JSON any more ends its lines with a backslash and an n.
_SENTENCE_END = re.compile(rf"{_NO_ABBREVIATION}\.(?=\s|$)|[!?](?=\s|$)|\n|\\n(?![a-zA-Z])")
_BLANK = re.compile(
    r"(?:<[a-z _]{1,40}>|[\s_.…?$*`'\"~-]|\\_|\\[lc]?dots(?![a-zA-Z])|\\[,;: ]|\\q?quad(?![a-zA-Z]))*+", re.IGNORECASE
)
_LOWER = str.maketrans("ANSWER", "answer")
_LAST_CLAUSE = re.compile(r",\s[^0-9\\]*$")
_PAIRED = re.compile(r"(?:[^\\]|\\\\)*+")
_QUOTES = " \"'`*_"


def is_blank(text: str) -> bool:
    """Whether ``text`` only holds the place of an answer, as "___", "..." and "<your answer>" do."""
    return len(text) <= MAX_CANDIDATE_CHARS and _BLANK.fullmatch(text) is not None


def without_thinking(text: str) -> str | None:
    """The end of ``text`` behind its thinking (up to the last ``</think>``); None where it was cut off while thinking.

    Example: ``without_thinking("<think>41?</think>It is 42.")`` is ``"It is 42."``.
    """
    text = text[-MAX_ANSWER_CHARS:]
    before, closed, after = text.rpartition("</think>")
    text = after if closed else before + after
    return None if "<think>" in text else text


def shown(text: str) -> str:
    """``text`` as a verdict shows it, cut to :data:`MAX_SHOWN_CHARS`. Example: ``shown("42")`` is ``"42"``."""
    return text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…"


def last_boxed(text: str) -> str:
    r"""The content of the last ``\boxed{...}`` or ``\fbox{...}`` that closes and is neither empty nor a blank (``___``).

    Of nested boxes the inner one counts; a phrase in the box ("The answer is 42") is dropped. Example:
    ``last_boxed(r"\boxed{41}, no: \boxed{42}")`` is ``"42"``.
    """
    if "box" not in text:
        return ""
    open_braces: list[tuple[int, bool] | None] = []  # of a box, where its content starts and whether it is JSON; else None
    found, found_at = "", -1
    for match in _MARK.finditer(text):
        mark = match.group()
        if match.lastgroup == "box":
            open_braces.append((match.end(), mark.startswith("\\\\")))
        elif mark == "{":
            open_braces.append(None)
        elif mark == "}" and open_braces:
            box = open_braces.pop()
            if box is None or box[0] <= found_at:
                continue
            content = text[box[0] : match.start()].strip()
            if content and not is_blank(content):
                found, found_at = _single(content) if box[1] else content, box[0]
    if len(found) > MAX_CANDIDATE_CHARS:
        return found
    return anchored(IN_TEXT.sub(r" \1 ", found)) or found


def anchored(text: str) -> str:
    """What follows the last "answer is", "answer:" or ``"answer":`` up to the end of the sentence, or of the quotes.

    Example: ``anchored("So the answer is 42 eggs. Nice!")`` is ``"42 eggs"``.
    """
    rest = after_anchor(text.replace('\\"', '"'))  # JSON quoted inside JSON
    if rest[:1] in {'"', "'"}:
        return _single(rest[1:].partition(rest[0])[0].strip())
    end = _SENTENCE_END.search(rest)
    sentence = rest[: end.start()] if end else rest
    sentence = _LAST_CLAUSE.sub("", sentence).rstrip(_QUOTES)
    if sentence.endswith("}") and sentence.count("}") > sentence.count("{"):
        sentence = sentence[:-1].rstrip(_QUOTES)  # it closes the JSON object around the answer
    return sentence


def after_anchor(text: str) -> str:
    """All that follows the last "answer is", "answer:" or ``"answer":``, cut to :data:`MAX_CANDIDATE_CHARS`.

    Example: ``after_anchor("The answer is **[1, 2]**. Nice!")`` is ``"[1, 2]**. Nice!"``.
    """
    last = next(_from_the_end(text, _ANCHOR), None)
    return text[last.end() : last.end() + MAX_CANDIDATE_CHARS] if last else ""


def after_hashes(text: str) -> str:
    """What follows the last ``####`` up to the end of the line. Example: ``after_hashes("6 * 7\\n#### 42")`` is ``"42"``."""
    hashes = _HASHES.findall(text)
    return str(hashes[-1]).strip() if hashes else ""


def last_line(text: str) -> str:
    """The last line that is not empty. Example: ``last_line("So:\\n42\\n")`` is ``"42"``."""
    return text.rstrip().rpartition("\n")[2].strip()


def json_answer(text: str) -> tuple[str, str] | None:
    r"""The value of the last ``"answer":`` as JSON reads it, and as it is spelled; None where no JSON value follows one.

    Text comes without its quotes; what is no text (a list, a number) comes spelled. The second is for texts that were
    never escaped: ``json_answer('{"answer": "a\\tb"}')`` has a tab in the first and a backslash in the second.
    """
    last = None
    for match in _FIELD.finditer(text):
        last = match
    if last is None:
        return None
    rest = text[last.end() : last.end() + 8 * MAX_CANDIDATE_CHARS]
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(rest)
    except (ValueError, RecursionError):
        return None
    spelled = rest[:end]
    return (value, spelled[1:-1]) if isinstance(value, str) else (spelled, spelled)


def json_field(text: str) -> tuple[str, str]:
    r"""The value of the last ``"answer":`` that holds more than a blank, without quotes around it, and what follows it.

    Unlike :func:`json_answer` it reads what only looks like JSON: LaTeX whose backslashes are single, quotes inside quotes,
    one quote where JSON has two. Examples: of ``{"answer": "\"25\""}`` it is ``25``; of ``"answer": "rac{1}{2}"`` it is
    ``rac{1}{2}``.
    """
    for field in _from_the_end(text, _ANY_FIELD):
        rest = text[field.end() : field.end() + 2 * MAX_CANDIDATE_CHARS]
        mark = field["escape"] + field["quote"]
        value = _quoted(rest[len(mark) :], mark) if rest.startswith(mark) else _bare_value(rest)
        value = _single(value.strip()).replace('\\"', '"').strip()
        if len(value) > 1 and value[0] == value[-1] == '"':
            value = value[1:-1].strip()
        if value and not is_blank(value):
            return value, text[field.end() + len(value) :]
    return "", ""


def _from_the_end(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """What ``pattern``, which begins with the word "answer" or up to two signs before it, matches in ``text``; the last first."""
    lower = text.lower()
    if len(lower) != len(text):  # some capitals of other scripts are two characters as small letters
        lower = text.translate(_LOWER)
    at = len(text)
    while (at := lower.rfind("answer", 0, at)) >= 0:
        starts = (at,) if pattern is _ANCHOR else (at - 2, at - 1)
        found = next((match for start in starts if start >= 0 and (match := pattern.match(text, start))), None)
        if found is not None:
            yield found


def _quoted(rest: str, mark: str) -> str:
    """``rest`` up to the quote that closes it: one with as many backslashes in front as the one that opened it."""
    if len(mark) > 1:
        return rest.partition(mark)[0]
    end = re.search(rf"(?<!\\)(?:\\\\)*{mark}", rest)
    if end is not None:
        return rest[: end.end() - 1]
    line = rest.partition("\n")[0].rstrip()
    return line[:-1] if line.endswith("}") and line.count("}") > line.count("{") else line


def _bare_value(rest: str) -> str:
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(rest)
    except (ValueError, RecursionError):
        end = -1
    if end < 0 or rest[end:].lstrip(" ")[:1] not in set(",}]\"'\\\n") | {""}:  # 5 apples
        return re.split(r"\n|\}(?=\s*$)", rest, maxsplit=1)[0].rstrip(", ")
    return rest[:end]


def _single(text: str) -> str:
    r"""``text`` with single backslashes, where all of them are doubled, as in JSON: ``\\frac{1}{2}`` -> ``\frac{1}{2}``."""
    return text.replace("\\\\", "\\") if re.search(r"\\\\[a-zA-Z]", text) and _PAIRED.fullmatch(text) else text
