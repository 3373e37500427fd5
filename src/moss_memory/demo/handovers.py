"""The capsules of the story: what one session left for the next."""

from __future__ import annotations

from .story import ADMIN, PLATFORM, SHOP, Line

_REFUNDS = """\
## Objective

Let support refund **part of an order** without opening a ticket with finance, and make every refund safe to retry. \
Done means: a partial refund of any line works from the admin page, a second click never pays twice, and finance sees \
one row per refund.

## Current status

The ledger accepts partial refunds; the provider call is idempotent since Tuesday. What is missing is the admin form \
and the nightly reconciliation.

| Part | State | Where |
|---|---|---|
| Ledger rows for partial amounts | done | `ledger/refunds.py` |
| Idempotency key on provider calls | done, in production | `payments/client.py` |
| Admin form | in review | `admin/refund_form.tsx` |
| Reconciliation job | not started | — |

Last measured: 312 refunds in staging, 0 duplicates, p95 of 840 ms.

## Decisions

- **The idempotency key is the refund's own id**, not the order's: two partial refunds of one order are two payments. \
Tried the order id first; the provider answered the second with the first's result.
- Amounts are integers in the currency's smallest unit everywhere, also in the form's hidden field.
- A refund that times out stays `pending` and is asked for again after 30 s; it is never sent anew with another key.

> Finance asked for one row per refund rather than per line. Agreed on 4 November, see the thread in #payments.

## Next actions

1. Merge the admin form once the currency rounding test is in
2. Write the reconciliation job: compare `refunds` with the provider's report, one line per difference
3. Take the flag `partial_refunds` from 10 % to all of support

```python
def key(refund: Refund) -> str:
    \"\"\"One key per refund, so that a retry is the same payment.\"\"\"
    return f"refund-{refund.id}"
```

4. Tell finance which day the flag goes to all

## Key locations

- `ledger/refunds.py` — `apply_partial()`
- `payments/client.py:88` — retries and the key
- `tests/test_refund_retry.py` — the replayed webhook

## Open questions

- Does a partial refund of a gift card go back to the card or to the payer? Legal answers by Friday.
"""


def _capsule(objective: str, status: str, decisions: str, actions: str, places: str, questions: str) -> str:
    """A capsule of the six sections."""
    parts = {
        "Objective": objective,
        "Current status": status,
        "Decisions": decisions,
        "Next actions": actions,
        "Key locations": places,
        "Open questions": questions,
    }
    return "\n".join(f"## {title}\n\n{text}\n" for title, text in parts.items())


_SESSIONS = _capsule(
    "Sessions survive a deploy and end everywhere when a password changes.",
    "Sessions live in PostgreSQL, one row per device. The old cookie store is read until the end of the month.",
    "- One row per device, deleted at logout\n- The cookie holds 128 random bits and nothing else\n"
    "- Redis was tried: a failover lost 4 % of sessions, and nobody needed its speed",
    "1. Remove the cookie store on the 30th\n2. Show people their devices",
    "- `auth/sessions.py`\n- `migrations/0042_sessions.sql`",
    "- Should a new device end the older ones?",
)
_CI = _capsule(
    "The checks of a pull request answer within six minutes.",
    "From 14 to 6 minutes at the median. Browser tests are the longest part now: 4:10.",
    "- Tests are split by measured time, not by file\n- The image is built once and passed on\n"
    "- No retries: a flaky test is mended or taken out the same day",
    "1. Warm the browser's cache in the image\n2. Split the two checkout tests that take 50 s each",
    "- `.ci/plan.py`\n- `.ci/image/Dockerfile`",
    "None.",
)
_ROUNDING = _capsule(
    "A line's refund never differs from what was paid by a cent.",
    "The rule is written down and tested for 14 currencies. Two have no minor unit; they work.",
    "- Round half to even, once, at the end\n- Shares of a discount go to the largest remainder",
    "- Ask for a second look at the remainder rule",
    "- `money/rounding.py`\n- `tests/test_shares.py`",
    "- What does the tax authority expect for split shipments?",
)
_WEBHOOKS = _capsule(
    "Events of the provider are handled once, in any order.",
    "Events are kept by their id before anything is done with them. The dead-letter queue has been empty for a week.",
    "- The id of the event is the key; its time is not trusted\n- Handlers are told what is, not what happened",
    "1. Alert when the oldest unhandled event is older than a minute",
    "- `webhooks/inbox.py`",
    "- How long do we keep the raw bodies?",
)
_GIFT_CARDS = """\
## Objective

Gift cards can be bought, split and given back.

## Current status

A sketch of the ledger exists. Refunds to a card wait for Legal.

## Decisions

- A card is an account in the ledger, not a coupon

## Next actions

- Talk to Legal about expiry in three countries
"""
_FORM = _capsule(
    "Support refunds a line in three clicks and cannot refund too much.",
    "The form is in review. The amount is checked on the server, the form only helps.",
    "- One field a line, prefilled with what is left\n- The button says the sum: *Refund 12.40 €*",
    "1. Read the sum out for screen readers\n2. Merge after the rounding test",
    "- `admin/refund_form.tsx`\n- `admin/api/refunds.py`",
    "- And two partial refunds of one line?",
)
_PERMISSIONS = _capsule(
    "Who may refund is a role, and every refund says who did it.",
    "Roles are read from the directory each morning. The audit table is written in the same transaction.",
    "- Two roles: up to 100 €, and any amount with a second person",
    "- Show the second person what they approve",
    "- `admin/permissions.py`",
    "None.",
)
_SEARCH = _capsule(
    "Support finds an order by anything a customer says.",
    "Order number, mail address and the last four digits work. Names with accents do not yet.",
    "- One box, no field to choose\n- Results by time, not by score",
    "- Fold accents on both sides",
    "- `admin/search/`",
    "- May support search by amount?",
)
_INSTALLER = _capsule(
    "A new colleague has everything running within ten minutes.",
    "One line installs it on Linux and macOS; tried on five clean machines.",
    "- One script, readable, 90 lines\n- It changes nothing outside of its folder without asking",
    "1. Say how to take it away again",
    "- `install/install.sh`\n- `install/test_install.py`",
    "- Do we need to sign it?",
)
_LOGGING = _capsule(
    "A request can be followed through all services, and no log holds a customer's data.",
    "Ids are passed on by all nine services. The scan for mail addresses found none for ten days.",
    "- One id per request, made at the edge\n- What may be logged is a list; the rest is dropped",
    "- Move the last two services off the old library",
    "- `platform/logging/`\n- `platform/scan.py`",
    "None.",
)
_DEPLOYS = _capsule(
    "Deploys are small, dull and can be taken back in a minute.",
    "Eleven deploys a day. Taking one back took 48 s in the last drill.",
    "- Migrations go first and work with both versions\n- No deploys after 16:00 on Fridays",
    "1. Drill taking back a migration",
    "- `deploy/roll.py`",
    "- Who may override the Friday rule?",
)
_FLAGS = _capsule(
    "A flag has an owner and an end.",
    "31 flags, 9 of them past their end. Owners are mailed on Mondays.",
    "- A flag without an end does not pass the checks",
    "- Remove `new_checkout` and its 14 branches",
    "- `flags/registry.toml`",
    "None.",
)

_STORED = (
    (1490, PLATFORM, "deploys", "Small, dull deploys", _DEPLOYS, "codex", ("deploys",)),
    (1440, SHOP, "webhooks", "Every event once", _WEBHOOKS, "claude-code", ("payments", "webhooks")),
    (1300, PLATFORM, "logging", "One id through nine services", _LOGGING, "claude-code", ("logging", "privacy")),
    (1180, ADMIN, "order-search", "Find any order", _SEARCH, "gemini", ("support", "search")),
    (1010, SHOP, "session-store", "Where sessions live", _SESSIONS, "claude-code", ("auth",)),
    (840, PLATFORM, "flags", "Flags that end", _FLAGS, "codex", ("flags",)),
    (700, ADMIN, "permissions", "Who may refund", _PERMISSIONS, "claude-code", ("refunds", "support")),
    (520, SHOP, "rounding", "Cents that add up", _ROUNDING, "codex", ("payments", "money")),
    (430, SHOP, "ci-speed", "CI from 14 to 6 minutes", _CI, "codex", ("ci",)),
    (330, ADMIN, "refund-form", "The refund form", _FORM, "claude-code", ("refunds", "support")),
    (170, SHOP, "gift-cards", "Gift cards", _GIFT_CARDS, "gemini", ("payments",)),
    (121, SHOP, "refunds", "Refunds: partial amounts", _REFUNDS, "claude-code", ("payments", "refunds")),
    (54, PLATFORM, "installer", "One-line installer", _INSTALLER, "claude-code", ("onboarding",)),
)


def lines() -> list[Line]:
    """The capsules, and how the one on refunds grew."""
    stored = [
        Line(
            hours_ago,
            "capsule_store",
            workspace=workspace,
            name=name,
            title=title,
            capsule_text=text,
            source=source,
            tags=list(tags),
            phase="implement",
            role="engineer",
            allow_thin=name == "gift-cards",
        )
        for hours_ago, workspace, name, title, text, source, tags in _STORED
    ]
    return [*stored, *_grown()]


def _grown() -> list[Line]:
    refunds = {"workspace": SHOP, "name": "refunds"}
    return [
        Line(
            75,
            "capsule_update",
            **refunds,
            title="Refunds: partial amounts and retries",
            tags=["payments", "refunds", "support"],
        ),
        Line(
            5,
            "capsule_append",
            **refunds,
            section="Open questions",
            content="- Who is told when the reconciliation finds a difference?",
        ),
        Line(6, "capsule_append", workspace=SHOP, name="session-store", section="Next actions", content="3. Mail once"),
        Line(
            900, "capsule_store", workspace=SHOP, name="redis", title="Sessions in Redis", capsule_text=_SESSIONS,
            source="claude-code", tags=["auth"],
        ),
        Line(890, "capsule_delete", workspace=SHOP, name="redis"),
    ]  # fmt: skip
