-- Every statement on records that has one fixed form. Reads add their filters.

-- name: request
select content_id, answer_json from observations
where workspace_norm = :workspace and client_request_id = :client_request_id

-- name: record
select row_id from records where workspace_norm = :workspace and content_id = :content_id

-- name: add_record
insert into records (
  workspace_norm, workspace_raw, payload_id, content_id, capability_id, type, entity_row, body_json, sets_json, title,
  search_text, created_at_ms, updated_at_ms
) values (
  :workspace, :workspace_raw, :payload_id, :content_id, :capability_id, :type, :entity_row, :body_json, :sets_json,
  :title, :search_text, :now_ms, :now_ms
) returning row_id

-- name: touch_record
update records set updated_at_ms = greatest(updated_at_ms, :now_ms) where row_id = :record_row

-- name: add_property
insert into record_properties (name, value, row_id) values (:name, :value, :record_row) on conflict do nothing

-- name: entity
select row_id, snapshot_json, sources_json, observation_count, last_observed_us, last_content_id, last_submission
from entities where workspace_norm = :workspace and entity_id = :entity_id

-- name: add_entity
insert into entities (
  workspace_norm, workspace_raw, entity_id, type, snapshot_json, sources_json, observation_count, last_observed_us,
  last_content_id, last_submission
) values (:workspace, :workspace_raw, :entity_id, :type, '{}', '{}', 0, :observed_us, '', '') returning row_id

-- name: change_entity
update entities set
  snapshot_json = :snapshot_json, sources_json = :sources_json, observation_count = :observation_count,
  last_observed_us = :observed_us, last_content_id = :content_id, last_submission = :submission_id
where row_id = :entity_row

-- name: add_observation
insert into observations (
  workspace_norm, entity_row, record_row, submission_id, observed_us, content_id, agent_id, source_refs_json,
  extractor_version, unmapped_json, client_request_id, answer_json, arrived_at_ms
) values (
  :workspace, :entity_row, :record_row, :submission_id, :observed_us, :content_id, :agent_id, :source_refs_json,
  :extractor_version, :unmapped_json, :client_request_id, :answer_json, :now_ms
)

-- name: observations
select r.body_json, r.sets_json, o.submission_id from observations o join records r on r.row_id = o.record_row
where o.entity_row = :entity_row and o.observed_us <= :upto
order by o.observed_us, o.content_id, o.submission_id

-- name: last_observation
select observed_us, content_id, submission_id from observations where entity_row = :entity_row
order by observed_us desc, content_id desc, submission_id desc limit 1

-- name: provenance
select o.submission_id, r.payload_id, o.observed_us, o.agent_id, o.source_refs_json, o.extractor_version,
  o.unmapped_json
from observations o join records r on r.row_id = o.record_row
where {chosen}

-- name: add_event
insert into timeline_events (workspace_norm, workspace_raw, event_id, event_type, at_us, entity_row, record_row)
values (:workspace, :workspace_raw, :event_id, :event_type, :at_us, :entity_row, :record_row)
on conflict (workspace_norm, event_id) do nothing

-- name: record_by_payload
select row_id, entity_row, workspace_norm from records where payload_id = :payload_id

-- name: count_observations
select count(*) from observations where record_row = :record_row and entity_row = :entity_row

-- name: record_text
select search_text from records where row_id = :record_row

-- name: delete_properties
delete from record_properties where row_id = :record_row

-- name: delete_events
delete from timeline_events where record_row = :record_row

-- name: delete_observations
delete from observations where entity_row = :entity_row and record_row = :record_row

-- name: delete_record
delete from records where row_id = :record_row

-- name: delete_entity
delete from entities where row_id = :entity_row

-- name: records_of_entity
select r.row_id, r.capability_id, e.entity_id, r.workspace_norm, r.workspace_raw, r.body_json
from observations o join records r on r.row_id = o.record_row join entities e on e.row_id = o.entity_row
where o.entity_row = :entity_row
group by r.row_id, r.capability_id, e.entity_id, r.workspace_norm, r.workspace_raw, r.body_json order by r.row_id

-- name: superseded
-- Those of these records after which another content was submitted for their entity.
select r.payload_id from records r join entities e on e.row_id = r.entity_row
where {chosen} and e.last_content_id <> r.content_id

-- name: spellings
-- The values of one field in the records of an entity.
select distinct p.value from records r join record_properties p on p.row_id = r.row_id
where r.entity_row = :entity_row and p.name = :name

-- name: referrers
-- The entities with a record of which one of these fields has one of these values.
select distinct r.entity_row from record_properties p join records r on r.row_id = p.row_id
where {fields} and {forms} and r.workspace_norm = :workspace and r.entity_row <> :entity_row
