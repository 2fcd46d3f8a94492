"""The step function of JumpReLU with its straight-through gradient. Needs torch."""

from __future__ import annotations

from superposition.devices import torch

BAND = 0.05  # around a threshold within which it is moved; features go up to 1


class Step(torch.autograd.Function):
    """Whether a drive is above its threshold; the gradient of the threshold is from drives within a band around it."""

    @staticmethod
    def forward(ctx, drive, bar):
        """1 where a drive is above the threshold, else 0."""
        ctx.save_for_backward(drive, bar)
        return (drive > bar).to(drive)

    @staticmethod
    def backward(ctx, *gradients):
        """The straight-through gradient of the threshold; the drive has none."""
        [gradient] = gradients
        drive, bar = ctx.saved_tensors
        near = ((drive - bar).abs() < BAND / 2).to(drive) / BAND
        return None, -(gradient * near).sum(1, keepdim=True)
