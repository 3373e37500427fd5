"""Records: submit payloads with provenance; retrieve records, entities and timelines."""

from __future__ import annotations

from moss_memory.errors import MossError, next_call
from moss_memory.registry.argument_types import Annotated, Any
from moss_memory.registry.arguments import SearchMode, Workspace
from moss_memory.registry.budget import truncate_page
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import is_semantic, operation
from moss_memory.registry.responses import (
    BAD_FILE,
    BOUNDED_PAGINATION,
    HINT,
    SEARCH_REMARKS,
    flag,
    integer,
    list_of,
    text,
)
from moss_memory.rows.names import DEFAULT_WORKSPACE, normalize_label
from moss_memory.rows.times import instant_us

from .capabilities import combine, registry_of
from .entity_ids import canonical
from .record_queries import (
    ENTITY_COLUMNS,
    EVENT_COLUMNS,
    EVENT_TABLES,
    LIMIT_MAX,
    entity_response,
    equality_conditions,
    event_response,
    matching_entities,
    record_filters,
    select_page,
    value_hint,
)
from .record_responses import CAPABILITY, ENTITY, EVENT, RECORD, SOME_PAGE
from .submission import Submission, errors_in_provenance, first_answer, sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction

CapabilityId = Annotated[
    str,
    (
        "neotoma:store_X:v1, X: feature_unit, release, agent_decision, architectural_decision, agent_session, "
        "validation_result, codebase_entity"
    ),
]
OneCapability = Annotated[str, "only this one"]
Body = Annotated[dict[str, Any], "its fields (`record_capabilities`), e.g. decision, rationale, timestamp"]
Provenance = Annotated[
    dict[str, Any],
    {
        "properties": {
            "source_refs": {"type": "array", "items": {"type": "string"}},
            "extracted_at": {"type": "string"},
            "extractor_version": {"type": "string"},
            "agent_id": {"type": "string"},
            "unmapped": {"type": "object"},
        },
        "additionalProperties": False,
    },
    "where it comes from",
]
ClientRequestId = Annotated[str, "repeats with it change nothing"]
RecordType = Annotated[str, "e.g. feature_unit"]
Properties = Annotated[dict[str, Any], 'fields must equal or contain, e.g. {"status": "planning"}']
SearchTerms = Annotated[str | list[str], {"type": ["array", "string"]}, "words; any may match"]
RecordIds = Annotated[list[str], "payload_ids"]
IncludeTotal = Annotated[bool, "also how many match"]
RecordLimit = Annotated[int, {"minimum": 1}, "most rows"]
RecordOffset = Annotated[int, {"minimum": 0}, "rows to skip"]
EntityType = Annotated[str, "e.g. release"]
IncludeSnapshots = Annotated[bool, "with their known fields"]
IncludeProvenance = Annotated[bool, "with the source of each field"]
Relations = Annotated[bool, "also `references` and `referenced_by`"]
Moment = Annotated[str, "ISO 8601 date or time"]
EventType = Annotated[str, "e.g. feature_unit.created"]
RecordId = Annotated[str, "payload_id that reported it"]
EntityId = Annotated[str, "id of an entity"]

RECOVERY_MAX_CHARS = 4000


def as_read_error(error: MossError) -> MossError:
    """Return an error of a reading tool with the codes of this family."""
    return _translate(error, "DB_QUERY_FAILED")


def as_write_error(error: MossError) -> MossError:
    """Return an error of a writing tool with the codes of this family."""
    return _translate(error, "DB_INSERT_FAILED")


def _translate(error: MossError, storage_code: str) -> MossError:
    code, details = error.code, error.details
    if code in ("INVALID_REQUEST", "AMBIGUOUS_ADDRESSING", "TEXT_TOO_LARGE"):
        code = "VALIDATION_ERROR"
    elif code.startswith("STORAGE_") or code == "NOT_A_STORE":
        details = {**(details or {}), "storage_code": code}
        code = storage_code
    else:
        return error
    return MossError(code, error.message, details=details, recovery=error.recovery)


def _explain(error: MossError) -> MossError:
    """Return an error of `submit_payload`; one about its arguments recommends the list of capabilities."""
    translated = as_write_error(error)
    if translated.code == "VALIDATION_ERROR" and translated.recovery is None:
        reason = "shows the kinds of records, their fields and an example"
        translated.recovery = next_call("record_capabilities", {}, reason)
    return translated


def _propose_capability(tool: str, values: dict[str, Any], error: MossError) -> dict[str, Any] | None:
    """Return the same call with the nearest capability, or the call that lists the capabilities."""
    if error.code != "UNKNOWN_CAPABILITY":
        return None
    like = (error.details or {}).get("nearest")
    arguments = {**values, "capability_id": like}
    if like is None or len(canonical(arguments)) > RECOVERY_MAX_CHARS:
        return next_call("record_capabilities", {}, "lists the kinds of records, with fields and examples")
    return next_call(tool, arguments, "is the same call with the nearest capability")


def _describe_submission(answer: dict[str, Any], _: dict[str, Any]) -> str:
    if answer["created"]:
        return "Recorded as {payload_id}."
    return "{payload_id} was recorded before; this is one more observation of it."


@operation(
    mutates=True,
    scan_secrets=True,
    translate_error=_explain,
    recovery_call=_propose_capability,
    answers={
        "payload_id": text("id of the record"),
        "payload_content_id": text("a hash of the content"),
        "payload_submission_id": text("id of this submission"),
        "created": flag("whether the content is new"),
        "message": text("the result, in a sentence"),
        "entity_id": text("its entity"),
        "workspace": text("namespace"),
    },
    cli=Cli("record submit", sentence=_describe_submission),
    example="moss record submit neotoma:store_agent_decision:v1 --body @decision.json",
    words=(
        "record a fact, structured record, feature unit, release, session, provenance, log a decision as a "
        "record, submit, fact with its source, months later, store a fact, log a release, record a decision for "
        "later, validation result, codebase entity, submit a record, store a fact with its source, record a "
        "release, record a feature, log that a version was released, write a record, record a validation, save a "
        "fact, add a fact, record where it came from"
    ),
)
def submit_payload(
    tx: Transaction,
    *,
    capability_id: CapabilityId,
    body: Body,
    provenance: Provenance | None = None,
    client_request_id: ClientRequestId | None = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> dict[str, Any]:
    """Record a fact with its source: feature unit, release, decision, session, validation, component."""
    capability = registry_of(tx.config.home).find(capability_id)
    errors = [*capability.errors_in(body), *errors_in_provenance(provenance or {})]
    if errors:
        arguments = {
            "capability_id": capability_id,
            "body": capability.complete(body, errors),
            "provenance": provenance,
            "client_request_id": client_request_id,
            "workspace": workspace,
            "allow_secrets": tx.config.allow_secrets or None,
        }
        arguments = {name: value for name, value in arguments.items() if value is not None}
        error = combine(errors)
        if len(canonical(arguments)) > RECOVERY_MAX_CHARS:
            capability_key = {"capability_id": capability_id}
            error.recovery = next_call("record_capabilities", capability_key, "shows the fields of this capability")
        else:
            reason = "the same call with all its fields; replace each (fill in: …)"
            error.recovery = next_call("submit_payload", arguments, reason)
        raise error
    submission = Submission(tx, capability, body, provenance or {}, workspace)
    request = normalize_label(client_request_id, what="client_request_id")
    again = None if request is None else tx.row(sql["request"], {**submission.key, "client_request_id": request})
    if again is not None:
        tx.skip_event()
        return first_answer(again, submission.content_id, str(request))
    return submission.write(request)


def _is_semantic_search(arguments: Any) -> bool:
    return is_semantic("both")(arguments) and arguments.get("search") is not None


@operation(
    idempotent=True,
    slow_if=_is_semantic_search,
    slow_when_large=True,
    translate_error=as_read_error,
    answers={
        "records": list_of(RECORD, "the records, best match or newest first", shown="answer"),
        "pagination": SOME_PAGE,
        "total_count": integer("how many match, if asked for", optional=True),
        **SEARCH_REMARKS,
        **HINT,
    },
    cli=Cli("record find"),
    example="moss record find 'token rotation' --type agent_decision",
    words=(
        "find records, facts, look up submitted records, filter by property, query records, search facts, "
        "decisions on record, find submissions, find facts, search records, which facts were submitted, list "
        "records, records about a topic, original submissions, look up a fact, records of a type"
    ),
)
def retrieve_records(
    tx: ReadTransaction,
    *,
    type: RecordType | None = None,
    properties: Properties | None = None,
    search: SearchTerms | None = None,
    search_mode: SearchMode = "both",
    limit: RecordLimit = 100,
    offset: RecordOffset = 0,
    ids: RecordIds | None = None,
    include_total_count: IncludeTotal = False,
    workspace: Workspace | None = None,
) -> dict[str, Any]:
    """Find payloads as submitted, outdated ones too, by type, property, words, meaning; now: `retrieve_entities`."""
    filters = record_filters(tx, type, properties, ids, workspace)
    most = min(limit, LIMIT_MAX)
    terms = [search] if isinstance(search, str) else search
    if terms is None:
        answer = filters.list_newest(tx, most, offset, count=include_total_count)
    else:
        answer = filters.search(tx, terms, search_mode, most, offset, count=include_total_count)
    return answer if answer["records"] else {**answer, **value_hint(tx, type, properties)}


@operation(
    idempotent=True,
    translate_error=as_read_error,
    answers={
        "entities": list_of(ENTITY, "the entities, newest first", shown="answer"),
        "pagination": BOUNDED_PAGINATION,
        **HINT,
    },
    cli=Cli("record entities"),
    example="moss record entities --entity-type feature_unit",
    words=(
        "current state of an entity, what is known about, what is planned now, snapshot, feature status, as of a "
        "date, planned, roadmap, latest state, properties, status of a feature, current facts, entity, what do we"
        " know about, current state of a feature, which features are planned, list entities, state of a release, "
        "what is true now, status of features, state at a date, list feature units, which releases are there, "
        "latest version of a component"
    ),
)
def retrieve_entities(
    tx: ReadTransaction,
    *,
    entity_type: EntityType | None = None,
    properties: Properties | None = None,
    limit: RecordLimit = 100,
    offset: RecordOffset = 0,
    include_snapshots: IncludeSnapshots = True,
    include_provenance: IncludeProvenance = False,
    relations: Relations = False,
    as_of: Moment | None = None,
    entity_id: EntityId | None = None,
    workspace: Workspace | None = None,
) -> dict[str, Any]:
    """List what is true now (or at `as_of`) of feature units, releases, decisions …, each once, newest first."""
    upto = None if as_of is None else instant_us(as_of, what="as_of", end_of_day=True)
    conditions, values = equality_conditions(workspace, (("type", entity_type), ("entity_id", entity_id)))
    if upto is not None:
        conditions.append(
            "exists (select 1 from observations o where o.entity_row = entities.row_id and o.observed_us <= :upto)"
        )
        values["upto"] = upto
    if properties:
        conditions.append(tx.sql_in("row_id", "matching"))
        values["matching"] = matching_entities(tx, conditions[:-1], values, entity_type, properties, upto)
    rows, pagination = select_page(
        tx, ENTITY_COLUMNS, {"entities": ""}, conditions, values, "row_id desc", limit, offset
    )
    entities = [entity_response(tx, row, upto, include_snapshots, include_provenance) for row in rows]
    if relations:
        from .entity_relations import relations_of

        entities = [{**entity, **relations_of(tx, row, upto)} for entity, row in zip(entities, rows, strict=True)]
    entities, pagination = truncate_page(entities, pagination, tx.config.page_max_chars)
    hint = {} if entities else value_hint(tx, entity_type, properties)
    return {"entities": entities, "pagination": pagination, **hint}


@operation(
    idempotent=True,
    translate_error=as_read_error,
    answers={
        "events": list_of(EVENT, "what happened, newest first", shown="answer"),
        "pagination": BOUNDED_PAGINATION,
        **HINT,
    },
    cli=Cli("record timeline", completes="render.record_view.with_titles"),
    example="moss record timeline --after-date 2025-12-01",
    words=(
        "timeline, what happened when, chronology, events in a period, between two dates, last month, history of "
        "events, dates, calendar, when did it happen, sequence of events, what happened in a month, events "
        "between two dates, show the timeline, what events were there, when was it released, events of a feature,"
        " history of releases, what happened in March, sequence of releases"
    ),
)
def list_timeline_events(
    tx: ReadTransaction,
    *,
    event_type: EventType | None = None,
    after_date: Moment | None = None,
    before_date: Moment | None = None,
    source_record_id: RecordId | None = None,
    entity_id: EntityId | None = None,
    entity_type: EntityType | None = None,
    limit: RecordLimit = 100,
    offset: RecordOffset = 0,
    workspace: Workspace | None = None,
) -> dict[str, Any]:
    """List dated events of records (created, recorded, released …), newest first; bounds are inclusive."""
    conditions, values = equality_conditions(workspace, (("event_type", event_type),), table="t.")
    for bound, moment, compare in (("after_date", after_date, ">="), ("before_date", before_date, "<=")):
        if moment is not None:
            conditions.append(f"t.at_us {compare} :{bound}")
            values[bound] = instant_us(moment, what=bound, end_of_day=compare == "<=")
    for column, value in (("r.payload_id", source_record_id), ("e.entity_id", entity_id), ("e.type", entity_type)):
        if value is not None:
            name = column.replace(".", "_")
            conditions.append(f"{column} = :{name}")
            values[name] = value
    if entity_id is not None and workspace is not None:
        conditions.append("e.workspace_norm = :workspace")  # so that the planner starts with the entity
    order = "t.at_us desc, t.row_id desc"
    rows, pagination = select_page(tx, EVENT_COLUMNS, EVENT_TABLES, conditions, values, order, limit, offset)
    events, pagination = truncate_page([event_response(row) for row in rows], pagination, tx.config.page_max_chars)
    return {"events": events, "pagination": pagination}


@operation(
    idempotent=True,
    has_budget=True,
    translate_error=as_read_error,
    recovery_call=_propose_capability,
    answers={
        "capabilities": list_of(CAPABILITY, "the capabilities, by id", shown="answer"),
        "problems": list_of(BAD_FILE, "files without a capability", optional=True),
    },
    example="moss record capabilities",
    words=(
        "what can be recorded, kinds of records, which fields does a record need, record schema, example of a "
        "record, required fields, allowed values, record types, formats of payloads, what can I submit, fields of"
        " a record, types of records, which facts can be recorded, example of a payload, how must a record look, "
        "capabilities"
    ),
)
def record_capabilities(
    tx: ReadTransaction, *, capability_id: OneCapability | None = None, budget: Budget
) -> dict[str, Any]:
    """Show what `submit_payload` takes: each capability with its fields, their values and an example body."""
    registry = registry_of(tx.config.home)
    chosen = sorted(registry.capabilities) if capability_id is None else [registry.find(capability_id).capability_id]
    problems = {"problems": registry.problems} if registry.problems and capability_id is None else {}
    return budget.fit(
        [registry.capabilities[name].to_response() for name in chosen],
        lambda capabilities: {"capabilities": capabilities, **problems, "truncated": False},
    )
