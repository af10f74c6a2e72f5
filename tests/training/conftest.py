"""One thread: the models of these tests are far too small to share out."""

import torch

torch.set_num_threads(1)
