"""Claims about one's own policies, judged as those of the papers are: `fairbandits judge`."""
