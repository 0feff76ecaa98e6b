"""Where an index in PostgreSQL is: `postgresql://user@host/database?index=pages`.

All but `index`, the name of the index, is as PostgreSQL's own programs take it, other parameters as
`sslmode` included; a password is best left to ~/.pgpass or PGPASSWORD. An index without a name is
`lookalike`. Each has a schema of its name to itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote, unquote

from lookalike.base.errors import SettingsError
from lookalike.base.wording import quoted

__all__ = ["PostgresAddress"]

SCHEMES = ("postgresql", "postgres")
PARAMETER, DEFAULT = "index", "lookalike"
EXAMPLE = f"postgresql://user@host/database?{PARAMETER}=pages"
MOST_BYTES = 63
"""Of a name in PostgreSQL, which cuts longer ones."""


@dataclass(frozen=True)
class PostgresAddress:
    """A database, and the index in it."""

    index: str
    shown: str
    """For messages: without a password."""
    parameters: dict[str, str] = field(repr=False)
    """As psycopg takes them."""

    @classmethod
    def parse(cls, text: str) -> PostgresAddress:
        """Read an address. What is wrong with it is told without showing it: it has passwords."""
        from lookalike.index.postgres_library import conninfo, psycopg  # noqa: PLC0415

        parts = _Parts.of(text)
        given = [pair.partition("=") for pair in parts.query.split("&") if pair]
        if _has_stray_signs(parts) or any("@" in name for name, _, _ in given):
            raise SettingsError(
                f"an address of PostgreSQL is {EXAMPLE}: in a password @ is written as %40, / as "
                "%2F, ? as %3F"
            )
        names = [unquote(value) for name, _, value in given if name == PARAMETER]
        rest = "&".join("".join(pair) for pair in given if pair[0] != PARAMETER)
        try:
            plain = f"{SCHEMES[0]}://{parts.server}/{parts.database}{'?' if rest else ''}{rest}"
            parameters = {name: str(one) for name, one in conninfo.conninfo_to_dict(plain).items()}
        except psycopg.Error:
            raise SettingsError(
                f"this address of PostgreSQL cannot be read: write it as {EXAMPLE}, with such "
                "other parameters as PostgreSQL knows"
            ) from None
        if not all(one.isdecimal() for one in parameters.get("port", "0").split(",") if one):
            raise SettingsError(
                f"the port in this address of PostgreSQL is no number: write it as {EXAMPLE}"
            )
        index = names[-1] if names else DEFAULT
        _check_name(index)
        return cls(index, _shown(parameters, index), parameters)


class _Parts(NamedTuple):
    server: str
    database: str
    query: str

    @classmethod
    def of(cls, text: str) -> _Parts:
        before, _, query = text.partition("://")[2].partition("?")
        server, _, database = before.partition("/")
        return cls(server, database, query)


def _has_stray_signs(parts: _Parts) -> bool:
    return parts.server.count("@") > 1 or "@" in parts.database


def _check_name(index: str) -> None:
    if (
        not index
        or "\0" in index
        or not index.isprintable()
        or index.startswith("pg_")
        or len(index.encode()) > MOST_BYTES
    ):
        raise SettingsError(
            f"the name {quoted(index)} of an index in PostgreSQL: it has 1 to {MOST_BYTES} bytes, "
            "and does not begin with pg_"
        )


def _shown(parameters: dict[str, str], index: str) -> str:
    """Write what tells an address from others."""
    host, port = parameters.get("host", ""), parameters.get("port", "")
    hosts = [f"[{one}]" if ":" in one else quote(one, safe="") for one in host.split(",")]
    ports = port.split(",") if port else []
    if len(ports) == len(hosts):
        hosts = [f"{one}:{number}" for one, number in zip(hosts, ports, strict=True)]
    user = f"{quote(parameters['user'], safe='')}@" if "user" in parameters else ""
    database = quote(parameters.get("dbname", ""), safe="")
    name = quote(index, safe="")
    return f"{SCHEMES[0]}://{user}{','.join(hosts)}/{database}?{PARAMETER}={name}"
