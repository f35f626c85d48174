"""The cache of builds: nothing twice, nothing half, any number of processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pytest_autodeploy.image import cache as cache_module
from pytest_autodeploy.image.cache import BuildCache, Built, DamagedCache, default_folder
from pytest_autodeploy.image.errors import BuildError

KEY = "0123456789abcdef" * 4


class Works:
    """A build that counts how often it ran."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, place: Path) -> Mapping[str, Path]:
        self.runs += 1
        (place / "out.elf").write_text(f"image {self.runs}")
        return {".elf": place / "out.elf"}


def get(cache: BuildCache, works: Works, key: str = KEY) -> Built:
    """The image of a key, built in the folder that all share."""
    return cache.get_or_build(key, "board", works, facts={"board": "b"}, timeout_s=5)


def test_what_was_built_is_not_built_again(tmp_path: Path) -> None:
    works = Works()
    first, second = (get(BuildCache(tmp_path), works) for _ in range(2))

    assert (first.fresh, second.fresh, works.runs) == (True, False, 1)
    assert second.file(".elf").read_text() == "image 1"
    assert second.build_id == "0123456789abcdef"


def test_another_key_builds_in_the_same_folder_and_leaves_the_first_image(tmp_path: Path) -> None:
    cache, works = BuildCache(tmp_path), Works()
    first = get(cache, works)
    get(cache, works, KEY[::-1])

    assert works.runs == 2
    assert first.file(".elf").read_text() == "image 1"
    assert [path.name for path in (tmp_path / "build").iterdir() if path.is_dir()] == ["board"]


def test_a_build_that_fails_leaves_no_image(tmp_path: Path) -> None:
    def fails(place: Path) -> Mapping[str, Path]:
        raise BuildError("no")

    cache = BuildCache(tmp_path)
    with pytest.raises(BuildError):
        cache.get_or_build(KEY, "board", fails, facts={}, timeout_s=5)

    assert cache.get(KEY) is None
    assert get(cache, Works()).fresh


def test_an_image_without_its_manifest_is_built_again(tmp_path: Path) -> None:
    built = get(BuildCache(tmp_path), Works())
    (built.folder / "image.json").unlink()

    assert get(BuildCache(tmp_path), Works()).fresh


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:3])


def overwrite(file: Path) -> None:
    file.write_bytes(b"something else")


def exchange(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize("damage", [cut, overwrite, exchange, Path.unlink])
@pytest.mark.parametrize("name", ["autodeploy.elf", "image.json"])
def test_a_damaged_image_is_built_again_with_a_line(
    tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    works = Works()
    damage(get(BuildCache(tmp_path), works).folder / name)

    if name == "image.json" and not (tmp_path / "images" / KEY / name).is_file():
        again = get(BuildCache(tmp_path), works)  # as if it had never been finished
    else:
        with pytest.warns(DamagedCache, match=f"cache of firmware is damaged: .*{name}"):
            again = get(BuildCache(tmp_path), works)

    assert (again.fresh, works.runs) == (True, 2)
    assert again.file(".elf").read_text() == "image 2"
    assert not get(BuildCache(tmp_path), works).fresh


def test_every_file_of_an_image_is_checked(tmp_path: Path) -> None:
    """Each file counts, not only the first."""

    def two(place: Path) -> Mapping[str, Path]:
        for name in ("a", "b"):
            (place / name).write_text(name)
        return {".axf": place / "a", ".bin": place / "b"}

    cache = BuildCache(tmp_path)
    built = cache.get_or_build(KEY, "board", two, facts={}, timeout_s=5)
    assert cache.get(KEY) == Built(built.folder, built.build_id, fresh=False)
    overwrite(built.file(".bin"))

    with pytest.warns(DamagedCache, match=r"autodeploy\.bin"):
        assert cache.get(KEY) is None


def test_two_at_once_build_once(tmp_path: Path) -> None:
    works, results = Works(), list[Built]()
    threads = [
        threading.Thread(target=lambda: results.append(get(BuildCache(tmp_path), works)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert works.runs == 1
    assert sorted(result.fresh for result in results) == [False, False, False, True]


def test_a_build_elsewhere_that_never_ends_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    holder = (
        "import filelock, sys; lock = filelock.FileLock(sys.argv[1]); lock.acquire();"
        "print('held', flush=True); sys.stdin.read()"
    )
    lock = tmp_path / "build" / "board.lock"
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()

        with pytest.raises(BuildError, match=r"another process builds in .*board") as caught:
            BuildCache(tmp_path).get_or_build(KEY, "board", Works(), facts={}, timeout_s=0.1)

        assert caught.value.seconds == 0.1


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BuildError, match="cannot write to the cache") as caught:
        get(BuildCache(tmp_path / "file"), Works())

    assert str(tmp_path / "file") in str(caught.value)
    assert "--autodeploy-cache" in str(caught.value)


def test_a_cache_that_every_user_may_write_to_is_not_used(tmp_path: Path) -> None:
    """What is in it is flashed and run."""
    get(BuildCache(tmp_path), Works())
    tmp_path.chmod(0o777)

    with pytest.raises(BuildError, match="the cache is not used: every user may write") as caught:
        get(BuildCache(tmp_path), Works())

    assert "--autodeploy-cache" in str(caught.value)


def test_a_cache_is_made_for_this_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        get(BuildCache(tmp_path / "firmware"), Works())
    finally:
        os.umask(before)

    assert get(BuildCache(tmp_path / "firmware"), Works()).fresh is False
    assert (tmp_path / "firmware").stat().st_mode & 0o077 == 0


def test_a_lock_that_is_a_symbolic_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("years of work")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "board.lock").symlink_to(tmp_path / "precious")

    with pytest.raises(BuildError, match="cannot lock"):
        get(BuildCache(tmp_path), Works())

    assert (tmp_path / "precious").read_text() == "years of work"


def test_the_half_image_of_a_killed_run_goes_but_not_one_that_is_being_made(tmp_path: Path) -> None:
    left, made = tmp_path / "images" / ".new-left", tmp_path / "images" / ".new-made"
    for folder in (left, made):
        (folder / KEY).mkdir(parents=True)
    long_ago = made.stat().st_mtime - 4000
    os.utime(left, (long_ago, long_ago))

    get(BuildCache(tmp_path), Works())

    assert made.exists()
    assert not left.exists()


def test_the_least_recently_used_images_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_KEPT_IMAGES", 2)
    cache, works = BuildCache(tmp_path), Works()
    keys = [letter * 64 for letter in "abc"]
    for age, key in enumerate(keys[:2]):
        built = get(cache, works, key)
        os.utime(built.folder, (age, age))
    cache.get(keys[0])
    get(cache, works, keys[2])

    assert [cache.get(key) is not None for key in keys] == [True, False, True]


@pytest.mark.skipif(sys.platform == "win32", reason="another variable there")
def test_the_folder_is_where_the_user_keeps_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    assert default_folder() == tmp_path / "pytest-autodeploy" / "firmware"
