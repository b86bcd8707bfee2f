"""The papers' figures, redrawn from datasets: one module per paper, one function per figure."""
