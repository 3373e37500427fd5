"""The first steps of a command: parsed request and configuration."""

from __future__ import annotations

from moss_memory.cli.render.output import show, warn
from moss_memory.config import load_config

DEFAULT_WORKSPACE = "default"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.cli.args.command import Command, CommandRequest
    from moss_memory.config import Config


def request_of(command: Command, words: list[str], home: str | None) -> CommandRequest | None:
    """Return the request of the words, None if they ask for help, which is then printed.

    If a command needs a workspace and the words name none, it is the one that `moss where` explains.
    """
    request = command.parse(words)
    if "verbose" in request.cli_options:
        from moss_memory.log import configure

        configure(verbose=True)
    if "help" in request.cli_options:
        from .help import command_help

        show(command_help(command))
        return None
    if "workspace" in command.operation.required and "workspace" not in request.arguments:
        config = load_config(request.cli_options.get("home", home))
        request.arguments["workspace"] = config.workspace or _workspace_of_repository(config) or DEFAULT_WORKSPACE
    command.require(request)
    return request


def _workspace_of_repository(config: Config) -> str:
    """Return the workspace of the repository around the current folder; empty if none is known."""
    from moss_memory.code_state.work_tree import work_tree_of

    if not config.record_code or work_tree_of() is None:
        return ""
    from moss_memory.store import Store

    from .current_workspace import project_of

    with Store(config, actor="cli") as store:
        project = project_of(store)
    if project.others:
        warn(f"the workspace {project.workspace} was written from another repository; `moss where` explains")
    return project.workspace


def load_settings(home: str | None) -> Config:
    """Return the configuration of a home folder, which must not be a demonstration's; print its warnings."""
    config = load_config(home)
    if "moss-demo-" in config.home:
        from moss_memory.storage.files.demonstration import refuse_demonstration

        refuse_demonstration(config.home)
    for warning in config.warnings:
        warn(warning)
    return config
