"""Doubles for tests, shipped for those who build on Souvenance."""
