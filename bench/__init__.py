"""Benches: each module prints one JSON line, measured against a floor in the same run."""
