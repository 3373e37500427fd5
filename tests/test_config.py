"""Files and environment become one frozen configuration."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.config import DEFAULTS, load_config
from moss_memory.errors import MossError

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.config import Config


class Places:
    """A user's home folder, a store in it, and a repository with a folder to work in."""

    def __init__(self, root: Path) -> None:
        self.user = root / "user"
        self.home = self.user / ".moss"
        self.repo = self.user / "code" / "repo"
        self.work = self.repo / "src" / "deep"
        self.work.mkdir(parents=True)
        self.home.mkdir()

    def write(self, folder: Path, content: Any) -> None:
        file = folder / ("config.json" if folder == self.home else ".moss/config.json")
        file.parent.mkdir(exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))

    def load(self, cwd: Path | None = None) -> Config:
        return load_config(str(self.home), cwd=str(cwd or self.work))


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    places = Places(tmp_path)
    monkeypatch.setenv("HOME", str(places.user))
    monkeypatch.delenv("MOSS_HOME", raising=False)
    return places


def test_without_files_every_setting_has_its_documented_default(places: Places) -> None:
    config = places.load()
    documented = {
        "capsule_max_chars": 12_000, "allowed_paths": [], "allow_unsafe_paths": False, "db_max_open_conns": 0,
        "db_max_idle_conns": 0, "disabled_tools": [], "disabled_types": [], "import_max_bytes": 25_000_000,
        "toolsets": [], "trust_repo_config": False,
    }  # fmt: skip
    assert {key: getattr(config, key) for key in documented} == documented
    assert config.warnings == []
    assert set(config.sources.values()) == {"default"}


def test_a_field_left_out_keeps_its_default(places: Places) -> None:
    places.write(places.home, {"disabled_tools": ["capsule_purge"]})
    config = places.load()
    assert (config.capsule_max_chars, config.disabled_tools) == (12_000, ["capsule_purge"])


def test_a_repository_overrides_scalars_unless_zero(places: Places) -> None:
    places.write(places.home, {"capsule_max_chars": 7_000, "db_max_open_conns": 3})
    places.write(places.repo, {"capsule_max_chars": 5_000, "db_max_open_conns": 0})
    config = places.load()
    assert (config.capsule_max_chars, config.db_max_open_conns) == (5_000, 3)


@pytest.mark.parametrize("key", ["capsule_max_chars", "import_max_bytes"])
@pytest.mark.parametrize("trusted", [False, True])
def test_a_repository_may_lower_a_limit_and_never_raise_it(places: Places, key: str, trusted: bool) -> None:
    places.write(places.home, {key: 5_000, "trust_repo_config": trusted})
    places.write(places.repo, {key: 4_000})
    assert getattr(places.load(), key) == 4_000
    places.write(places.repo, {key: 5_001})
    config = places.load()
    assert getattr(config, key) == 5_000
    [warning] = config.warnings
    assert f"{key} is ignored; a repository may only lower it" in warning


def test_lists_are_merged_without_duplicates(places: Places) -> None:
    places.write(places.home, {"disabled_tools": ["a", "b"]})
    places.write(places.repo, {"disabled_tools": ["b", "c"]})
    assert places.load().disabled_tools == ["a", "b", "c"]


@pytest.mark.parametrize(("ours", "theirs"), [(True, False), (False, True), (True, True), (False, False)])
def test_booleans_are_true_when_either_is(places: Places, ours: bool, theirs: bool) -> None:
    places.write(places.home, {"allow_unsafe_paths": ours, "trust_repo_config": True})
    places.write(places.repo, {"allow_unsafe_paths": theirs})
    assert places.load().allow_unsafe_paths is (ours or theirs)


def test_the_nearest_repository_file_upward_is_used(places: Places) -> None:
    places.write(places.repo, {"capsule_max_chars": 1})
    places.write(places.repo / "src", {"capsule_max_chars": 2})
    assert places.load().capsule_max_chars == 2
    assert places.load(places.repo).capsule_max_chars == 1
    assert places.load(places.repo.parent).capsule_max_chars == 12_000


def test_the_walk_upward_stops_at_the_home_folder(places: Places, tmp_path: Path) -> None:
    places.write(tmp_path, {"capsule_max_chars": 1})
    assert places.load().capsule_max_chars == 12_000
    assert places.load(places.user).capsule_max_chars == 12_000


def test_the_configuration_of_the_store_is_never_used_as_a_repositorys(places: Places) -> None:
    places.write(places.home, {"capsule_max_chars": 5_000, "allow_unsafe_paths": True})
    for cwd in (places.work, places.user, places.home):
        config = places.load(cwd)
        assert config.capsule_max_chars == 5_000
        assert config.allow_unsafe_paths is True
        assert config.warnings == []


def test_a_store_inside_a_repository_is_not_that_repositorys_configuration(places: Places) -> None:
    inside = places.repo / ".moss"
    inside.mkdir()
    (inside / "config.json").write_text('{"allow_unsafe_paths": true, "disabled_tools": ["x"]}')
    config = load_config(str(inside), cwd=str(places.work))
    assert config.allow_unsafe_paths is True
    assert config.warnings == []
    assert config.disabled_tools == ["x"]


def test_a_home_behind_a_link_works(places: Places, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(places.home)
    places.write(places.home, {"capsule_max_chars": 5})
    config = load_config(str(tmp_path / "link"), cwd=str(places.work))
    assert config.home == str(places.home.resolve())
    assert config.capsule_max_chars == 5


def test_moss_home_names_the_store(places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_config(cwd=str(places.work)).home == str(places.home)
    monkeypatch.setenv("MOSS_HOME", str(tmp_path / "elsewhere"))
    assert load_config(cwd=str(places.work)).home == str(tmp_path / "elsewhere")
    assert load_config(str(places.home), cwd=str(places.work)).home == str(places.home)
    monkeypatch.setenv("MOSS_HOME", "~/other")
    assert load_config(cwd=str(places.work)).home == str(places.user / "other")


@pytest.mark.parametrize(
    "setting", [{"allow_unsafe_paths": True}, {"allowed_paths": ["/srv"]}, {"trust_repo_config": True}]
)
def test_a_repository_may_not_grant_permissions(places: Places, setting: dict[str, Any]) -> None:
    places.write(places.repo, {**setting, "disabled_types": ["capsule"]})
    config = places.load()
    [key] = setting
    assert getattr(config, key) == DEFAULTS[key]
    assert config.disabled_types == ["capsule"]
    [warning] = config.warnings
    assert key in warning
    assert str(places.repo) in warning


def test_a_trusted_repository_may_grant_permissions_but_not_trust_itself(places: Places) -> None:
    places.write(places.home, {"trust_repo_config": True, "allowed_paths": ["/srv/a"]})
    places.write(places.repo, {"allow_unsafe_paths": True, "allowed_paths": ["/srv/b", "/srv/a"]})
    config = places.load()
    assert config.allow_unsafe_paths is True
    assert config.allowed_paths == ["/srv/a", "/srv/b"]
    assert config.warnings == []
    places.write(places.home, {})
    places.write(places.repo, {"trust_repo_config": True, "allow_unsafe_paths": True})
    assert places.load().allow_unsafe_paths is False


@pytest.mark.parametrize("where", ["home", "repo"])
def test_an_unknown_key_is_a_warning_that_names_it(places: Places, where: str) -> None:
    places.write(getattr(places, where), {"capsule_max_char": 5, "capsule_max_chars": 7})
    config = places.load()
    assert config.capsule_max_chars == 7
    [warning] = config.warnings
    assert "capsule_max_char'" in warning
    assert "config.json" in warning


@pytest.mark.parametrize(
    ("key", "value"),
    [("capsule_max_chars", "5"), ("capsule_max_chars", -1), ("capsule_max_chars", True), ("capsule_max_chars", 1.5),
     ("capsule_max_chars", 2**63), ("allow_unsafe_paths", 1), ("allow_unsafe_paths", "true"),
     ("allowed_paths", "/srv"), ("allowed_paths", [1]), ("disabled_tools", {"a": 1}), ("toolsets", "capsule")],
)  # fmt: skip
@pytest.mark.parametrize("where", ["home", "repo"])
def test_a_value_of_a_wrong_type_is_ignored_with_a_warning(places: Places, where: str, key: str, value: Any) -> None:
    places.write(getattr(places, where), {key: value})
    config = places.load()
    assert getattr(config, key) == DEFAULTS[key]
    assert any(key in warning for warning in config.warnings)


def test_null_is_the_same_as_leaving_a_field_out(places: Places) -> None:
    places.write(places.home, {"capsule_max_chars": None, "allowed_paths": None})
    assert (places.load().capsule_max_chars, places.load().warnings) == (12_000, [])


BROKEN = ["", "{", "[]", '"text"', "17", "null", "[" * 100_000, "{'a': 1}", "\x00"]


@pytest.mark.parametrize("content", BROKEN, ids=lambda text: text[:10])
def test_a_broken_file_of_the_user_is_an_error_that_names_it(places: Places, content: str) -> None:
    places.write(places.home, content)
    with pytest.raises(MossError) as caught:
        places.load()
    assert caught.value.code == "INVALID_REQUEST"
    assert str(places.home / "config.json") in caught.value.message


@pytest.mark.parametrize("content", BROKEN, ids=lambda text: text[:10])
def test_a_broken_file_of_a_repository_is_only_a_warning(places: Places, content: str) -> None:
    places.write(places.home, {"capsule_max_chars": 5})
    places.write(places.repo, content)
    config = places.load()
    assert config.capsule_max_chars == 5
    assert any(str(places.repo) in warning for warning in config.warnings)


@pytest.mark.parametrize("kind", ["fifo", "folder", "dangling link", "device"])
def test_a_special_file_in_a_repository_is_not_read(places: Places, kind: str) -> None:
    folder = places.repo / ".moss"
    folder.mkdir()
    file = folder / "config.json"
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file.symlink_to("/dev/zero" if kind == "device" else folder / "nothing")
    assert places.load().capsule_max_chars == 12_000


def test_a_file_with_a_byte_order_mark_is_read(places: Places) -> None:
    places.write(places.home, "\ufeff" + json.dumps({"capsule_max_chars": 5}))
    assert places.load().capsule_max_chars == 5


def test_allowed_folders_are_absolute_and_no_links(places: Places, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "inner").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    given = [
        "relative",
        "",
        str(tmp_path / "link"),
        str(tmp_path / "link" / "inner"),
        "~/exports",
        str(tmp_path / "new"),
    ]
    places.write(places.home, {"allowed_paths": given})
    config = places.load()
    assert config.allowed_paths == [
        str(tmp_path / "real" / "inner"), str(places.user / "exports"), str(tmp_path / "new")
    ]  # fmt: skip
    assert len(config.warnings) == 3


@pytest.mark.parametrize("path", ["/a\x00b", "/\ud800/x", "/x/\ud800"])
def test_an_impossible_allowed_folder_does_not_stop_the_store(places: Places, path: str) -> None:
    places.write(places.home, {"allowed_paths": [path], "capsule_max_chars": 5})
    assert places.load().capsule_max_chars == 5


def test_the_configuration_contains_the_source_of_each_value(places: Places) -> None:
    places.write(places.home, {"capsule_max_chars": 6, "disabled_tools": ["a"]})
    places.write(places.repo, {"capsule_max_chars": 5, "disabled_tools": ["b"], "import_max_bytes": 9})
    sources = places.load().sources
    repo_file = str(places.repo / ".moss" / "config.json")
    assert sources["capsule_max_chars"] == sources["import_max_bytes"] == repo_file
    assert sources["disabled_tools"] == f"{places.home / 'config.json'} + {repo_file}"
    assert sources["disabled_types"] == "default"


def test_a_configuration_cannot_be_changed(places: Places) -> None:
    config = places.load()
    with pytest.raises(AttributeError):
        config.capsule_max_chars = 5
    changed = config.replace(capsule_max_chars=5)
    assert (changed.capsule_max_chars, config.capsule_max_chars) == (5, 12_000)


def test_two_configurations_share_no_list(places: Places) -> None:
    places.load().disabled_tools.append("x")
    assert places.load().disabled_tools == []
    assert DEFAULTS["disabled_tools"] == []


def test_a_current_folder_that_was_removed_is_no_problem(places: Places, tmp_path: Path) -> None:
    lost = tmp_path / "lost"
    lost.mkdir()
    before = os.getcwd()
    os.chdir(lost)
    try:
        lost.rmdir()
        assert load_config(str(places.home)).capsule_max_chars == 12_000
    finally:
        os.chdir(before)


def test_loading_makes_no_file(places: Places) -> None:
    places.load()
    assert list(places.home.iterdir()) == []


@pytest.mark.parametrize(("of_user", "of_repository", "in_effect"), [(True, False, False), (False, True, False)])
def test_a_repository_can_only_tighten_the_rule_for_credentials(
    places: Places, of_user: bool, of_repository: bool, in_effect: bool
) -> None:
    places.write(places.home, {"allow_secrets": of_user, "trust_repo_config": True})
    places.write(places.repo, {"allow_secrets": of_repository})
    config = places.load()
    assert config.allow_secrets is in_effect
    assert any("allow_secrets" in warning for warning in config.warnings) is of_repository
