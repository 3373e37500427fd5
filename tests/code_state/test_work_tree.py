"""Repository, branch and commit are read from files and equal those of git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from moss_memory.code_state.repository_id import normalize_url
from moss_memory.code_state.work_tree import CodeState, code_state_of, find_work_tree
from support.repositories import Repository


def read(folder: Path) -> CodeState | None:
    found = find_work_tree(os.path.realpath(folder))
    return None if found is None else found.state()


def known(folder: Path) -> CodeState:
    state = read(folder)
    assert state is not None
    return state


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "shop")
    made.commit({"src/a.py": "1"})
    return made


def test_a_plain_repository_is_found_from_every_folder_in_it(shop: Repository) -> None:
    for folder in (shop.folder, shop.folder / "src"):
        state = known(folder)
        assert (state.repository, state.branch, state.commit) == ("shop", "main", shop.head)


def test_packed_references_are_read(shop: Repository) -> None:
    shop.git("pack-refs", "--all")
    assert known(shop.folder).commit == shop.head


def test_a_detached_head_has_a_commit_and_no_branch(shop: Repository) -> None:
    shop.git("checkout", "-q", "--detach")
    state = known(shop.folder)
    assert (state.branch, state.commit) == ("", shop.head)


def test_a_branch_without_commits_has_no_commit(tmp_path: Path) -> None:
    state = known(Repository(tmp_path / "new").folder)
    assert (state.repository, state.branch, state.commit) == ("new", "main", "")


def test_a_linked_work_tree_has_the_name_of_the_main_one(shop: Repository, tmp_path: Path) -> None:
    shop.git("worktree", "add", "-q", "-b", "feature/x", str(tmp_path / "other"))
    other = Repository(tmp_path / "other", init=False)
    head = other.commit({"b.py": "2"})
    state = known(other.folder)
    assert (state.repository, state.branch, state.commit) == ("shop", "feature/x", head)
    assert state.repository_id == known(shop.folder).repository_id != ""


def test_a_submodule_is_a_separate_repository(shop: Repository, tmp_path: Path) -> None:
    part = Repository(tmp_path / "part")
    part.commit({"p.py": "1"})
    shop.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(part.folder), "lib/part")
    state = known(shop.folder / "lib" / "part")
    assert (state.repository, state.commit) == ("part", part.head)
    assert state.repository_id != known(shop.folder).repository_id


def test_a_repository_with_reftable_has_only_a_name(shop: Repository) -> None:
    shop.git("config", "extensions.refStorage", "reftable")
    (shop.folder / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")
    state = known(shop.folder)
    assert (state.repository, state.branch, state.commit) == ("shop", "", "")


def test_clones_of_one_origin_have_one_id_without_user_and_password(shop: Repository, tmp_path: Path) -> None:
    ids = set()
    for number, url in enumerate((
        "https://ada:secret@Example.org/acme/shop.git", "git@example.org:acme/shop", "ssh://git@example.org:22/acme/shop/",
        "git@Example.org:acme/shop.git",
    )):  # fmt: skip
        clone = Repository(tmp_path / str(number))
        clone.git("remote", "add", "origin", url)
        ids.add(known(clone.folder).repository_id)
    assert len(ids) == 1
    assert "secret" not in normalize_url("https://ada:secret@example.org/acme/shop", "/")


def test_the_state_changes_with_every_commit_and_checkout(shop: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.folder)
    for number in range(5):
        head = shop.commit({"src/a.py": str(number)})
        state = code_state_of()
        assert state is not None
        assert state.commit == head
    shop.git("checkout", "-q", "-b", "b")
    state = code_state_of()
    assert state is not None
    assert state.branch == "b"


@pytest.mark.parametrize("content", ["gitdir: /nonexistent\n", "", "gitdir:\n", "\0\0", "gitdir: ../../..\n"])
def test_a_git_file_with_a_missing_target_is_not_a_repository(tmp_path: Path, content: str) -> None:
    (tmp_path / ".git").write_text(content)
    assert read(tmp_path) is None


def test_a_reference_cannot_point_outside_of_the_repository(shop: Repository, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a" * 40)
    (shop.folder / ".git" / "HEAD").write_text("ref: refs/heads/../../../../secret\n")
    assert known(shop.folder).commit == ""


def test_cyclic_references_end(shop: Repository) -> None:
    heads = shop.folder / ".git" / "refs" / "heads"
    (heads / "a").write_text("ref: refs/heads/b\n")
    (heads / "b").write_text("ref: refs/heads/a\n")
    (shop.folder / ".git" / "HEAD").write_text("ref: refs/heads/a\n")
    assert known(shop.folder).commit == ""


def test_a_fifo_in_place_of_a_file_does_not_block(shop: Repository) -> None:
    for name in ("packed-refs", "refs/heads/main", "config"):
        path = shop.folder / ".git" / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    state = known(shop.folder)
    assert (state.branch, state.commit) == ("main", "")


def test_a_huge_file_is_not_read(shop: Repository) -> None:
    shop.git("pack-refs", "--all")
    with (shop.folder / ".git" / "packed-refs").open("r+b") as file:
        file.truncate(1 << 33)
    assert known(shop.folder).commit == ""


def test_a_repository_that_gets_an_origin_keeps_its_identity(shop: Repository) -> None:
    before = known(shop.folder)
    shop.git("remote", "add", "origin", "https://example.org/shop")
    after = known(shop.folder)
    assert before.repository_id != after.repository_id
    assert before.is_same_repository(after)


def clone(source: str | Path, target: Path, *words: str) -> Repository:
    made = Repository(target, init=False)
    target.mkdir(parents=True)
    made.git("clone", "-q", *words, str(source), ".")
    return made


def ids(*repositories: Repository) -> set[str]:
    return {known(one.folder).repository_id for one in repositories}


def test_every_clone_by_path_has_the_id_of_the_repository(shop: Repository, tmp_path: Path) -> None:
    bare = clone(shop.folder, tmp_path / "copies" / "shop.git", "--bare")
    clones = [
        clone(shop.folder, tmp_path / "by-path"),
        clone(shop.folder / ".git", tmp_path / "by-git-folder"),
        clone(f"file://{shop.folder}", tmp_path / "by-file-url"),
        clone(tmp_path / "by-path", tmp_path / "clone-of-a-clone"),
        clone(bare.folder, tmp_path / "of-a-bare-clone"),
        clone(tmp_path / "copies" / "shop", tmp_path / "without-the-ending"),
    ]
    shop.git("worktree", "add", "-q", str(tmp_path / "fix"))
    clones.append(clone(tmp_path / "fix", tmp_path / "of-a-worktree"))
    assert len(ids(shop, *clones)) == 1
    shop.git("remote", "add", "origin", "https://example.org/shop.git")
    assert len(ids(shop, *clones)) == 1


def test_a_path_through_a_symbolic_link_is_the_same_path(shop: Repository, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(shop.folder)
    linked = clone(shop.folder, tmp_path / "linked")
    linked.git("remote", "set-url", "origin", str(tmp_path / "link"))
    assert len(ids(shop, linked)) == 1


def test_clones_that_push_to_and_clone_from_a_bare_repository_have_one_id(shop: Repository, tmp_path: Path) -> None:
    bare = Repository(tmp_path / "srv" / "shop.git", init=False)
    bare.folder.mkdir(parents=True)
    bare.git("init", "-q", "--bare")
    alone = known(shop.folder)
    shop.git("remote", "add", "origin", str(bare.folder))
    shop.git("push", "-q", "origin", "main")
    other = clone(bare.folder, tmp_path / "other")
    assert len(ids(shop, other)) == 1
    assert alone.shares_id(known(shop.folder))


def test_two_unrelated_repositories_of_one_name_have_different_ids(shop: Repository, tmp_path: Path) -> None:
    namesake = Repository(tmp_path / "elsewhere" / "shop")
    assert not known(shop.folder).shares_id(known(namesake.folder))
    namesake.commit({"a": "other"})
    assert not known(shop.folder).shares_id(known(namesake.folder))
    shop.git("remote", "add", "origin", "https://example.org/shop.git")
    assert not known(shop.folder).shares_id(known(namesake.folder))
    namesake.git("remote", "add", "origin", "/srv/git/shop.git")
    assert not known(shop.folder).is_same_repository(known(namesake.folder))


def test_clones_with_each_other_as_origin_have_one_id(shop: Repository, tmp_path: Path) -> None:
    other = clone(shop.folder, tmp_path / "stick")
    shop.git("remote", "add", "origin", str(other.folder))
    assert len(ids(shop, other)) == 1
    shop.git("remote", "set-url", "origin", ".")
    assert len(ids(shop, other)) == 1


def test_a_running_process_notices_a_new_origin_of_the_cloned_repository(shop: Repository, tmp_path: Path) -> None:
    tree = find_work_tree(str(clone(shop.folder, tmp_path / "copy").folder))
    assert tree is not None
    before = tree.state()
    shop.git("remote", "add", "origin", "https://example.org/shop.git")
    after = tree.state()
    assert before is not None
    assert after is not None
    assert after.repository_id == known(shop.folder).repository_id != before.repository_id


@pytest.mark.parametrize(
    "place", ["a\0b", "x" * 5000, "/nonexistent/shop", "/dev/zero", "/proc/self/mem", "~/shop", "/" * 900_000]
)
def test_an_unreachable_origin_is_only_compared_as_text(shop: Repository, place: str) -> None:
    config = shop.folder / ".git" / "config"
    config.write_text(f'{config.read_text()}[remote "origin"]\n\turl = {place}\n')
    assert known(shop.folder).repository_id.startswith("origin-")


def test_a_long_chain_of_clones_ends(shop: Repository, tmp_path: Path) -> None:
    last = shop
    for number in range(8):
        last = clone(last.folder, tmp_path / f"clone{number}")
    assert known(last.folder).repository_id.startswith("origin-")
