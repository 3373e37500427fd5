-- What can be started, in the order in which it is given out: the first is found without sorting them all.
create index tasks_in_order on tasks (
  workspace_norm, case priority when 'high' then 0 when 'normal' then 1 else 2 end, row_id
) where status <> 'DONE' and kind = 'task';
