"""Who wants to hear of changes, and of which; others write the same store, so it is asked again and again."""

from __future__ import annotations

import hashlib
import time

from moss_memory.errors import MossError

from . import resources
from .handlers import calling
from .messages import INVALID_PARAMS, encode, failure, notification

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.store import Store

    from .protocol import Listening, Request, SubscribeRequest
    from .tool_list import ToolList

LOOK_EVERY_S = 1.0
MOST_URIS = 200
UPDATED = "notifications/resources/updated"
LIST_CHANGED = "notifications/resources/list_changed"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_ID_KEY = "io.modelcontextprotocol/subscriptionId"


class ChangeDetector:
    """The number of the store's last change, whoever made it."""

    def __init__(self, store: Callable[[], Store]) -> None:
        self._store = store
        self._last: int | None = None

    def changed(self) -> bool:
        """Whether something changed since this was asked last; a store that does not answer now is asked again."""
        try:
            now = int(self._store().call("moss_changes", {"limit": 1})["seq"])
        except MossError:
            return False
        moved = self._last is not None and now != self._last
        self._last = now
        return moved


class Subscription:
    """What one client listens to: addresses, and whether it wants to hear that the list of them changed."""

    def __init__(self, offer: ToolList, *, subscription: object = None) -> None:
        self._offer = offer
        self._meta = {} if subscription is None else {"_meta": {_ID_KEY: subscription}}
        self._uris: dict[str, str] = {}
        self._list: str | None = None

    @property
    def is_idle(self) -> bool:
        """Whether it listens to nothing."""
        return not self._uris and self._list is None

    def add(self, store: Store, uri: str) -> None:
        """Listens to an address from now on; one that can be none is refused."""
        resources.parsed(uri)
        if len(self._uris) >= MOST_URIS and uri not in self._uris:
            raise MossError("INVALID_REQUEST", f"one client listens to at most {MOST_URIS} addresses")
        self._uris[uri] = self._content(store, uri)

    def remove(self, uri: str) -> None:
        """No longer listens to an address."""
        self._uris.pop(uri, None)

    def add_list(self, store: Store) -> None:
        """Listens to the list from now on."""
        self._list = self._listing(store)

    def pending(self, store: Store) -> list[bytes]:
        """The messages that are due, after something in the store has changed."""
        due = []
        for uri, before in list(self._uris.items()):
            now = self._content(store, uri)
            if now != before and uri in self._uris:
                self._uris[uri] = now
                due.append(notification(UPDATED, {"uri": uri, **self._meta}))
        if self._list is not None:
            listing = self._listing(store)
            if listing != self._list:
                self._list = listing
                due.append(notification(LIST_CHANGED, dict(self._meta)))
        return due

    def _content(self, store: Store, uri: str) -> str:
        """What is at an address, as short as it can be told apart; an error counts as what is there."""
        try:
            text = resources.read(calling(store, self._offer), self._offer, uri)
        except MossError as error:
            text = error.code
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()

    def _listing(self, store: Store) -> str:
        """Which things the first page lists, in whatever order."""
        try:
            shown = resources.addresses(calling(store, self._offer), self._offer)
        except MossError as error:
            return error.code
        return hashlib.sha256(encode(sorted(shown)).encode("utf-8", "replace")).hexdigest()


def listen(store: Store, listening: Listening) -> tuple[Subscription, bytes]:
    """The watch that a request to listen asks for, and the message that says so."""
    request = listening.request
    watch = Subscription(listening.offer, subscription=request.key)
    for uri in listening.uris:
        watch.add(store, uri)
    if listening.lists:
        watch.add_list(store)
    honoured: dict[str, object] = {"resourceSubscriptions": listening.uris} if listening.uris else {}
    if listening.lists:
        honoured["resourcesListChanged"] = True
    return watch, notification(ACKNOWLEDGED, {"notifications": honoured, "_meta": {_ID_KEY: request.key}})


def ended(request: Request) -> bytes:
    """The answer to a request to listen, when the server ends the stream."""
    return request.answer("", meta={_ID_KEY: request.key})


class SubscriptionManager:
    """What the client of one connection listens to, on a transport that looks for news itself."""

    def __init__(self, store: Callable[[], Store], send: Callable[[bytes], None]) -> None:
        self._store = store
        self._send = send
        self._counter = ChangeDetector(store)
        self._watches: dict[object, Subscription] = {}
        self._look_at_s = 0.0
        self._has_moved = False

    def subscribe(self, subscription: SubscribeRequest) -> bytes:
        """The answer to a client that wants to hear of an address, or no longer."""
        self._note()
        watch = self._watches.setdefault(None, Subscription(subscription.offer))
        return subscribed(watch, subscription, self._store)

    def subscribe_list(self, offer: ToolList) -> None:
        """A client that has seen the list wants to hear when it is another."""
        self._note()
        self._watches.setdefault(None, Subscription(offer)).add_list(self._store())

    def listen(self, listening: Listening) -> bytes | None:
        """Begins to listen and says so to the client; the refusal where it cannot."""
        self._note()
        try:
            watch, acknowledged = listen(self._store(), listening)
        except MossError as error:
            return failure(listening.request.id, INVALID_PARAMS, error.message, error.payload())
        self._watches[listening.request.key] = watch
        self._send(acknowledged)
        return None

    def cancel(self, key: object) -> None:
        """Ends the stream of this id, if it is one."""
        if key is not None:
            self._watches.pop(key, None)

    def wait_s(self) -> float | None:
        """How long nothing need be looked for; none means for ever."""
        if all(watch.is_idle for watch in self._watches.values()):
            return None
        return max(0.0, self._look_at_s - time.monotonic())

    def look(self) -> None:
        """Sends the news there are, at most once a second."""
        if self.wait_s() != 0:
            return
        self._look_at_s = time.monotonic() + LOOK_EVERY_S
        self._note()
        if self._has_moved:
            self._has_moved = False
            for watch in list(self._watches.values()):
                for message in watch.pending(self._store()):
                    self._send(message)

    def _note(self) -> None:
        """Looks where the store is now, before somebody new listens; what moved is told to the others all the same."""
        self._has_moved = self._counter.changed() or self._has_moved


def subscribed(watch: Subscription, subscription: SubscribeRequest, store: Callable[[], Store]) -> bytes:
    """The answer to a wish to hear of an address, or no longer, once it is fulfilled."""
    request = subscription.request
    try:
        if subscription.wanted:
            watch.add(store(), subscription.uri)
        else:
            watch.remove(subscription.uri)
    except MossError as error:
        return failure(request.id, INVALID_PARAMS, error.message, error.payload())
    return request.answer("")
