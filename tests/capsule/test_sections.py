"""One section parser is used by lint, append and compose."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moss_memory.tools.capsule.sections import append_to, keep_sections, missing_sections, parse_sections, same_title
from support.promises import holds

TABLE = {
    "Objective": ["Objective", "Goal", "Purpose"],
    "Current status": ["Current status", "Status", "State", "Where we are"],
    "Decisions": [
        "Decisions", "Decisions / constraints", "Decisions/constraints", "Constraints", "Choices"
    ],
    "Next actions": ["Next actions", "Next steps", "Action items", "TODO", "Tasks"],
    "Key locations": ["Key locations", "Locations", "Files", "Paths", "References"],
    "Open questions": [
        "Open questions", "Open questions / risks", "Open questions/risks", "Questions", "Risks", "Unknowns"
    ],
}  # fmt: skip
SYNONYMS = [(canonical, label) for canonical, labels in TABLE.items() for label in labels]
ALL = list(TABLE)


def titles(text: str) -> list[str]:
    return [section.title for section in parse_sections(text)]


def present(text: str) -> list[str]:
    missing = missing_sections(text)
    return [label for label in ALL if label not in missing]


@holds("1 §3.2: any synonym in any of the formats counts, in any case")
@pytest.mark.parametrize(
    "shape",
    ["# {}", "## {}", "###### {}", "## {} ##", "## {}:", "##   {}  ", "   ## {}", "## {}\r", "{}:", "{}: text",
     "**{}:** text", "**{}**: text", "  {}: x", "{}:\r"],
)  # fmt: skip
def test_any_synonym_in_any_format_and_case_is_recognized(shape: str) -> None:
    lines = {
        shape.format(spelled): canonical
        for canonical, label in SYNONYMS
        for spelled in (label, label.upper(), label.lower(), label.title())
    }
    found = {line: present(f"words before\n{line}\nwords after") for line in lines}
    assert found == {line: [canonical] for line, canonical in lines.items()}


@holds("2 §3.2: the six required sections must be there, found by header, label or JSON key")
@pytest.mark.parametrize("join", [" ", "_", "-"])
def test_json_keys_match_with_underscores_and_dashes_as_spaces(join: str) -> None:
    keys = {
        spelled.replace(" ", join): canonical for canonical, label in SYNONYMS for spelled in (label, label.upper())
    }
    found = {key: present(json.dumps({"x": 1, key: {}}, indent=2)) for key in keys}
    assert found == {key: [canonical] for key, canonical in keys.items()}


@holds("decisions §1: headings inside fenced code do not count")
@pytest.mark.parametrize(
    "text",
    [
        "Objective",
        "the Objective: x",
        "- Objective: x",
        "#Objective",
        "####### Objective",
        "    # Objective",
        "\\# Objective",
        "Objectives: x",
        "## Objectives",
        "## The objective",
        "```\n# Objective\n```",
        "```\nObjective: x\n```",
        "~~~\n# Objective\n~~~",
        "~~~text\n```\n# Objective\n```\n# Goal\n~~~",
        "````\n```\n# Objective\n```\n# Goal\n````",
        "```\n# Objective\n~~~\n# Goal\n",
        "```\n# Objective\n``` no close\n# Goal",
        "   ```\n# Objective\n   ```",
        '["Objective"]',
        '{"nested": {"Objective": 1}}',
        '{"x": "# Objective"}',
        "Goal                                                  of all this: x",
    ],
)
def test_text_that_resembles_a_section_is_not_one(text: str) -> None:
    assert present(text) == []


@holds("decisions §1: headings inside fenced code do not count")
@pytest.mark.parametrize(
    "text",
    [
        "```\ncode\n```\n# Objective",
        "```\ncode\n````\n# Objective",
        "~~~\n```\n~~~\n# Objective",
        "~~~~\n~~~\n~~~~\n# Objective",
        "``` inline ```\n# Objective",
        "```a`b\n# Objective",
        "    ```\n# Objective",
        "```\r\ncode\r\n```\r\n# Objective\r\n",
        '{not json\n"Objective": 1\n# Objective',
        "> quoted\n# Objective",
    ],
)
def test_a_heading_after_closed_or_unopened_code_is_recognized(text: str) -> None:
    assert present(text) == ["Objective"]


@holds("2 §3.2: the six required sections must be there, found by header, label or JSON key")
@pytest.mark.parametrize("text", ["## Objective\nx", "Objective: x", '{"objective": "x"}'])
def test_a_byte_order_mark_hides_no_section(text: str) -> None:
    assert "Objective" not in missing_sections(f"\ufeff{text}")


@holds("decisions §1: one parser: headings of any level, closing marks and a trailing colon ignored")
def test_a_section_after_a_byte_order_mark_has_its_position() -> None:
    text = "\ufeff## A\nx\n## B\ny"
    assert append_to(text, parse_sections(text)[0], "new") == ("\ufeff## A\nx\n\nnew\n## B\ny", False)
    assert keep_sections(text, ["A"]) == "## A\nx"


@holds("decisions §1: missing names the canonical sections in the order of the table")
def test_missing_sections_are_canonical_names_in_the_order_of_the_table() -> None:
    assert missing_sections("nothing") == ALL
    assert missing_sections("# Unknowns\n# Files\nState: x") == ["Objective", "Decisions", "Next actions"]


@holds("decisions §1: one parser: headings of any level, closing marks and a trailing colon ignored")
@pytest.mark.parametrize(
    ("heading", "title"),
    [("# A", "A"), ("###### A b ", "A b"), ("## A ##", "A"), ("## A #", "A"), ("## A#", "A#"), ("## A:", "A"),
     ("## A: ##", "A"), ("## C# ", "C#"), ("   ## A", "A"), ("#\tA", "A"), ("## A # b", "A # b")],
)  # fmt: skip
def test_levels_closing_marks_and_a_trailing_colon_are_not_part_of_a_title(heading: str, title: str) -> None:
    assert titles(f"{heading}\nbody\n") == [title]
    assert titles(f"{heading}\r\nbody\r\n") == [title]


FENCES = ["```", "````", "~~~", "~~~~", "```python", "~~~ text", "   ```", "```` "]
LINES = st.one_of(
    st.sampled_from(
        ["", " ", "text", "Objective: x", "**Status:** y", "- item", "(pending)", "TBD", "none", "---", "|a|b|"]
    ),
    st.sampled_from(FENCES),
    st.builds(
        lambda level, title, close: f"{'#' * level} {title}{close}",
        st.integers(1, 7),
        st.sampled_from(["Objective", "A", "B", "Status", "a b", "#", "", "Risks:"]),
        st.sampled_from(["", " ", " #", " ##", ":"]),
    ),
    st.text(st.sampled_from("ab#`~: \t\u00e9\u2028\x0b\x0c\x85"), max_size=8),
)
TEXTS = st.builds(
    lambda lines, newline, end: newline.join(lines) + (newline if end else ""),
    st.lists(LINES, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)


def reference_headings(text: str) -> list[tuple[int, int]]:
    """Return where headings begin and end: a simple reference implementation of the documented rules."""
    found = []
    fence: str | None = None
    start = 0
    for line in text.split("\n"):
        bare = line.rstrip("\r")
        indent = len(bare) - len(bare.lstrip(" "))
        rest = bare.lstrip(" ")
        run = len(rest) - len(rest.lstrip(rest[:1])) if rest[:1] in ("`", "~") and rest else 0
        opens = indent <= 3 and run >= 3 and not (rest[0] == "`" and "`" in rest[run:])
        if fence is not None:
            if indent <= 3 and rest[:1] == fence[0] and run >= len(fence) and not rest[run:].strip(" \t"):
                fence = None
        elif opens:
            fence = rest[0] * run
        else:
            level = len(rest) - len(rest.lstrip("#"))
            if indent <= 3 and 1 <= level <= 6 and rest[level : level + 1] in ("", " ", "\t"):
                found.append((start, start + len(line)))
        start += len(line) + 1
    return found


@holds("decisions §1: one parser: headings of any level, closing marks and a trailing colon ignored")
@given(text=TEXTS)
def test_sections_equal_those_of_the_reference(text: str) -> None:
    assert [section.start for section in parse_sections(text)] == [start for start, _ in reference_headings(text)]


@holds("decisions §1: one parser: headings of any level, closing marks and a trailing colon ignored")
@given(text=TEXTS)
def test_sections_cover_the_text_after_the_first_heading_without_overlap(text: str) -> None:
    found = parse_sections(text)
    for section, following in pairwise(found):
        assert section.start < section.body_start <= section.end == following.start
    if found:
        assert found[-1].end == len(text)
        for section in found:
            assert text[section.start : section.body_start].strip().startswith(section.heading)


@holds("decisions §1: append keeps line ends and every other byte")
@given(text=TEXTS, content=st.sampled_from(["x", "- a\n- b", "a\r\nb", "  indented"]), data=st.data())
@example(text="## A\ntext  \n\n## B\n", content="x", data=None)
@example(text="## A\n\n\n\n## B\n", content="x", data=None)
def test_an_append_changes_no_other_byte(text: str, content: str, data: st.DataObject | None) -> None:
    found = parse_sections(text)
    if not found:
        return
    index = 0 if data is None else data.draw(st.integers(0, len(found) - 1))
    section = found[index]
    after, replaced = append_to(text, section, content)
    newline = "\r\n" if "\r\n" in text else "\n"
    addition = content.replace("\r\n", "\n").replace("\n", newline)
    before_body, body, rest = text[: section.body_start], text[section.body_start : section.end], text[section.end :]
    assert after.startswith(before_body)
    assert after.endswith(rest)
    middle = after[len(before_body) : len(after) - len(rest)]
    if replaced:
        assert middle.strip() == addition.strip()
    else:
        # Whole lines are kept, including the trailing spaces of the last one.
        line_end = len(body.rstrip()) + len(body[len(body.rstrip()) :].split("\n")[0].rstrip("\r"))
        assert middle == body[:line_end] + newline * 2 + addition + body[line_end:]
    if rest:
        assert middle.endswith("\n"), "the next heading no longer starts a line"
        assert not body.endswith("\n\n") or middle.endswith("\n\n"), "the blank line before the heading is gone"


@holds("decisions §1: append keeps line ends and every other byte")
@given(text=TEXTS, data=st.data())
def test_an_append_of_plain_text_keeps_every_heading(text: str, data: st.DataObject) -> None:
    found = parse_sections(text)
    if not found:
        return
    section = data.draw(st.sampled_from(found))
    after, _ = append_to(text, section, "plain words")
    assert titles(after) == titles(text)


@holds("decisions §1: sections keeps only those sections; parts without any are named")
@given(text=TEXTS)
def test_compose_keeps_every_section_that_append_finds(text: str) -> None:
    for section in parse_sections(text):
        kept = keep_sections(text, [section.title])
        assert kept is not None
        assert text[section.start : section.end].rstrip() in kept


@holds("decisions §1: sections keeps only those sections; parts without any are named")
@given(text=TEXTS, wanted=st.lists(st.sampled_from(["a", "B", "OBJECTIVE", "status", "none such"]), min_size=1))
def test_compose_keeps_the_requested_sections_in_the_order_of_the_text(text: str, wanted: list[str]) -> None:
    names = {name.lower() for name in wanted}
    expected = [
        text[section.start : section.end].rstrip() for section in parse_sections(text) if section.title.lower() in names
    ]
    assert keep_sections(text, wanted) == ("\n\n".join(expected) if expected else None)


@holds("1 §3.2: any synonym in any of the formats counts, in any case")
@given(text=TEXTS)
def test_lint_finds_every_heading_that_append_finds(text: str) -> None:
    for section in parse_sections(text):
        for canonical, label in SYNONYMS:
            if section.title.lower() == label.lower():
                assert canonical not in missing_sections(text)


@holds("decisions §1: append and compose see the same sections, and append keeps every other line")
@pytest.mark.parametrize(
    ("text", "content", "expected"),
    [
        ("## A\n    TBD\n\n## B\nkeep\n", "```\n# note\n```", "## A\n```\n# note\n```\n\n## B\nkeep\n"),
        ("## A\n\tTBD\n", "- one\n- two", "## A\n- one\n- two\n"),
        ("## A\n  tbd  \n", "new", "## A\nnew\n"),
        ("## A\n", "y", "## A\ny\n"),
        ("## A\r\n", "y", "## A\r\ny\r\n"),
        ("## A", "y", "## A\ny"),
        ("## A\n\n\n## B\n", "y", "## A\ny\n\n\n## B\n"),
        ("## A\n## B\n", "y", "## A\ny\n\n## B\n"),
    ],
)
def test_an_append_changes_only_whole_lines(text: str, content: str, expected: str) -> None:
    assert append_to(text, parse_sections(text)[0], content)[0] == expected


@holds("decisions §1: append and compose see the same sections, and append keeps every other line")
def test_a_bold_header_and_one_given_with_its_marks_are_the_same_section() -> None:
    assert same_title("**Objective**", "objective")
    assert same_title("## Design", "Design")
    assert keep_sections("## Design\nx\n## Other\ny\n", ["## design"]) == "## Design\nx"
