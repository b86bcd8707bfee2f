"""The launcher sees a run that somebody else started, however they started it."""

from types import SimpleNamespace

import pytest

from fairbandits import launch


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["python", "-m", "snakemake", "--cores", "2"], True),
        (["python", "-u", "-m", "snakemake"], True),
        (["python", "-X", "dev", "-u", "-m", "snakemake"], True),
        (["python", "/venv/bin/snakemake", "all"], True),
        (["/venv/bin/snakemake", "all"], True),
        (["python", "-m", "pytest", "tests"], False),
        ([], False),
    ],
)
def test_runs_of_snakemake_in_the_folder(monkeypatch, tmp_path, words, seen):
    info = {"pid": -1, "cmdline": words, "cwd": str(tmp_path)}
    found = [SimpleNamespace(info=info), SimpleNamespace(info=info | {"cwd": "/"})]
    monkeypatch.setattr(launch.psutil, "process_iter", lambda _: found)
    assert launch._snakemakes_in(tmp_path) == (["snakemake, process -1"] if seen else [])
