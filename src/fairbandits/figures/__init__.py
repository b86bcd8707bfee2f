"""The papers' figures, redrawn from datasets: one module per paper, one function per figure.

A paper's module has its slug as its name, and ``FIGURES``.
"""
