"""Background work: claimed with a lease, done step by step, each step with its own commit (HOUSE, journey 2)."""
