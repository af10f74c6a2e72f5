"""Optimiser steps on rows of training data: how the reference engine learns.

Every distinct prompt is read once, forward and backward. Completions pass in micro-batches that read the prompts' keys and values
as leaves; the gradient that gathers on the leaves then goes back through the prompts in one piece.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from podium.policies.qwen2 import Prefix, Qwen2
from podium.policies.sampling import padded
from podium.training.batch import MicroBatch, distinct_prompts, micro_batches, of_like_prompts
from podium.training.grpo import choice_entropy, surrogate
from podium.training.learner_config import LearnerConfig
from podium.training.rows import TrainingRow

Loss = Callable[[Tensor, MicroBatch], Tensor]
"""Hidden states (B, T, hidden) that predict a micro-batch's tokens, and the micro-batch -> a scalar, its share of the loss."""

TOPIC_WEIGHT = 0.1
"""Weight of knowing what a choice is about, beside the mean loss per token."""


class Learner:
    """Owns the optimiser. Example: ``Learner(model, LearnerConfig(), digits, steps=200).step(rows, entropy=0.1)``.

    ``digits`` are the tokens of the worker ids, ``steps`` the optimiser steps of the whole run, for the schedule.
    """

    def __init__(self, model: Qwen2, config: LearnerConfig, digits: Sequence[int], *, steps: int) -> None:
        self._model = model
        self._config = config
        self._digits = torch.tensor(list(digits))
        self._steps = steps
        self._optimizer = torch.optim.AdamW(
            model.parameters(), lr=config.learning_rate, betas=(0.9, 0.999), weight_decay=config.weight_decay
        )
        self.taken = 0
        """Optimiser steps so far."""

    def state(self) -> dict[str, Any]:
        """What has to be kept, beside the weights, to go on exactly as if nothing had happened."""
        return {"optimizer": self._optimizer.state_dict(), "taken": self.taken}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what :meth:`state` returned."""
        self._optimizer.load_state_dict(state["optimizer"])
        self.taken = int(state["taken"])

    def step(
        self,
        rows: Sequence[TrainingRow],
        *,
        entropy: float = 0.0,
        drafts: Sequence[TrainingRow] = (),
        draft_sft_weight: float = 0.0,
        held: Sequence[TrainingRow] = (),
        teacher: Qwen2 | None = None,
    ) -> dict[str, float]:
        """One optimiser step on ``rows``, or on ``drafts`` and ``held`` alone.

        ``entropy`` is the coefficient of the bonus on worker choices. ``drafts`` are texts whose likelihood is to be kept up,
        with the weight ``draft_sft_weight``: drafts of the untrained policy, without the tokens in ``choices``. Over the texts
        ``held`` the policy is to write as ``teacher`` would: what is added is how far its distribution is from the teacher's.
        """
        totals = {"loss": 0.0, "choice_entropy": 0.0}

        def loss(states: Tensor, batch: MicroBatch) -> Tensor:
            logits = self._model.logits(states)
            value = surrogate(_chosen(logits, batch.tokens), batch, clip=self._config.clip)
            totals["loss"] += float(value.detach())
            bonus = choice_entropy(logits, batch, self._digits)
            totals["choice_entropy"] += float(bonus.detach())
            return value - entropy * bonus

        self._model.zero_grad(set_to_none=True)
        if rows:
            backward(self._model, rows, loss, self._config.micro_tokens)
        if drafts and draft_sft_weight > 0:
            # Every token counts the same: with a mean per text, short plans would be kept likelier than long ones.
            tokens = sum(len(row.completion_ids) - len(row.choices) for row in drafts)
            kept = 0.0

            def likelihood(states: Tensor, batch: MicroBatch) -> Tensor:
                nonlocal kept
                logprobs = _chosen(self._model.logits(states), batch.tokens)
                value = -(logprobs * (batch.mask & ~batch.choice)).sum() / tokens
                kept += float(value.detach())
                return draft_sft_weight * value

            backward(self._model, drafts, likelihood, self._config.micro_tokens)
            totals["draft_loss"] = kept
        if held and teacher is not None:
            totals["held_loss"] = self._hold(held, teacher)
        totals["gradient_norm"] = self._take_step()
        return totals

    def _hold(self, rows: Sequence[TrainingRow], teacher: Qwen2) -> float:
        """Add the gradient of KL(teacher, policy), the mean over the tokens of ``rows``. No noise of sampled texts is in it."""
        tokens = sum(len(row.completion_ids) for row in rows)
        total = 0.0
        for alike in of_like_prompts(rows):  # one at a time, so that both models count the same prompts
            with torch.no_grad():
                prefix = teacher.prompts(*padded(distinct_prompts(alike)[0]))

            def divergence(states: Tensor, batch: MicroBatch, prefix: Prefix = prefix) -> Tensor:
                nonlocal total
                with torch.no_grad():
                    hidden = teacher.completions(batch.tokens[:, :-1], batch.owner, prefix)
                    before = teacher.logits(torch.cat((prefix.last[batch.owner][:, None], hidden), dim=1)).log_softmax(dim=-1)
                now = self._model.logits(states).log_softmax(dim=-1)
                value = ((before.exp() * (before - now)).sum(dim=-1) * batch.mask).sum() / tokens
                total += float(value.detach())
                return value

            backward(self._model, alike, divergence, self._config.micro_tokens)
        return total

    def imitate(self, rows: Sequence[TrainingRow], topics: Tensor | None = None) -> float:
        """One supervised step: the mean negative log-likelihood per token.

        Over all tokens, not over rows: with a mean per row, short plans would become likelier than long ones.

        ``topics`` (N, hidden), unit rows: the normed state at each worker choice must also tell which of N topics it is about.
        """
        total = 0.0
        tokens = sum(len(row.completion_ids) - len(row.unlearned) for row in rows)

        def loss(states: Tensor, batch: MicroBatch) -> Tensor:
            nonlocal total
            value = -(_chosen(self._model.logits(states), batch.tokens) * batch.mask).sum() / tokens
            total += float(value.detach())
            if topics is None:
                return value
            rows_, columns = (batch.topic >= 0).nonzero(as_tuple=True)
            topic_logits = torch.nn.functional.linear(self._model.model.norm(states[rows_, columns]), topics)
            known = torch.nn.functional.cross_entropy(topic_logits, batch.topic[rows_, columns], reduction="none")
            return value + TOPIC_WEIGHT * (known * batch.weight[rows_]).sum()

        self._model.zero_grad(set_to_none=True)
        backward(self._model, rows, loss, self._config.micro_tokens)
        self._take_step()
        return total

    def _take_step(self) -> float:
        """Clip, set the rate, step; the norm of the gradient before clipping."""
        norm = float(torch.nn.utils.clip_grad_norm_(self._model.parameters(), self._config.max_grad_norm))
        for group in self._optimizer.param_groups:
            group["lr"] = self._config.rate(self.taken, self._steps)
        self._optimizer.step()
        self.taken += 1
        return norm


def backward(model: Qwen2, rows: Sequence[TrainingRow], loss: Loss, micro_tokens: int) -> None:
    """Add the gradient of ``loss``, summed over micro-batches, to the parameters."""
    for alike in of_like_prompts(rows):
        prompts, owners = distinct_prompts(alike)
        prefix = model.prompts(*padded(prompts))
        outputs = [*prefix.keys, *prefix.values, prefix.last]
        leaves = [output.detach().requires_grad_() for output in outputs]
        layers = len(prefix.keys)
        detached = Prefix(leaves[:layers], leaves[layers : 2 * layers], prefix.lengths, leaves[-1])
        for batch in micro_batches(alike, owners, tokens=micro_tokens, of=len(rows)):
            hidden = model.completions(batch.tokens[:, :-1], batch.owner, detached)
            states = torch.cat((detached.last[batch.owner][:, None], hidden), dim=1)
            loss(states, batch).backward()  # type: ignore[no-untyped-call]
        # A completion of one token, or none that is learned, reads no keys.
        reached = [(output, leaf.grad) for output, leaf in zip(outputs, leaves, strict=True) if leaf.grad is not None]
        torch.autograd.backward([output for output, _ in reached], [grad for _, grad in reached])


def _chosen(logits: Tensor, tokens: Tensor) -> Tensor:
    return -torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten(), reduction="none").view(tokens.shape)
