"""Archives of every kind for the tests of the readers."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")
KINDS = (".zip", *TARS)


def packed(data: bytes, name: str) -> bytes:
    """Compress as the end of a name says."""
    if name.endswith((".gz", ".tgz")):
        return gzip.compress(data)
    if name.endswith(".bz2"):
        return bz2.compress(data)
    if name.endswith(".xz"):
        return lzma.compress(data)
    if name.endswith(".zst"):
        found: bytes = pa.Codec("zstd").compress(data, asbytes=True)
        return found
    return data


def tar_of(entries: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """Give a tar of members of any type."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, content in entries:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return data.getvalue()


def archive(path: Path, files: Mapping[str, bytes]) -> Path:
    """Write an archive of the kind that its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packing:
            for name, content in files.items():
                packing.writestr(name, content)
    else:
        plain = tar_of((tarfile.TarInfo(name), content) for name, content in files.items())
        path.write_bytes(packed(plain, path.name))
    return path
