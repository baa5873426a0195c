"""Self-play on deals: a network that scores each card by what the deal has still to bring."""
