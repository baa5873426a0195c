"""Training of players, and their export as bundles: the only package that knows torch."""
