"""URLs and folders of stores as users write them; a possible password is never repeated in messages."""

from __future__ import annotations

import os

from moss_memory.config import default_config
from moss_memory.errors import MossError, invalid_request
from moss_memory.rows.names import has_control
from moss_memory.storage.files.sandbox import refuse_foreign
from moss_memory.storage.postgres.url import has_password, is_url, is_well_formed, without_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.config import Config

_FOLDER = "sqlite:"
_KNOWN = "`to` is sqlite:FOLDER, the home folder of a new store, or postgresql://HOST/DATABASE"


def target_of(config: Config, address: str) -> tuple[Config, str]:
    """Return the settings to open a new store at this address, and the address without a password."""
    if is_url(address):
        return _on_server(config, address), without_password(address)
    if not address.startswith(_FOLDER):
        raise invalid_request(f"this is no address of a store that Moss can make; {_KNOWN}", path="to")
    home = _home(address.removeprefix(_FOLDER))
    return default_config(home), home


def _on_server(config: Config, url: str) -> Config:
    """Return the settings for a store on a server; refuse a password, which is visible to every process."""
    if has_password(url):
        raise invalid_request(
            "the address holds a password, which others can see in the list of processes; leave it out, and put it "
            "into the file that PGPASSFILE names",
            path="to",
        )
    if not is_well_formed(url):
        raise invalid_request(
            f"the address cannot be read: characters other than letters and digits must be percent-encoded; {_KNOWN}",
            path="to",
        )
    return config.replace(url=url)


def _home(folder: str) -> str:
    """Return the absolute folder; refuse a path that cannot be one."""
    if not folder.strip() or has_control(folder) or folder.startswith("//"):
        raise invalid_request(f"the address names no folder; {_KNOWN}", path="to")
    refuse_foreign(folder)
    try:
        home = os.path.realpath(os.path.expanduser(folder))
        is_taken = os.path.lexists(home) and not os.path.isdir(home)
    except (OSError, ValueError) as error:
        raise invalid_request(f"the address names no folder that can be made; {_KNOWN}", path="to") from error
    if is_taken:
        raise MossError("CONFLICT", f"{home} is no folder; {_KNOWN}")
    return home
