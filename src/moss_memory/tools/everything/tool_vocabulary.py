"""The vocabulary of questions about tools: compound words, synonyms, and the words for the objects of tools."""

from __future__ import annotations

import functools

from moss_memory.search.tokens import STOP_WORDS, stems_of, words_in

_COMPOUNDS = {
    "handover": "hand over, hand off, handoff, handing over, handed over, hand overs, session notes",
    "todo": "to dos, todo list, to do list",
    "whatif": "what if, what ifs",
    "subagent": "sub agent, sub agents, child agent, worker agent",
    "subtask": "sub task, sub tasks, sub step, sub steps",
    "undo": "take back, taken back, roll back, rolled back, undid, undone",
    "delete": "get rid of, throw away, throw out, thrown away, trash it",
    "restore": "bring back, brought back, get back, un delete",
    "search": "look for, look up, looked for, looking for, hunt for",
    "jot": "write down, jot down, note down, wrote down, jotted down",
    "tickoff": "check off, tick off, cross off, ticked off, checked off",
    "decompose": "break down, break up, split up, broken down, break into, split into, divide into, cut into",
    "backup": "back up, backed up, backing up",
    "initialize": "set up, setting up",
    "uptodate": "up to date, still true, still valid, still correct, still accurate, still hold, out of date",
    "forever": "for good, for ever, without a trace, no trace",
    "apikey": "api key, api keys, access key, private key",
    "merge": "bring together, put together, pull together",
    "claim": "assign to me, assign myself, dibs on",
    "json": "structured data, key value, typed data",
}
"""Phrases that count as one word."""
_PARTICLES = frozenset({"away", "back", "down", "off", "over", "up"})
_SEPARATED = 6
"""The maximum distance of a particle from its verb, as in "bring a deleted capsule back"."""
_SYNONYMS = (
    "delete remove drop discard trash",
    "erase wipe purge scrub destroy redact forget",
    "delete erase clear wipe",
    "edit change update modify alter correct adjust amend revise tweak fix rewrite",
    "load fetch open retrieve read view display print",
    "search find locate query seek grep",
    "save store persist preserve keep memorize write",
    "list enumerate browse overview inventory",
    "finish complete done conclude close tickoff",
    "merge combine join integrate unify consolidate bundle concatenate",
    "undo revert rollback reset rewind",
    "restore recover undelete revive resurrect",
    "create new add make",
    "add append insert attach extend",
    "rename retitle relabel",
    "move relocate transfer migrate",
    "claim reserve take lock grab assign book own",
    "release free unlock unclaim",
    "export backup dump download archive",
    "import ingest upload",
    "resume continue proceed",
    "compare diff difference differ versus contrast",
    "check verify validate confirm ensure",
    "history version revision changelog",
    "earlier previous older past former prior",
    "decompose split divide subtask",
    "block blocker stuck wait impediment obstacle hinder",
    "link connect relate relation relationship edge associate",
    "stale outdated obsolete uptodate drift",
    "duplicate deduplicate same identical twice redundant",
    "pin star favourite favorite",
    "secret password credential token apikey sensitive confidential",
    "decide decision choose choice chosen chose agree",
    "hypothesis theory guess assumption suspicion suspect assume",
    "evidence proof prove measurement finding",
    "note memo remark comment journal diary log jot",
    "branch fork alternative whatif variant experiment",
    "task todo ticket issue",
    "workspace project namespace repo repository",
    "colleague teammate somebody someone person successor",
    "status state progress standing",
    "expire expiry ttl lifetime expiration",
    "bulk many several multiple batch mass",
    "schema format type kind",
    "template form blank empty",
    "priority urgent urgency important",
    "timeline chronology event",
    "switch checkout",
    "label tag bookmark",
    "start begin initialize",
    "result output finding",
    "thought idea thinking reasoning",
    "latest last newest recent",
)
"""Words with nearly the same meaning in a question; a word may be in several lines."""
_OBJECTS = {
    "capsule": "capsule handover",
    "artifact": "artifact json",
    "branch": "branch fork whatif",
    "note": "note journal diary",
    "card": "card hypothesis hypotheses question decision evidence",
    "task": "task ticket todo plan backlog",
    "step": "step subtask",
    "graph": "graph node edge",
    "conflict": "conflict",
    "record": "fact",
    "workspace": "workspace project",
}
"""The objects of tools, each with the words for it."""
_GENERAL_WORDS = """
    another anything ask every everything get give go keep let look make more need new now old one other please put say
    see set several show something start take tell thing together two use want work
"""
"""Words of many questions that say little about the tool, although few tools have them."""

_QUESTION_WORDS = frozenset({"how", "what", "when", "where", "which", "who", "whose", "why"})
_PAST_VERBS = frozenset({"did", "had", "has", "have", "was", "were"})
_PRESENT_VERBS = frozenset({"do", "does"})
"""A question with one of these is about the present, also with `have`: "which … do we have"."""
_EXISTENCE_WORDS = frozenset({"exist", "have", "there"})
_ASKING_VERBS = frozenset({"am", "are", "did", "does", "had", "has", "have", "is", "was", "were"})
"""The verbs that begin a question which is answered with yes or no."""
_POLITE_WORDS = "a able can could do help how i let like me might must need please should to us want way we would you"
"""The words before the verb of a request, as in "how can I …" and "I want to …"."""
_READING_VERBS = """
    browse compare count display enumerate explain fetch find grep list load locate look print query read recall remind
    resume retrieve search see show tell view watch
"""
_WRITING_VERBS = """
    abandon accept add append apply approve archive assign attach back block book bring cancel capture change claim
    clean clear close combine commit complete confirm connect copy correct create decompose delete discard divide
    document drop edit empty erase extend finish fix forget fork free import initialize insert invent join jot link lock
    make mark merge modify move note open pause persist pin postpone prolong purge put reassign record redact register
    reject release relabel remember remove rename reopen replace reserve reset resolve restore revert rewrite roll save
    schedule scrub set settle split star start stop store submit supersede switch tag take tickoff touch transfer
    unblock undelete undo unpin update wipe write
"""


def asks_about_the_past(words: list[str]) -> bool:
    """Return True if a question is about stored content and not about an action, as "why did we …"."""
    first, *tail = words or [""]
    if not _PRESENT_VERBS.isdisjoint(tail):
        return False
    return first in _PAST_VERBS or (first in _QUESTION_WORDS and not _PAST_VERBS.isdisjoint(tail))


def asks_for_a_list(words: list[str]) -> bool:
    """Return True if a question asks for a list, as "which … do we have"."""
    return words[:1] in (["what"], ["which"]) and not _EXISTENCE_WORDS.isdisjoint(words)


def asks_to_read(words: list[str], stems: list[str]) -> bool | None:
    """Return True if a question asks for stored content, False if it asks to write, None if it asks for neither."""
    if not words:
        return None
    polite, reading, writing = _verb_stems()
    asks = words[0] in _QUESTION_WORDS or words[0] in _ASKING_VERBS
    position = 1 if asks else 0
    while position < len(stems) and stems[position] in polite:
        position += 1
    verb = stems[position] if position < len(stems) else ""
    if verb in writing and (position > 1 or not asks):
        return False
    if verb in reading or (asks and words[0] != "how"):
        return True
    return True if asks and position == 1 else None


def stems_in(words: list[str]) -> list[str]:
    """Return the stems of the words of a text, in order; a compound counts as one word."""
    starts = _compounds()
    if starts.keys().isdisjoint(words):
        return stems_of(words)
    joined: list[str] = []
    skipped: set[int] = set()
    for index, word in enumerate(words):
        if index in skipped:
            continue
        for tail, compound in starts.get(word, ()):
            end = index + 1 + len(tail)
            if tuple(words[index + 1 : end]) == tail:
                skipped.update(range(index + 1, end))
            elif len(tail) != 1 or tail[0] not in _PARTICLES or tail[0] not in words[index + 1 : index + _SEPARATED]:
                continue
            joined.append(compound)
            break
        else:
            joined.append(word)
    return stems_of(joined)


@functools.cache
def _compounds() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Return the compounds by their first word: the other words, and the word that they count as."""
    compounds: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for compound, phrases in _COMPOUNDS.items():
        for phrase in phrases.split(","):
            first, *tail = words_in(phrase)
            compounds.setdefault(first, []).append((tuple(tail), compound))
    for ways in compounds.values():
        ways.sort(key=lambda way: -len(way[0]))
    return compounds


@functools.cache
def synonyms() -> dict[str, frozenset[str]]:
    """Return the stems with nearly the same meaning as a stem, without itself."""
    by_stem: dict[str, set[str]] = {}
    for line in _SYNONYMS:
        stems = stems_of(line.split())
        for stem in stems:
            by_stem.setdefault(stem, set()).update(stems)
    return {stem: frozenset(alike - {stem}) for stem, alike in by_stem.items()}


@functools.cache
def concepts() -> dict[str, str]:
    """Return one stem for all stems of a line of synonyms, by which pairs of words are compared."""
    lines = [stems_of(line.split()) for line in reversed(_SYNONYMS)]  # of several lines the first one counts
    return {stem: stems[0] for stems in lines for stem in stems}


@functools.cache
def object_stems() -> dict[str, tuple[str, ...]]:
    """Return the objects that a stem is a word for."""
    objects: dict[str, tuple[str, ...]] = {}
    for name, words in _OBJECTS.items():
        for stem in stems_of(words.split()):
            objects[stem] = (*objects.get(stem, ()), name)
    return objects


@functools.cache
def stop_stems() -> frozenset[str]:
    """Return the stems of words that are too common to count."""
    return frozenset(stems_of(STOP_WORDS))


@functools.cache
def general_stems() -> frozenset[str]:
    """Return the stems of words that count little."""
    return frozenset(stems_of(_GENERAL_WORDS.split()))


@functools.cache
def _verb_stems() -> tuple[frozenset[str], ...]:
    """Return the stems of polite words, of reading verbs and of writing verbs."""
    return tuple(frozenset(stems_of(words.split())) for words in (_POLITE_WORDS, _READING_VERBS, _WRITING_VERBS))
