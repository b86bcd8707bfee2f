"""What could be started is not started again, and YAML is read as it is meant."""

import subprocess
import sys

import pytest

from fairbandits.settings.schemas import read_yaml

CODE = """
import sys
from fairbandits.settings.experiments import check_start
check_start("uniform", {}, [], 2, 10, "here")
print("numba" in sys.modules)
"""


@pytest.mark.slow
@pytest.mark.parametrize("writable", [True, False])
def test_later_processes_remember(writable, tmp_path, monkeypatch):
    if not writable:
        (tmp_path / "file").write_text("")
    folder = tmp_path / ("cache" if writable else "file/below")
    monkeypatch.setenv("FAIRBANDITS_CACHE_DIR", str(folder))
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    said = [
        subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
        for _ in range(1 + writable)
    ]
    assert [one.stdout.strip() for one in said] == ["True", "False"][: 1 + writable]
    for one in said:
        assert one.stderr.startswith("The cache cannot be used (") is not writable
    assert not any(temporary.iterdir())


def test_merged_mappings_keep_what_is_not_replaced(tmp_path):
    file = tmp_path / "merged.yaml"
    file.write_text("a: &a {x: 1, y: {z: 1}}\nb: &b {<<: *a, x: 2}\nc: {<<: [*b, *a], w: 3}\n")
    assert read_yaml(file) == {
        "a": {"x": 1, "y": {"z": 1}},
        "b": {"x": 2, "y": {"z": 1}},
        "c": {"x": 2, "y": {"z": 1}, "w": 3},
    }


def test_aliases_of_aliases_take_no_time(tmp_path):
    lines = ["a0: &a0 [1]", *(f"a{k + 1}: &a{k + 1} [*a{k}, *a{k}]" for k in range(40))]
    (tmp_path / "deep.yaml").write_text("\n".join(lines))
    assert len(read_yaml(tmp_path / "deep.yaml")) == 41
