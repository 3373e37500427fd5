"""A LangGraph store with persistent items: `python -m docs.examples.adapters.langgraph_store HOME`."""

from __future__ import annotations

import sys

from moss_memory.adapters.langgraph import MossStore


def main(home: str) -> list[str]:
    """Store the preferences of a user, then find them by a question and by a filter."""
    store = MossStore(home=home, ttl={"default_ttl": 60 * 24, "refresh_on_read": True})
    store.put(("users", "lena", "food"), "allergy", {"text": "Lena cannot eat peanuts", "weight": 3})
    store.put(("users", "lena", "food"), "likes", {"text": "She loves ramen", "weight": 1})
    by_query = store.search(("users", "lena"), query="peanuts", limit=1)
    by_filter = store.search(("users", "lena"), filter={"weight": {"$gte": 2}})
    texts = [item.value["text"] for item in (*by_query, *by_filter)]
    store.close()
    return texts


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1])))
