"""Folders that `datasets.save_to_disk` made: which of their files hold the rows."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from lookalike.base.errors import SourceError

__all__ = ["NO_ROWS", "PART_OF_DATASET", "SavedDatasets"]

PART_OF_DATASET, NO_ROWS = "part of a saved dataset", "no rows of its saved dataset"
"""Why a file of such a folder is no document: it describes the dataset, or is left over."""
STATE, INFO, SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"
STATE_LIMIT_BYTES = 64 << 20


@dataclass
class SavedDatasets:
    """The saved datasets among the folders of a listing."""

    system: Any = None
    """The Arrow file system that holds them; None for this machine's."""
    _rows_of: dict[str, frozenset[str] | None] = field(default_factory=dict)
    """By folder: the files of the rows; None where it is no saved dataset."""

    def reason(self, path: str) -> str:
        """Say why a file is no document by itself; nothing where it may be."""
        folder, _, name = Path(path).as_posix().rpartition("/")
        if name == SPLITS:
            return PART_OF_DATASET if self._has_splits(folder) else ""
        if name not in (STATE, INFO) and not name.endswith(".arrow"):
            return ""
        rows = self._rows(folder)
        if rows is None or name in rows:
            return ""
        return NO_ROWS if name.endswith(".arrow") else PART_OF_DATASET

    def _has_splits(self, folder: str) -> bool:
        described = self._described(folder, SPLITS)
        splits = described.get("splits") if isinstance(described, dict) else None
        named = splits if isinstance(splits, list) else []
        return any(self._rows(_below(folder, f"{split}")) is not None for split in named)

    def _rows(self, folder: str) -> frozenset[str] | None:
        if folder not in self._rows_of:
            self._rows_of[folder] = self._files_of_rows(folder)
        return self._rows_of[folder]

    def _files_of_rows(self, folder: str) -> frozenset[str] | None:
        state = self._described(folder, STATE)
        files = state.get("_data_files") if isinstance(state, dict) else None
        if not isinstance(files, list) or not isinstance(self._described(folder, INFO), dict):
            return None
        if state.get("_indices_data_files") or state.get("_indices_files"):
            raise SourceError(
                f"{folder} is a dataset that was saved with a selection of its rows: load it and "
                "save it again with a newer version of datasets, which writes the rows themselves"
            )
        names = (file.get("filename") for file in files if isinstance(file, dict))
        return frozenset(name for name in names if isinstance(name, str))

    def _described(self, folder: str, name: str) -> Any:
        """Give what a small file of JSON says; None where there is none."""
        path = _below(folder, name)
        try:
            with self._opened(path) as file:
                return json.loads(file.read(STATE_LIMIT_BYTES))
        except (OSError, LookupError, ValueError, RecursionError, SourceError, pa.ArrowException):
            return None  # of an archive, it may also be damaged

    def _opened(self, path: str) -> Any:
        return Path(path).open("rb") if self.system is None else self.system.open_input_file(path)


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
