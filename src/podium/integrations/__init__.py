"""Other people's frameworks: each file says what of Podium appears there, and as what."""
