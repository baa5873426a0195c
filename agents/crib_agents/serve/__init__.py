"""Bots for other programs: a protocol of JSON messages, and what carries it."""
