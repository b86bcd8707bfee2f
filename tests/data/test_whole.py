"""A cache costs no run and changes no number, whatever has become of its files."""

import json
import multiprocessing
import os
import pickle

import numba
import pytest
from numba.core import caching

from fairbandits.data import whole
from fairbandits.data.whole import checksum, read_whole, replacing, write_whole

compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
FLIPS = 40


@pytest.fixture(autouse=True)
def said_once():
    whole._say.cache_clear()


def spoilt(content, rng):
    """Yield a content in the forms that faults leave: flipped bits, halves, nothing, other text."""
    for _ in range(FLIPS):
        flipped = bytearray(content)
        flipped[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        yield bytes(flipped)
    yield from (content[: len(content) // 2], content[:-1], b"", b"\xff\xfe", content + b"\0")


def test_what_is_not_as_it_was_written_is_not_read(tmp_path, rng, capsys, record_property):
    file = tmp_path / "below" / "file"
    assert read_whole(file) is None
    write_whole(file, b"some body")
    assert read_whole(file) == b"some body"
    assert capsys.readouterr().err == ""
    forms = list(spoilt(file.read_bytes(), rng))
    for form in forms:
        file.write_bytes(form)
        assert read_whole(file) is None
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f"{file} is damaged, or has no checksum yet; this part of the cache is made anew."
    )
    record_property("tries", len(forms))


def test_a_place_that_cannot_be_written_or_read_is_no_obstacle(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    write_whole(tmp_path / "file" / "below", b"body")
    write_whole(tmp_path, b"body")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert read_whole(tmp_path) is None
    assert str(tmp_path) in capsys.readouterr().err


@pytest.mark.parametrize(("umask", "rights"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_files_have_the_rights_that_the_users_umask_leaves(umask, rights, tmp_path):
    before = os.umask(umask)
    try:
        with replacing(tmp_path / "file") as temporary:
            temporary.write_text("body")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == rights


def test_what_is_no_file_is_not_replaced_by_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match=f"^{pipe} is no regular file"), replacing(pipe):
        raise AssertionError("there is nothing to write into")
    assert pipe.is_fifo()


@pytest.mark.parametrize("lasting", [True, False])
def test_what_lasts_is_on_the_disk_before_it_takes_its_place(lasting, tmp_path, monkeypatch):
    done = []

    def noted(name, call):
        def noting(*given):
            done.append((name, os.readlink(f"/proc/self/fd/{given[0]}") if name == "sync" else ""))
            return call(*given)

        return noting

    monkeypatch.setattr(whole.os, "fsync", noted("sync", os.fsync))
    monkeypatch.setattr(whole.os, "replace", noted("replace", os.replace))
    with replacing(tmp_path / "file", lasting) as temporary:
        temporary.write_text("body")
    first, last = ("sync", str(temporary)), ("sync", str(tmp_path))
    assert done == ([first, ("replace", ""), last] if lasting else [("replace", "")])


@pytest.fixture
def function(tmp_path, monkeypatch):
    """Return a function that gives a fresh dispatcher, whose cache lies in a folder of the test."""
    whole.guard_numba()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "twice.py"
    source.write_text("def twice(x):\n    return 2 * x\n")
    names = {}
    exec(compile(source.read_text(), str(source), "exec"), names | {"__name__": "twice"}, names)
    return lambda: numba.njit(cache=True)(names["twice"])


def ran(dispatcher):
    """Return whether it was loaded; its number is right in any case."""
    assert dispatcher(21) == 42
    return sum(dispatcher.stats.cache_hits.values()) == 1


@pytest.mark.slow
@compiled_only
def test_a_damaged_file_of_numbas_cache_is_made_anew(
    function, tmp_path, rng, capsys, record_property
):
    assert [ran(function()) for _ in range(2)] == [False, True]
    tries = 0
    for kind in ("nbi", "nbc"):
        (file,) = (tmp_path / "cache").rglob(f"*.{kind}")
        content = file.read_bytes()
        *flipped, half, shorter, empty, other, longer = spoilt(content, rng)
        for form in flipped:
            tries += 1
            file.write_bytes(form)
            assert read_whole(file) is None
        for form in (flipped[0], half, shorter, empty, other, longer):
            tries += 1
            file.write_bytes(form)
            assert not ran(function())  # a compiler's work, so not for all of them
            assert ran(function())
    assert "is damaged, or has no checksum yet" in capsys.readouterr().err
    record_property("tries", tries)


@compiled_only
def test_files_of_an_unguarded_numba_are_made_anew(function, tmp_path):
    ran(function())
    (index,) = (tmp_path / "cache").rglob("*.nbi")
    body = index.read_bytes()[: -whole.SIZE]
    index.write_bytes(body)
    assert not ran(function())
    assert checksum(body) == index.read_bytes()[-whole.SIZE :]
    assert pickle.loads(index.read_bytes()) == numba.__version__  # Numba alone reads it as before


@compiled_only
def test_a_disk_that_fills_while_it_is_written_costs_the_file_only(function, monkeypatch, capsys):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.os, "replace", full)
    assert [ran(function()) for _ in range(2)] == [False, False]
    assert "cannot be written (No space left on device)" in capsys.readouterr().err


def test_what_processes_keep_at_one_moment_is_all_kept(tmp_path):
    fork = multiprocessing.get_context("fork")

    def add(file, key, barrier):
        known = whole.kept(file)
        known[key] = 1
        barrier.wait()
        whole.keep_all()

    for turn in range(10):
        file, barrier = tmp_path / f"{turn}.json", fork.Barrier(4)
        processes = [fork.Process(target=add, args=(file, str(k), barrier)) for k in range(4)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        assert json.loads(whole.read_whole(file)) == dict.fromkeys("0123", 1)
