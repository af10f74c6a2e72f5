"""The GRPO loss: a clipped surrogate on group-relative advantages, without a reference model.

For a completion o with advantage A and ratio r_t = exp(log p(o_t) - log p_old(o_t))::

    loss = - mean over completions of (1 / |o|) * sum over t of min(r_t * A, clip(r_t, 1 - c, 1 + c) * A)

(Shao et al. 2024, arXiv 2402.03300, equation 3, with beta = 0; the Conductor paper's section 4.1.) A token that p_old
did not draw (:data:`podium.training.worker_draws.NOT_SAMPLED`) has the ratio 1 and the gradient of log p, as where p_old is p.

And one bonus: the entropy of the choice of a worker, over the ids that exist, where one is written. It protects the choice from
being made before the evidence is in; rewarding entropy of anything else destroys the format (docs/log.md).
"""

import torch
from torch import Tensor

from podium.training.batch import MicroBatch


def surrogate(logprobs: Tensor, batch: MicroBatch, *, clip: float) -> Tensor:
    """The loss above, a scalar: this micro-batch's share of the mean. ``logprobs`` (B, T) under the present policy."""
    ratio = (logprobs - torch.where(batch.logprobs.isnan(), logprobs.detach(), batch.logprobs)).exp()
    advantage = batch.advantage[:, None]
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    per_row = (gain * batch.mask).sum(dim=1) / batch.mask.sum(dim=1)
    return -(per_row * batch.weight).sum()


def choice_entropy(logits: Tensor, batch: MicroBatch, digits: Tensor) -> Tensor:
    """Entropy in nats of the worker choices, summed over a row, per token of the row, averaged over rows; a scalar.

    On the scale of :func:`surrogate`: with a coefficient c, a choice of normalised advantage A pulls as hard as c nats.
    ``logits`` (B, T, V), ``digits`` (N,) the tokens of the ids, 10 or more. A row of one worker or without ids counts as 0.
    """
    rows, columns = batch.choice.nonzero(as_tuple=True)
    if len(rows) == 0:
        return logits.new_zeros(())
    chosen = logits[rows, columns][:, digits]
    exists = torch.arange(len(digits))[None, :] < batch.workers[rows][:, None]
    logp = chosen.masked_fill(~exists, float("-inf")).log_softmax(dim=-1)
    entropy = -(logp.exp() * logp.masked_fill(~exists, 0.0)).sum(dim=-1)
    return (entropy * (batch.weight / batch.mask.sum(dim=1))[rows]).sum()
