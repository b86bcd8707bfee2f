"""Mathematics behind claims that no recorded run decides by itself."""
