"""The command line: `fairbandits VERB`."""
