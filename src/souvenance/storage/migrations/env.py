"""What Alembic runs: the migrations, on the connection and in the transaction that `storage/migrate.py` hands over."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
