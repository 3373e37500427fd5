"""Tools that return constant templates of cards and playbooks."""

from __future__ import annotations

from moss_memory.errors import MossError, next_call
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import ResponseSchema, free, object_of, text, texts
from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.reasoning.reasoning_arguments import RequiredWorkspace

from .card_model import CARD_TYPES, check_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction

CardType = Annotated[str, "type of card"]
Playbook = Annotated[str, "name of the playbook"]

_TEMPLATE = ResponseSchema(
    "CardTemplate",
    {
        "id": text("empty: a new card gets one"),
        "type": text("type of card"),
        "title": text("the statement in a line"),
        "text": text("the details to give"),
        "status": text("open"),
        "tags": texts("none yet"),
        "meta": free("none yet"),
    },
)
_PLAYBOOK = ResponseSchema("Playbook", {"goal": text("its result"), "steps": texts("the actions, in order")})

_QUESTIONS = {
    "frame": ("What the problem is, in a line", "What done means, what is out of scope, what must not break."),
    "hypothesis": ("What might be true, in a line", "Why it could be so, and what would have to be seen if it were."),
    "question": ("What is not known yet", "Why it matters and what would answer it."),
    "test": ("How the hypothesis can be shown wrong", "What to run, what result means yes, what result means no."),
    "evidence": (
        "What was seen",
        "Where it can be seen again: command, file, link. What it supports or speaks against.",
    ),
    "decision": ("What was chosen", "Which alternatives there were, why this one, what would change it."),
    "note": ("Something worth keeping", "The note itself."),
    "update": ("What changed in what was known", "What was believed before, what is known now, and since when."),
}


PLAYBOOKS: dict[str, dict[str, Any]] = {
    "default": {
        "goal": "Get from a question to a decision that others can follow.",
        "steps": [
            "Frame: write down what the problem is and what done means.",
            "Question: ask the one thing whose answer would change what you do next.",
            "Hypothesis: write down at least two answers that could be true.",
            "Test: for each, say what would show it wrong, and run the cheapest one first.",
            "Evidence: write down what was seen, with the command or link that shows it again.",
            "Decision: say what was chosen, why, and what would change it; close the question.",
        ],
    },
    "debug": {
        "goal": "Find the cause of a fault, not only a change that hides it.",
        "steps": [
            "Frame: write down the symptom exactly, and what was expected instead.",
            "Test: make it happen again with the smallest input you can find.",
            "Hypothesis: list what could cause it, the most recent change first.",
            "Test: choose the test that rules out most of the list; run it; strike out what it refutes.",
            "Evidence: show the cause by switching the symptom on and off.",
            "Decision: mend the cause, keep the small input as a test, look for the same mistake elsewhere.",
        ],
    },
    "bisect": {
        "goal": "Find the one change that brought a fault, by halving.",
        "steps": [
            "Test: write a check that says good or bad without a person looking.",
            "Evidence: show one state that is good and one that is bad.",
            "Test: check the state halfway between; it becomes the new good or bad one.",
            "Repeat until the two are next to each other.",
            "Evidence: undo only that change and see the fault go.",
            "Decision: mend or revert it, and say why it was not seen before.",
        ],
    },
    "experiment": {
        "goal": "Learn from a trial whose outcome was not decided beforehand.",
        "steps": [
            "Hypothesis: say what you expect and by how much.",
            "Frame: fix what is measured, how often, and what result means what, before looking.",
            "Test: change one thing; measure both ways side by side in one run.",
            "Evidence: write down all the numbers, those too that do not fit.",
            "Update: say what you believe now, and how sure you are.",
            "Decision: keep, drop or repeat it with a sharper question.",
        ],
    },
    "criteria_matrix": {
        "goal": "Choose between alternatives by what matters, not by what was said last.",
        "steps": [
            "Frame: name the choice and who has to live with it.",
            "Question: list the criteria; mark those that no alternative may fail.",
            "Hypothesis: list the alternatives, doing nothing among them.",
            "Evidence: for each pair say how well it does and how you know.",
            "Test: check the pair that would turn the choice around if you were wrong.",
            "Decision: choose, name the runner-up, and say when to look again.",
        ],
    },
    "contradiction": {
        "goal": "Resolve two things that cannot both be true.",
        "steps": [
            "Frame: write both statements down so that they plainly exclude each other.",
            "Evidence: for each, where it comes from and when that was last seen to hold.",
            "Question: what would have to be so for both to look true? Different versions, places, words?",
            "Test: find one observation that the two predict differently; make it.",
            "Update: reject or narrow the one that failed, and what was built on it.",
            "Decision: say what holds now, and link it to both.",
        ],
    },
}


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "type": text("type of card"),
        "supported_types": texts("all types of cards"),
        "template": object_of(_TEMPLATE, "a card to fill in"),
    },
    example="moss think template hypothesis -w shop",
    words=(
        "empty card, form, example of a card, which fields has a card, template of a card, what does a card look "
        "like, blank card, fields of a decision card, how do I write a card, skeleton"
    ),
)
def branchmind_think_template(
    tx: ReadTransaction, *, workspace: RequiredWorkspace, type: CardType, budget: Budget
) -> dict[str, Any]:
    """Show a template of a card to fill in: frame, hypothesis, question, test, evidence, decision, note, update."""
    normalize_workspace(workspace)  # refuses a blank one
    kind = check_type(type, what="type", workspace=workspace)
    title, text = _QUESTIONS[kind]
    return budget.fit(
        [{"id": "", "type": kind, "title": title, "text": text, "status": "open", "tags": [], "meta": {}}],
        lambda shown: {"type": kind, "supported_types": list(CARD_TYPES), "template": shown[0], "truncated": False},
    )


@operation(
    idempotent=True,
    has_budget=True,
    answers={"name": text("its name"), "template": object_of(_PLAYBOOK, "the goal and steps")},
    example="moss think playbook debug -w shop",
    words=(
        "how to debug, method, checklist, bisect, way to think, procedure, compare options, steps to find a bug, "
        "strategy, guide, recipe, decision matrix, how do I find the cause of a bug, how to decide between "
        "options, way to solve a problem, structured thinking, debugging method, playbook, how should I approach "
        "this, root cause analysis"
    ),
)
def branchmind_think_playbook(
    tx: ReadTransaction, *, workspace: RequiredWorkspace, name: Playbook, budget: Budget
) -> dict[str, Any]:
    """Show the steps of a thinking method: default, debug, bisect, experiment, criteria_matrix, contradiction."""
    normalize_workspace(workspace)  # refuses a blank one
    playbook = PLAYBOOKS.get(name)
    if playbook is None:
        names = ", ".join(PLAYBOOKS)
        raise MossError(
            "NOT_FOUND",
            f"there is no playbook {name[:100]!r}; there are {names}",
            details={"known": list(PLAYBOOKS)},
            recovery=next_call(
                "branchmind_think_playbook", {"workspace": workspace, "name": "default"}, f"there are {names}"
            ),
        )
    goal, steps = playbook["goal"], playbook["steps"]
    return budget.fit(
        steps, lambda shown: {"name": name, "template": {"goal": goal, "steps": shown}, "truncated": False}, least=0
    )
