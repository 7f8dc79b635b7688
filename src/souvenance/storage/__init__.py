"""The store on SQLite and PostgreSQL: one schema, one set of queries, two executors."""
