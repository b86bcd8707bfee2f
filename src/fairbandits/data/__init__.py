"""Files of data: how they are written, described, and what made them."""
