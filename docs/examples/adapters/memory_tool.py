"""Claude's memory tool with its files in Moss: `python -m docs.examples.adapters.memory_tool HOME`.

With a model it is one of the `tools` of `client.beta.messages.tool_runner`; here the commands are scripted.
"""

from __future__ import annotations

import sys

from moss_memory.adapters.anthropic import MossMemoryTool

SCRIPT: tuple[dict[str, object], ...] = (
    {"command": "create", "path": "/memories/shop.md", "file_text": "Retries: twice\n"},
    {"command": "str_replace", "path": "/memories/shop.md", "old_str": "twice", "new_str": "three times"},
    {"command": "view", "path": "/memories/shop.md"},
)


def main(home: str) -> list[str]:
    """Write a file, correct it and read it, as a model does."""
    tool = MossMemoryTool(home=home)
    answers = [str(tool.call(command)) for command in SCRIPT]
    tool.close()
    return answers


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1])))
