"""A small invented life, English and French: first visit, screenshots, and the replay of the acceptance tests."""
