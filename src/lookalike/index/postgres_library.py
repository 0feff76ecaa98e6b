"""psycopg, which indexes in PostgreSQL need; where it is missing, an error that names the extra."""

from lookalike.base.errors import MissingExtraError

try:
    import psycopg
    from psycopg import conninfo, errors
except ImportError:
    raise MissingExtraError("indexes in PostgreSQL", "postgres") from None

__all__ = ["conninfo", "errors", "psycopg"]
