"""Documents as they are compared: canonical text, tokens, vectors, shingles and their weights."""
