"""Settings are checked, frozen, and named by a fingerprint."""

import dataclasses
import os
import subprocess
import sys

import pytest

from lookalike.base.errors import LookalikeError, SettingsError
from lookalike.settings import Settings


def test_settings_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().threshold = 0.5  # type: ignore[misc]


def test_equal_settings_have_one_fingerprint_and_others_another():
    prints = {
        Settings(**change).fingerprint()
        for change in (
            *({}, {"threshold": 0.7}, {"recall": 0.9}, {"shingle": "chars:5"}, {"multiset": True}),
            *({"bands": 2, "rows": 3}, {"cascade": "and:2"}, {"estimate": True}, {"seed": 2}),
            {"normalise": "none"},
        )
    }
    assert len(prints) == 10
    assert Settings().fingerprint() == Settings(threshold=0.8).fingerprint()


def test_settings_that_came_later_leave_older_fingerprints_as_they_are():
    assert Settings().fingerprint() == "ee99550a9cc54280"
    assert Settings(containment=0.9).fingerprint() == "fc2e88947a6c3bd6"
    assert Settings(rule="contained", containment=0.9).fingerprint() != "fc2e88947a6c3bd6"
    assert Settings(groups="site").fingerprint() != "ee99550a9cc54280"


def test_every_setting_takes_part_in_the_fingerprint():
    assert set(Settings().as_dict()) == {field.name for field in dataclasses.fields(Settings)}


def test_fingerprints_are_the_same_in_another_process():
    code = "from lookalike.settings import Settings; print(Settings().fingerprint())"
    prints = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1")
    }
    assert prints == {Settings().fingerprint()}


def test_a_whole_number_is_a_threshold_and_not_cut_off():
    assert Settings(threshold=1).threshold == 1
    assert Settings(threshold=0.85).threshold == 0.85


def test_estimates_and_the_exact_join_exclude_each_other():
    with pytest.raises(SettingsError, match="no signatures to estimate from"):
        Settings(recall=1, estimate=True)
    with pytest.raises(SettingsError, match="finds every pair without bands"):
        Settings(recall=1, bands=20, rows=5, estimate=True)


def test_every_error_is_a_lookalike_error():
    with pytest.raises(LookalikeError):
        Settings(threshold=2)
