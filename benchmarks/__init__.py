"""Benchmarks that anyone can run: ``python -m benchmarks.env_speed``."""
