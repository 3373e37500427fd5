-- Fixed statements of reasoning. Graph queries add their filters.

-- name: take_numbers
update numbers set last = last + :count where series = :series returning last

-- name: last_number
select last from numbers where series = 'seq'

-- name: workspace
select checkout_id, exists (select 1 from branches where workspace_norm = :workspace)
from workspaces where workspace_norm = :workspace

-- name: add_workspace
insert into workspaces (workspace_norm, workspace_raw, checkout_id) values (:workspace, :raw, null)
on conflict (workspace_norm) do nothing

-- name: set_checkout
update workspaces set checkout_id = :branch_id where workspace_norm = :workspace

-- name: checkout
select b.branch_id, b.name, b.base_id, b.base_seq, b.depth, b.canonical
from workspaces w join branches b on b.branch_id = w.checkout_id
where w.workspace_norm = :workspace

-- name: branch
select branch_id, name, base_id, base_seq, depth, canonical from branches
where workspace_norm = :workspace and name = :name

-- name: branch_by_id
select branch_id, name, base_id, base_seq, depth, canonical from branches where branch_id = :branch_id

-- name: any_branch
select 1 from branches where workspace_norm = :workspace limit 1

-- name: branch_names
select name from branches where workspace_norm = :workspace order by name limit 1000

-- name: list_branches
select b.name, base.name, b.base_seq from branches b left join branches base on base.branch_id = b.base_id
where b.workspace_norm = :workspace order by b.name limit :limit

-- name: add_branch
insert into branches (branch_id, workspace_norm, name, base_id, base_seq, depth, canonical)
values (:branch_id, :workspace, :name, :base_id, :base_seq, :depth, :canonical)

-- name: rename_branch
update branches set name = :name where branch_id = :branch_id

-- name: derived_branches
select name from branches where base_id = :branch_id order by name limit 3

-- name: resets_of
select 1 from resets where branch_id = :branch_id limit 1

-- name: hide_entries
update doc_entries set hidden = :hidden
where branch_id = :branch_id and doc = :doc and seq > :after and seq <= :upto and hidden <> :hidden

-- name: family_of_branch
-- The branch and all branches derived from it.
with recursive family (branch_id) as (
  select cast(:branch_id as bigint)
  union
  select b.branch_id from family join branches b on b.base_id = family.branch_id
)
select branch_id from family

-- name: chain
-- A branch and its bases, nearest first, each with its own writes to one document. A base is older than the branch,
-- so its own cut-off is never above the cut-off that it is read with.
with recursive chain (branch_id, name, base_id, base_seq, depth, upto) as (
  select branch_id, name, base_id, base_seq, 0, 9223372036854775806 from branches where branch_id = :branch_id
  union all
  select b.branch_id, b.name, b.base_id, b.base_seq, chain.depth + 1, chain.base_seq
  from chain join branches b on b.branch_id = chain.base_id
  where chain.depth <= 32
)
select chain.branch_id, chain.name, chain.upto, d.first_seq, d.reset_seq
from chain left join documents d on d.branch_id = chain.branch_id and d.shape = :shape and d.doc = :doc
order by chain.depth

-- name: documents_of
select doc, shape, first_seq from documents where branch_id = :branch_id

-- name: touch_document
insert into documents (branch_id, shape, doc, first_seq, last_seq) values (:branch_id, :shape, :doc, :first, :last)
on conflict (branch_id, shape, doc) do update set last_seq = excluded.last_seq

-- name: note_reset
insert into documents (branch_id, shape, doc, first_seq, reset_seq) values (:branch_id, 'log', 'notes', :seq, :seq)
on conflict (branch_id, shape, doc) do update set reset_seq = excluded.reset_seq

-- name: add_entry
insert into doc_entries (
  seq, branch_id, workspace_norm, doc, written_as, title, format, meta_json, content, source_event_id, card_id, ts_ms,
  origin
) values (
  :seq, :branch_id, :workspace, :doc, :written_as, :title, :format, :meta_json, :content, :source_event_id, :card_id,
  :ts_ms, :origin
)

-- name: copy_entry
insert into doc_entries (
  seq, branch_id, workspace_norm, doc, written_as, title, format, meta_json, content, source_event_id, card_id, ts_ms,
  origin
)
select :seq, :branch_id, workspace_norm, doc, written_as, title, format, meta_json, content, :source_event_id, card_id,
  :ts_ms, origin
from doc_entries where seq = :copied

-- name: entries_before
select seq, branch_id, written_as, title, format, meta_json, content, source_event_id, ts_ms,
  (select actor from origins where origin_id = doc_entries.origin)
from doc_entries
where branch_id = :branch_id and doc = :doc and seq > :after and seq <= :upto
order by seq desc limit :limit

-- name: entries_without_cards_before
select seq, branch_id, written_as, title, format, meta_json, content, source_event_id, ts_ms,
  (select actor from origins where origin_id = doc_entries.origin)
from doc_entries
where branch_id = :branch_id and doc = :doc and seq > :after and seq <= :upto
  and (format is null or format <> 'think_card' or written_as <> 'card')
order by seq desc limit :limit

-- name: notes_before
select seq, branch_id, written_as, title, format, meta_json, content, source_event_id, ts_ms,
  (select actor from origins where origin_id = doc_entries.origin)
from doc_entries
where branch_id = :branch_id and doc = :doc and seq > :after and seq <= :upto and written_as <> 'event'
order by seq desc limit :limit

-- name: notes_after
select seq, branch_id, source_event_id from doc_entries
where branch_id = :branch_id and doc = :doc and seq > :after and seq <= :upto and written_as <> 'event'
order by seq limit :limit

-- name: steps_of
select seq, title, meta_json, case when title is null and content = :erased then 1 else 0 end from doc_entries
where branch_id = :branch_id and doc = :doc and seq > :after and seq <= :upto and written_as = 'step'
order by seq

-- name: commits_before
-- Commits written on the branch itself, including hidden ones.
select seq, title, substr(content, 1, 300), ts_ms from doc_entries
where branch_id = :branch_id and doc = :doc and seq < :before and written_as = 'note'
order by seq desc limit :limit

-- name: newest_entry
select max(seq) from doc_entries where branch_id = :branch_id and doc = :doc and seq > :after and seq <= :upto

-- name: count_entries
select count(*), max(seq) from doc_entries
where branch_id = :branch_id and doc = :doc and seq > :after and seq <= :upto

-- name: count_versions
select count(*), max(seq) from graph_versions where branch_id = :branch_id and doc = :doc and seq <= :upto

-- name: copies_of
select seq from doc_entries
where branch_id = :branch_id and doc = :doc and source_event_id = :origin and written_as <> 'event'
  and source_event_id is not null

-- name: card_entries
select title, content, meta_json, seq from doc_entries
where branch_id = :branch_id and doc = :doc and card_id = :card_id and format = 'think_card'

-- name: trace_docs_of_card
-- The documents with the entry that wrote a card, the last one written last.
select doc from doc_entries
where {branches} and card_id = :key and card_id is not null and format = 'think_card' order by seq

-- name: pins
select card_id, pinned from card_pins
where branch_id = :branch_id and doc = :doc and seq <= :upto and next_seq > :upto

-- name: supersede_pin
update card_pins set next_seq = :seq
where branch_id = :branch_id and doc = :doc and card_id = :card_id and next_seq = 9223372036854775807

-- name: add_pin
insert into card_pins (seq, branch_id, doc, card_id, pinned) values (:seq, :branch_id, :doc, :card_id, :pinned)

-- name: first_version
select min(seq) from graph_versions where branch_id = :branch_id and doc = :doc and key = :key and seq <= :upto

-- name: node_versions
select seq, key, type, title, text, status, tags_json, from_id, rel, to_id, meta_json, deleted, state, ts_ms
from graph_versions
where branch_id = :branch_id and doc = :doc and key = :key and seq <= :upto and type is not null
order by seq desc limit :limit

-- name: entry
select branch_id, doc, written_as from doc_entries where seq = :seq and workspace_norm = :workspace

-- name: last_entry
-- The newest entry of the workspace, found by the last seq of each document.
select e.seq, e.ts_ms, b.name, e.doc, e.written_as
from (
  select max(d.last_seq) as seq from branches b join documents d on d.branch_id = b.branch_id and d.shape = 'log'
  where b.workspace_norm = :workspace
) as newest
join doc_entries e on e.seq = newest.seq join branches b on b.branch_id = e.branch_id

-- name: last_task_event
select event_id, ts_ms from events where workspace = :workspace and payload is not null order by seq desc limit 1

-- name: last_reset
select own_after, reach_json from resets where branch_id = :branch_id and seq <= :upto order by seq desc limit 1

-- name: resets_before
select seq, old_seq, new_seq, message, ts_ms from resets
where branch_id = :branch_id and seq < :before order by seq desc limit :limit

-- name: add_reset
insert into resets (seq, branch_id, old_seq, new_seq, message, reach_json, own_after, ts_ms)
values (:seq, :branch_id, :old_seq, :new_seq, :message, :reach_json, :own_after, :ts_ms)

-- name: tag
select t.name, b.name, t.doc, t.seq, t.created_at_ms from tags t join branches b on b.branch_id = t.branch_id
where t.workspace_norm = :workspace and t.name = :name

-- name: list_tags
select t.name, b.name, t.doc, t.seq, t.created_at_ms from tags t join branches b on b.branch_id = t.branch_id
where t.workspace_norm = :workspace order by t.name

-- name: set_tag
insert into tags (workspace_norm, name, branch_id, doc, seq, created_at_ms)
values (:workspace, :name, :branch_id, :doc, :seq, :now_ms)
on conflict (workspace_norm, name) do update set
  branch_id = excluded.branch_id, doc = excluded.doc, seq = excluded.seq, created_at_ms = excluded.created_at_ms

-- name: delete_tag
delete from tags where workspace_norm = :workspace and name = :name

-- name: supersede
update graph_versions set next_seq = :seq
where branch_id = :branch_id and doc = :doc and key = :key and next_seq = 9223372036854775807

-- name: add_version
insert into graph_versions (
  seq, branch_id, workspace_norm, doc, key, type, title, text, status, tags_json, from_id, rel, to_id, meta_json,
  deleted, state, ts_ms, origin
) values (
  :seq, :branch_id, :workspace, :doc, :key, :type, :title, :text, :status, :tags_json, :from_id, :rel, :to_id,
  :meta_json, :deleted, :state, :ts_ms, :origin
)

-- name: add_version_tag
insert into graph_tags (branch_id, doc, tag, seq) values (:branch_id, :doc, :tag, :seq)

-- name: reconciled
select v.seq, v.key, v.type, v.title, v.text, v.status, v.tags_json, v.from_id, v.rel, v.to_id, v.meta_json, v.deleted,
  v.state, v.ts_ms
from graph_merges m join graph_versions v on v.seq = m.from_seq
where m.from_id = :from_id and m.doc = :doc and m.key = :key

-- name: reconcile
insert into graph_merges (from_id, doc, key, from_seq) values (:from_id, :doc, :key, :from_seq)
on conflict (from_id, doc, key) do update set from_seq = excluded.from_seq

-- name: own_keys
-- The present versions that the branch wrote itself, oldest first.
select seq, key from graph_versions
where branch_id = :branch_id and doc = :doc and seq > :after and next_seq = 9223372036854775807
order by seq limit :limit

-- name: conflict_state
select resolution from graph_conflicts where conflict_id = :conflict_id

-- name: reopen_conflict
update graph_conflicts set
  resolution = null, resolved_at_ms = null, created_at_ms = :now_ms, seq = :seq, from_seq = :from_seq,
  base_json = :base_json, theirs_json = :theirs_json, ours_json = :ours_json
where conflict_id = :conflict_id

-- name: supersede_conflicts
update graph_conflicts set resolution = 'superseded', resolved_at_ms = :now_ms
where from_id = :from_id and into_id = :into_id and doc = :doc and key = :key and resolution is null

-- name: add_conflict
insert into graph_conflicts (
  seq, conflict_id, workspace_norm, from_id, into_id, doc, key, from_seq, base_json, theirs_json, ours_json,
  created_at_ms
) values (
  :seq, :conflict_id, :workspace, :from_id, :into_id, :doc, :key, :from_seq, :base_json, :theirs_json, :ours_json,
  :now_ms
)

-- name: conflict
select c.conflict_id, c.key, f.name, i.name, c.doc, c.resolution, c.base_json, c.theirs_json, c.ours_json,
  c.created_at_ms, c.resolved_at_ms, c.from_id, c.into_id, c.from_seq
from graph_conflicts c
join branches f on f.branch_id = c.from_id join branches i on i.branch_id = c.into_id
where c.conflict_id = :conflict_id and c.workspace_norm = :workspace

-- name: resolve_conflict
update graph_conflicts set resolution = :resolution, resolved_at_ms = :now_ms where conflict_id = :conflict_id

-- name: open_conflict_of_branch
select conflict_id from graph_conflicts
where resolution is null and (from_id = :branch_id or into_id = :branch_id) order by seq limit 1

-- name: open_conflicts
select count(*) over (), conflict_id, key from graph_conflicts
where workspace_norm = :workspace and resolution is null order by seq limit 1

-- name: hidden_notes
select e.seq from doc_entries e
where e.hidden = 1 and e.ts_ms <= :before_ms{in_workspace} and not exists (
  select 1 from tags t where t.workspace_norm = e.workspace_norm and t.seq = e.seq)
order by e.seq

-- name: delete_hidden_note
delete from doc_entries where seq = :seq and hidden = 1

-- name: forget_last_entries
-- Set the last seq of documents whose last entry was deleted.
update documents set last_seq = (
  select max(e.seq) from doc_entries e where e.branch_id = documents.branch_id and e.doc = documents.doc)
where shape = 'log' and doc = 'notes' and last_seq is not null and not exists (
  select 1 from doc_entries e where e.seq = documents.last_seq)

-- name: tombstones
select distinct v.branch_id, v.doc, v.key from graph_versions v
where v.deleted = 1 and v.next_seq = 9223372036854775807 and v.ts_ms <= :before_ms{in_workspace}
order by v.branch_id, v.doc, v.key

-- name: base_of
select base_id from branches where branch_id = :branch_id

-- name: open_conflict_about
select 1 from graph_conflicts
where from_id = :branch_id and doc = :doc and key = :key and resolution is null limit 1

-- name: edge_at
select 1 from graph_versions
where branch_id = :branch_id and doc = :doc and deleted = 0 and next_seq = 9223372036854775807
  and (from_id = :key or to_id = :key) limit 1

-- name: delete_version_tags
delete from graph_tags where branch_id = :branch_id and doc = :doc and seq in (
  select seq from graph_versions where branch_id = :branch_id and doc = :doc and key = :key)

-- name: delete_versions
delete from graph_versions where branch_id = :branch_id and doc = :doc and key = :key

-- name: delete_merges
delete from graph_merges where from_id = :branch_id and doc = :doc and key = :key

-- name: delete_conflicts
delete from graph_conflicts where from_id = :branch_id and doc = :doc and key = :key

-- name: delete_pins
delete from card_pins where branch_id = :branch_id and doc = :doc and card_id = :key

-- name: entry_by_seq
select branch_id, doc, source_event_id from doc_entries where seq = :seq and workspace_norm = :workspace

-- name: entry_location
select w.workspace_raw, e.doc from doc_entries e join workspaces w on w.workspace_norm = e.workspace_norm
where e.seq = :seq

-- name: all_copies_of
select e.seq from doc_entries e join branches b on b.branch_id = e.branch_id
where b.workspace_norm = :workspace and e.source_event_id = :origin and e.source_event_id is not null
  and e.written_as <> 'event'
order by e.seq

-- name: copies_from_branch
-- Copies that merges made of entries of a branch, each with its original.
select e.seq, e.source_event_id from branches b join doc_entries e on e.branch_id = b.branch_id
where b.workspace_norm = :workspace and e.source_event_id >= :first and e.source_event_id < :after
  and e.written_as <> 'event'
order by e.seq

-- name: hide_entry
update doc_entries set hidden = 1 where seq = :seq and hidden = 0

-- name: show_entry
update doc_entries set hidden = 0 where seq = :seq

-- name: entry_title
select title from doc_entries where seq = :seq

-- name: entry_texts
select e.title, e.content, e.meta_json, e.written_as, b.name, b.canonical
from doc_entries e join branches b on b.branch_id = e.branch_id where e.seq = :seq

-- name: blank_entry
update doc_entries set
  title = :title, content = :erased, meta_json = case when meta_json is null then null else '{}' end,
  format = case when format in ('think_card', 'trace_step') then format end
where seq = :seq

-- name: set_entry_texts
update doc_entries set title = :title, content = :content where seq = :seq

-- name: branches_of_workspace
select branch_id from branches where workspace_norm = :workspace order by branch_id

-- name: states_of_node
-- The graphs of some branches in which a node has, or had, a state.
select distinct doc from graph_versions
where {branches} and key = :key and state = :state and type is not null order by doc

-- name: versions_of_nodes
select seq, branch_id, key, title, text, type, deleted, next_seq from graph_versions
where {branches} and doc = :doc and {keys} and type is not null order by seq

-- name: edges_at_nodes
select seq, branch_id, key, from_id, rel, to_id from graph_versions
where {branches} and doc = :doc and type is null and ({begins} or {ends}) order by seq

-- name: versions_of_key
select v.seq, v.title from branches b join graph_versions v on v.branch_id = b.branch_id and v.key = :key
where b.workspace_norm = :workspace and v.type is not null order by v.seq

-- name: entries_of_card
select seq, branch_id, doc, title, content, meta_json, source_event_id from doc_entries
where {branches} and card_id = :key and card_id is not null order by seq

-- name: blank_version
-- Runs after the tombstone, when the index no longer contains the version.
update graph_versions set
  type = case when {known_type} then type else 'erased' end, status = case when {known_status} then status end,
  title = null, text = null, tags_json = null, meta_json = null, state = '', deleted = 1
where seq = :seq

-- name: forget_version
delete from graph_versions where seq = :seq

-- name: forget_version_tags
delete from graph_tags where branch_id = :branch_id and doc = :doc and seq = :seq

-- name: titled_versions
select seq, key, type, title, text, status, tags_json, from_id, rel, to_id, meta_json, deleted, state, ts_ms,
  branch_id, next_seq
from graph_versions where {branches} and doc = :doc and key = :key and title = :title and type is not null
order by seq

-- name: put_version
insert into graph_versions (
  seq, branch_id, workspace_norm, doc, key, type, title, text, status, tags_json, from_id, rel, to_id, meta_json,
  deleted, state, ts_ms, next_seq, origin
) values (
  :seq, :branch_id, :workspace, :doc, :key, :type, :title, :text, :status, :tags_json, :from_id, :rel, :to_id,
  :meta_json, :deleted, :state, :ts_ms, :next_seq, :origin
)

-- name: conflict_states
select seq, base_json, theirs_json, ours_json from graph_conflicts where {branches} and doc = :doc and key = :key

-- name: set_conflict_states
update graph_conflicts set base_json = :base_json, theirs_json = :theirs_json, ours_json = :ours_json where seq = :seq

-- name: event_payload
select payload from events where event_id = :event_id and payload is not null

-- name: set_event_payload
update events set payload = :payload where event_id = :event_id and payload is not null

-- name: graphs_that_show
select v.branch_id, v.doc from branches b join graph_versions v on v.branch_id = b.branch_id
where b.workspace_norm = :workspace and v.key = :key and v.type is not null and v.deleted = 0
  and v.next_seq = 9223372036854775807 and (v.title is null or v.title <> :title)
order by v.seq

-- name: blank_old_versions
-- For plans, tasks and steps: type, status and path contain no text of callers and remain.
update graph_versions set title = null, text = null, tags_json = null, state = ''
where key = :key and type is not null and (next_seq < 9223372036854775807 or deleted = 1)
  and branch_id in (select branch_id from branches where workspace_norm = :workspace)

-- name: forget_conflicts_of_key
delete from graph_conflicts where workspace_norm = :workspace and key = :key

-- name: nodes_in_document
-- The present and former nodes of a document on some branches, without plans, tasks and steps.
select distinct doc, key from graph_versions
where {branches} and {doc} and type is not null
  and not (key >= 'task:' and key < 'task;') and not (key >= 'step:' and key < 'step;')
order by doc, key
