"""Figures and health for machines that watch: statistics, their exposition for Prometheus, /healthz and /readyz.

The platform team's. Keeps promise 7 for figures: board and /metrics read the same ones, and each carries its owner.
It imports nothing of ``diagnosis``: a figure is counted, a verdict is judged.
"""
