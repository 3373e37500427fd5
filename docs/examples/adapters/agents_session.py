"""A session of the OpenAI Agents SDK in Moss: `python -m docs.examples.adapters.agents_session HOME`.

With a model it is the `session` of `Runner.run`; here the messages are scripted.
"""

from __future__ import annotations

import asyncio
import sys

from moss_memory.adapters.openai_agents import MossSession


async def main(home: str) -> list[str]:
    """Add three messages to a session, remove the last one, and read the others in a second session."""
    first = MossSession("lena", home=home)
    await first.add_items([{"role": "user", "content": text} for text in ("Hello", "Book a table", "Never mind")])
    await first.pop_item()
    first.close()
    second = MossSession("lena", home=home)
    contents = [str(item.get("content")) for item in await second.get_items(limit=10)]
    second.close()
    return contents


if __name__ == "__main__":
    print("\n".join(asyncio.run(main(sys.argv[1]))))
