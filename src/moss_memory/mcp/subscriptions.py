"""Resource subscriptions. Other processes write the same store, so changes are polled once a second."""

from __future__ import annotations

import hashlib
import time

from moss_memory.errors import MossError

from . import resources
from .handlers import make_caller
from .messages import INVALID_PARAMS, encode, failure, notification

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.store import Store

    from .protocol import ListenRequest, Request, SubscribeRequest
    from .tool_list import ToolList

POLL_INTERVAL_S = 1.0
MAX_URIS = 200
UPDATED = "notifications/resources/updated"
LIST_CHANGED = "notifications/resources/list_changed"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_ID_KEY = "io.modelcontextprotocol/subscriptionId"


class ChangeDetector:
    """The number of the store's last change."""

    def __init__(self, store: Callable[[], Store]) -> None:
        self._store = store
        self._last_change: int | None = None

    def changed(self) -> bool:
        """Return True if the store changed since the last call; False if it cannot be read now."""
        try:
            change_number = int(self._store().call("moss_changes", {"limit": 1})["seq"])
        except MossError:
            return False
        changed = self._last_change is not None and change_number != self._last_change
        self._last_change = change_number
        return changed


class Subscription:
    """One client's subscriptions: resources, and changes of the list of resources."""

    def __init__(self, tools: ToolList, *, subscription_id: object = None) -> None:
        self._tools = tools
        self._meta = {} if subscription_id is None else {"_meta": {_ID_KEY: subscription_id}}
        self._uris: dict[str, str] = {}
        self._list: str | None = None

    @property
    def is_idle(self) -> bool:
        return not self._uris and self._list is None

    def add(self, store: Store, uri: str) -> None:
        """Subscribe to a resource; refuse an invalid address."""
        resources.parse_uri(uri)
        if len(self._uris) >= MAX_URIS and uri not in self._uris:
            raise MossError("INVALID_REQUEST", f"one client listens to at most {MAX_URIS} addresses")
        self._uris[uri] = self._content(store, uri)

    def remove(self, uri: str) -> None:
        self._uris.pop(uri, None)

    def add_list(self, store: Store) -> None:
        """Subscribe to the list of resources."""
        self._list = self._listing(store)

    def pending(self, store: Store) -> list[bytes]:
        """Return the notifications due after a change of the store."""
        messages = []
        for uri, previous_hash in list(self._uris.items()):
            content_hash = self._content(store, uri)
            if content_hash != previous_hash and uri in self._uris:
                self._uris[uri] = content_hash
                messages.append(notification(UPDATED, {"uri": uri, **self._meta}))
        if self._list is not None:
            listing = self._listing(store)
            if listing != self._list:
                self._list = listing
                messages.append(notification(LIST_CHANGED, dict(self._meta)))
        return messages

    def _content(self, store: Store, uri: str) -> str:
        """Return a hash of a resource's content, or of its error code."""
        try:
            text = resources.read_resource(make_caller(store, self._tools), self._tools, uri)
        except MossError as error:
            text = error.code
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()

    def _listing(self, store: Store) -> str:
        """Return a hash of the addresses on the first page, independent of their order."""
        try:
            addresses = resources.addresses(make_caller(store, self._tools), self._tools)
        except MossError as error:
            return error.code
        return hashlib.sha256(encode(sorted(addresses)).encode("utf-8", "replace")).hexdigest()


def listen(store: Store, listening: ListenRequest) -> tuple[Subscription, bytes]:
    """Return the subscription that a request asks for, and its acknowledgement."""
    request = listening.request
    subscription = Subscription(listening.tools, subscription_id=request.key)
    for uri in listening.uris:
        subscription.add(store, uri)
    if listening.lists:
        subscription.add_list(store)
    accepted: dict[str, object] = {"resourceSubscriptions": listening.uris} if listening.uris else {}
    if listening.lists:
        accepted["resourcesListChanged"] = True
    return subscription, notification(ACKNOWLEDGED, {"notifications": accepted, "_meta": {_ID_KEY: request.key}})


def final_response(request: Request) -> bytes:
    """Return the final response of a stream that the server ends."""
    return request.answer("", meta={_ID_KEY: request.key})


class SubscriptionManager:
    """The subscriptions of one connection, on a transport that polls for changes."""

    def __init__(self, store: Callable[[], Store], send: Callable[[bytes], None]) -> None:
        self._store = store
        self._send = send
        self._detector = ChangeDetector(store)
        self._subscriptions: dict[object, Subscription] = {}
        self._next_poll_s = 0.0
        self._has_changes = False

    def subscribe(self, subscribe_request: SubscribeRequest) -> bytes:
        """Subscribe to a resource or unsubscribe, and return the response."""
        self._detect_changes()
        subscription = self._subscriptions.setdefault(None, Subscription(subscribe_request.tools))
        return apply_subscription(subscription, subscribe_request, self._store)

    def subscribe_list(self, tools: ToolList) -> None:
        """Subscribe a client that read the list to its changes."""
        self._detect_changes()
        self._subscriptions.setdefault(None, Subscription(tools)).add_list(self._store())

    def listen(self, listening: ListenRequest) -> bytes | None:
        """Open a stream and acknowledge it; return the refusal if the request is invalid."""
        self._detect_changes()
        try:
            subscription, acknowledged = listen(self._store(), listening)
        except MossError as error:
            return failure(listening.request.id, INVALID_PARAMS, error.message, error.payload())
        self._subscriptions[listening.request.key] = subscription
        self._send(acknowledged)
        return None

    def cancel(self, key: object) -> None:
        """Close the stream with this id, if there is one."""
        if key is not None:
            self._subscriptions.pop(key, None)

    def wait_s(self) -> float | None:
        """Return the seconds until the next poll; None if there are no subscriptions."""
        if all(subscription.is_idle for subscription in self._subscriptions.values()):
            return None
        return max(0.0, self._next_poll_s - time.monotonic())

    def poll(self) -> None:
        """Send pending notifications, at most once a second."""
        if self.wait_s() != 0:
            return
        self._next_poll_s = time.monotonic() + POLL_INTERVAL_S
        self._detect_changes()
        if self._has_changes:
            self._has_changes = False
            for subscription in list(self._subscriptions.values()):
                for message in subscription.pending(self._store()):
                    self._send(message)

    def _detect_changes(self) -> None:
        """Update the change number before a new subscription, without losing changes for existing ones."""
        self._has_changes = self._detector.changed() or self._has_changes


def apply_subscription(
    subscription: Subscription, subscribe_request: SubscribeRequest, store: Callable[[], Store]
) -> bytes:
    """Subscribe or unsubscribe as requested and return the response."""
    request = subscribe_request.request
    try:
        if subscribe_request.wanted:
            subscription.add(store(), subscribe_request.uri)
        else:
            subscription.remove(subscribe_request.uri)
    except MossError as error:
        return failure(request.id, INVALID_PARAMS, error.message, error.payload())
    return request.answer("")
