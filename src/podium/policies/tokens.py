"""Text <-> token ids for local policies, in the chat layout that Qwen2 models are trained on (ChatML).

A tokenizer of our own is a byte-level BPE (Sennrich et al. 2016, arXiv 1508.07909) with every digit a token of its own, so that
worker ids and numbers are never glued to their neighbours.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from podium.errors import CheckpointError
from podium.types import Message

END = "<|im_end|>"
_START = "<|im_start|>"
RATE = r"\d*:\d\d;"
"""How often a worker is right at something, as :mod:`podium.workflow.short_prompt` writes it; without the first digits where they
belong to the skill before it."""
_PAD = "<|endoftext|>"


class Tokens:
    """A tokenizer. Example: ``Tokens.trained(["6 times 7?"], vocab_size=300).encode("6 times")``."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        end = tokenizer.token_to_id(END)
        if end is None or tokenizer.token_to_id(_START) is None:
            raise CheckpointError(f"the tokenizer has no {_START} and {END}: it does not belong to a Qwen2 chat model")
        self.end: int = end

    @staticmethod
    def trained(texts: Iterable[str], *, vocab_size: int, workers: int = 10, skills: Sequence[str] = ()) -> "Tokens":
        """A byte-level BPE learned from ``texts``; deterministic. With more than ten ``workers``, ids of two digits in a list are
        tokens of their own, as those of one digit are.

        Where cards name ``skills``, a row such as "plan=1:95;0:40;" is the tokens "plan=1", ":95;" and "0:40;", so that one token
        says who is best at what. In a list of the best, "Story: plan 1, compute 0", each skill is a token with the sign before
        it, ", compute ", so that the ids are two tokens apart, as they are in "[1, 0]".
        """
        tokenizer = Tokenizer(models.BPE())
        # A space belongs to the word before it, so that in "compute 3" the id follows the word it depends on.
        behind = r",.\]" if skills else r",\]"
        ids = rf"(?<=[\[ ])\d{{2}}(?=[{behind}])|" if workers > 10 else ""
        longest = sorted(skills, key=len, reverse=True)  # before those that it begins with
        cards = "".join(rf"{re.escape(skill)}=\d+|(?:[:,] )?{re.escape(skill)} ?|" for skill in longest)
        cards += rf"{RATE}|" if skills else ""
        words = pre_tokenizers.Split(Regex(ids + cards + r"[^\W\d]+ ?|\d|[^\w\s]+\s*|\s+|_+"), behavior="isolated")
        split = [words, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(split)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=[_PAD, _START, END],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train_from_iterator(texts, trainer)
        return Tokens(tokenizer)

    @staticmethod
    def load(folder: Path) -> "Tokens":
        """The tokenizer of a model's folder. Raises :class:`CheckpointError` where there is none."""
        path = folder / "tokenizer.json"
        try:
            return Tokens(Tokenizer.from_str(path.read_text(encoding="utf-8")))
        except CheckpointError:
            raise
        except Exception as error:  # the library raises a bare Exception for a broken file
            raise CheckpointError(f"can not load a tokenizer from {path}: {error}") from error

    def save(self, folder: Path) -> None:
        """Write ``tokenizer.json`` and its configuration in the Hugging Face layout."""
        folder.mkdir(parents=True, exist_ok=True)
        self._tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
        (folder / "tokenizer_config.json").write_text(_CONFIG, encoding="utf-8")

    def __len__(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    def encode(self, text: str) -> list[int]:
        """Token ids of ``text``; special tokens written out in it are ordinary text."""
        return list(self._tokenizer.encode(_defused(text), add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ``ids``, special tokens left out."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """The conversation as a prompt that ends where the assistant begins to write."""
        text = "".join(f"{_START}{message.role}\n{_defused(message.content)}{END}\n" for message in messages)
        return list(self._tokenizer.encode(f"{text}{_START}assistant\n", add_special_tokens=False).ids)

    def worker_ids(self) -> list[int]:
        """The tokens of the worker ids 0, 1, 2 and so on, as far as each is a token of its own."""
        tokens = [self.encode(str(digit))[0] for digit in range(10)]
        while (token := self._tokenizer.token_to_id(str(len(tokens)))) is not None:
            tokens.append(token)
        return tokens


def _defused(text: str) -> str:
    """Text from outside must not open or close a turn."""
    return text.replace("<|", "< |")


_CONFIG = """\
{
 "tokenizer_class": "PreTrainedTokenizerFast",
 "model_max_length": 2048,
 "bos_token": null,
 "eos_token": "<|im_end|>",
 "pad_token": "<|endoftext|>",
 "clean_up_tokenization_spaces": false,
 "chat_template": "{% for message in messages %}<|im_start|>{{ message['role'] }}\\n{{ message['content'] }}<|im_end|>\\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\\n{% endif %}"
}
"""  # noqa: E501
