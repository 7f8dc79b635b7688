"""Language models and embedders: the ways to reach them, and how tokens are counted before they report."""
