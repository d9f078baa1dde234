"""Gives PyTorch the torch.cuda.estimate_memory() that its RFC 108 proposes, where it has none.

import foretell.torch_cuda
estimate = torch.cuda.estimate_memory(model, sample_input, optimizer=optimizer)
estimate.total_mb, estimate.fits(device=0)
"""

from __future__ import annotations

import torch

from ._memory import estimate_memory

if not hasattr(torch.cuda, "estimate_memory"):
    torch.cuda.estimate_memory = estimate_memory
