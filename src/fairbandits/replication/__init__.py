"""From configuration files to simulated datasets."""
