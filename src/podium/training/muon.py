"""An optimiser for the matrices of a small model: steps that turn every direction equally far (Muon, Jordan et al. 2024).

The momentum of a matrix is replaced by the nearest matrix whose singular values are all about one, found by five Newton-Schulz
iterations with the published coefficients. What only a few directions of a matrix are for, such as finding a row of a table, is
then learned as fast as what all of them are for. Embeddings, norms and biases are left to AdamW.

``torch.optim.Muon`` does the same one matrix at a time and in bfloat16, which takes twenty times as long on a CPU.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_ITERATIONS = 5


class Muon(torch.optim.Optimizer):
    """Owns matrices. Example: ``Muon([layer.weight for layer in layers], lr=0.02).step()``."""

    def __init__(self, matrices: Iterable[nn.Parameter], *, lr: float, momentum: float = 0.95) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Move every matrix that has a gradient; matrices of one shape are turned together."""
        if closure is not None:
            raise NotImplementedError("the gradients are those of the last backward pass")
        for group in self.param_groups:
            alike: dict[tuple[int, ...], list[tuple[nn.Parameter, Tensor]]] = {}
            for matrix in group["params"]:
                if matrix.grad is not None:
                    way = self._direction(matrix, matrix.grad, group["momentum"])
                    alike.setdefault(tuple(matrix.shape), []).append((matrix, way))
            for (rows, columns), pairs in alike.items():
                turned = orthogonal(torch.stack([way for _, way in pairs]))
                for (matrix, _), by in zip(pairs, turned, strict=True):
                    matrix.sub_(by, alpha=group["lr"] * max(1.0, rows / columns) ** 0.5)

    def _direction(self, matrix: nn.Parameter, gradient: Tensor, momentum: float) -> Tensor:
        """Nesterov momentum."""
        state = self.state[matrix]
        if not state:
            state["momentum"] = torch.zeros_like(matrix)
        state["momentum"].lerp_(gradient, 1 - momentum)
        ahead: Tensor = gradient.lerp(state["momentum"], momentum)
        return ahead


def orthogonal(matrices: Tensor) -> Tensor:
    """(B, M, N) -> the same directions, most of them about equally long: singular values of 0.7 to 1.2, tiny ones stay small."""
    tall = matrices.shape[-2] > matrices.shape[-1]
    turned = matrices.mT if tall else matrices
    turned = turned / (turned.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    first, second, third = _COEFFICIENTS
    for _ in range(_ITERATIONS):
        gram = turned @ turned.mT
        turned = first * turned + (second * gram + third * gram @ gram) @ turned
    found: Tensor = turned.mT if tall else turned
    return found
