"""Claims about a user's own policies, judged like those of the papers: `fairbandits judge`."""
