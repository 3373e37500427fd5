-- Claims: the agent that works on a task or a step, until a time. Expired ones are ignored.

create table task_claims (
  row_id         integer primary key,
  task_row       integer not null,
  workspace_norm text not null,
  step_id        text not null default '',  -- empty: the whole plan or task
  agent          text not null,
  lease_s        integer not null,
  lease_until_ms integer not null
);

create unique index task_claims_by_piece on task_claims (task_row, step_id);
create index task_claims_by_agent on task_claims (workspace_norm, agent);

create trigger tasks_claims_gone after delete on tasks begin
  delete from task_claims where task_row = old.row_id;
end;

create trigger steps_claims_gone after delete on steps begin
  delete from task_claims where task_row = old.task_row and step_id = old.step_id;
end;

-- The tasks to start next, the most urgent and then the oldest first.
create index tasks_by_urgency on tasks (
  workspace_norm, (case priority when 'high' then 0 when 'normal' then 1 else 2 end), row_id
) where status <> 'DONE' and kind = 'task';
