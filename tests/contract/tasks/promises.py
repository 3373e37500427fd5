"""What the documents promise of plans and tasks, each with the tests that hold it.

Written like `contract/requirements.py`; `test_task_requirements.py` holds promises and tests together.
"""

from __future__ import annotations

PROMISES = """
decisions §4 and §7: the family has twenty tools, and every mutation among them makes an event
    test_every_mutating_tool_is_part_of_the_life_below
decisions §0: task tools require a workspace
    test_task_tools_require_a_workspace_that_is_a_name
decisions §4 create: a plan PLAN-001 or a task TASK-001; numbers count per workspace, TASK-1000 after TASK-999
    test_plans_and_tasks_are_numbered_each_for_themselves
    test_numbers_count_per_workspace
    test_task_1000_comes_after_task_999
decisions §4 create: title, description, priority, tags, optional steps
    test_a_new_task_is_shown_as_it_was_given
    test_a_new_task_has_normal_priority_no_tags_and_no_parent
    test_titles_and_descriptions_may_be_as_long_as_their_limits
    test_a_task_that_is_wrong_in_one_part_is_not_made
decisions §0: a wrong type is refused with the path of the bad value
    test_a_bad_part_of_a_step_is_named_by_its_path
decisions §4 create: the parent of a task is a plan, and one that is not done
    test_the_parent_of_a_task_is_a_plan_that_is_not_done
decisions §4: tasks_create also bootstraps main
    test_creating_a_task_makes_main_and_checks_it_out
    test_creating_a_task_leaves_the_checkout_where_it_is
shapes tasks: every mutation answers id, kind, revision, event and the step it is about
    test_a_new_task_answers_its_id_kind_revision_and_event
    test_a_step_is_named_by_its_id_or_by_its_path
decisions §4: revisions start at 1 and rise by one per write
    test_a_mutation_raises_the_revision_of_its_target_by_one
decisions §4: an expected_revision that does not match is VERSION_MISMATCH
    test_a_mutation_for_another_revision_is_a_mismatch
    test_a_new_task_is_expected_at_revision_0
    test_revisions_are_checked_through_every_door
decisions §4 list: plans and tasks by kind, status, parent and tag
    test_lists_filter_by_kind_status_parent_and_tag
    test_a_listed_task_has_the_promised_fields
decisions §0: lists are paged, every row exactly once, limits are clamped
    test_pages_of_a_list_show_every_task_exactly_once
    test_the_limit_of_a_list_is_clamped_and_shown_and_never_below_1
decisions §4 edit: title, description, priority, tags, depends_on, contract (plans)
    test_an_edit_changes_what_is_given_and_nothing_else
    test_empty_values_clear_what_they_may_clear
    test_an_edit_must_change_something_that_is_there
    test_only_plans_have_a_contract_and_it_is_an_object
    test_dependencies_are_other_tasks_and_never_a_circle
    test_a_circle_through_what_a_plan_holds_is_one_too
    test_what_depends_on_its_own_plan_does_not_wait_for_it
    test_a_refused_edit_changes_no_other_field
decisions §4 decompose: adds steps, a tree with ids and paths, each with criteria, tests and blockers
    test_steps_form_a_tree_with_ids_and_paths
    test_steps_read_in_the_order_of_their_numbers_also_beyond_ten
    test_a_plan_may_have_steps_too
    test_a_step_has_criteria_tests_and_blockers
    test_all_steps_of_a_call_are_added_or_none
    test_what_is_done_takes_no_new_steps
decisions §4: step ids and path indices are never used again
    test_step_ids_and_path_indices_are_never_used_again
shapes tasks: a step is step_id or path
    test_a_step_that_is_named_twice_or_not_there_is_refused
decisions §4 define: changes one step
    test_a_step_may_be_defined_anew_in_any_of_its_fields
    test_a_definition_must_say_something_and_not_of_a_done_step
    test_changed_criteria_or_tests_take_their_confirmation_back
decisions §4 note: a progress note, mirrored into the notes document
    test_a_note_is_mirrored_into_the_notes_of_the_target
    test_a_note_says_something_and_may_be_added_to_what_is_done
decisions §4 verify: confirms checkpoints of a step
    test_there_are_five_checkpoints_and_each_is_true_or_false
    test_a_confirmation_may_be_taken_back
decisions §4 and §10 done: closes a step, refused until what the step defines is confirmed
    test_a_step_closes_only_when_criteria_and_tests_are_confirmed
    test_closing_a_step_asks_for_what_the_step_defines
    test_the_refusal_names_what_to_check_and_the_checkpoints_to_add
    test_done_without_a_step_leads_to_the_only_open_one
decisions §10: on a task without steps tasks_done names tasks_complete
    test_done_without_steps_leads_to_complete
    test_a_task_whose_steps_are_all_closed_is_completed_as_a_whole
    test_a_step_may_be_confirmed_and_closed_in_one_call
    test_a_refused_close_keeps_not_even_the_confirmations_it_brought
    test_a_closed_step_is_left_alone_until_it_is_opened
decisions §4: a step that is blocked or has open children does not close
    test_a_blocked_step_does_not_close
    test_a_step_with_open_children_does_not_close
decisions §4 block: blocks and unblocks a step with a reason
    test_a_step_may_be_blocked_without_a_reason
decisions §4 reopen: reopens a step or a task
    test_a_reopened_step_must_be_confirmed_anew
    test_reopening_a_step_opens_what_is_closed_above_it
    test_reopening_a_done_task_makes_it_active
    test_a_task_of_a_done_plan_opens_only_after_the_plan
decisions §4 complete: sets TODO, ACTIVE, DONE; DONE needs every step done
    test_a_status_is_todo_active_or_done
    test_a_task_is_done_only_when_every_step_is
decisions §4: a plan is DONE only when its tasks are
    test_a_plan_is_done_only_when_its_tasks_and_steps_are
decisions §4 evidence: links, checks and small texts of a step or task
    test_evidence_is_links_checks_and_small_texts
    test_evidence_is_what_a_hand_over_misses
    test_a_hand_over_shows_every_piece_of_evidence_whole
decisions §4 focus: gets, sets or clears the workspace's focus, without a task event
    test_the_focus_can_be_set_read_and_cleared
    test_the_focus_is_something_that_is_there
    test_the_focus_writes_no_task_event_and_raises_no_revision
decisions §4 radar: one screen; now and why are strings, verify and blockers lists, next a call
    test_the_radar_is_one_screen_with_the_promised_fields
    test_a_radar_beyond_two_hundred_steps_says_that_it_shows_not_all
    test_looking_writes_nothing
shapes tasks radar: target defaults to the focus
    test_without_a_target_the_radar_shows_the_focus
decisions §7: without target and focus the only open task, else the one last worked on; nothing open: a recovery
    test_without_target_and_focus_the_radar_takes_the_obvious_one
    test_the_first_task_is_created_by_the_recovery
decisions §10: plans with steps of their own count as tasks
    test_a_plan_with_steps_of_its_own_counts_as_a_task
    test_a_plan_with_steps_of_its_own_can_be_claimed_as_a_task
decisions §7 show: the tree with criteria, tests, blockers, notes, evidence and who works on it
    test_a_task_is_shown_whole
    test_a_plan_is_shown_with_its_tasks
    test_one_step_is_shown_with_those_below_it
    test_a_new_task_is_shown_with_every_promised_field
decisions §7 ready: open, not blocked, dependencies done, not claimed; by priority, then age
    test_what_is_ready_comes_by_priority_and_then_by_age
    test_what_waits_is_blocked_claimed_or_done_is_not_ready
    test_the_first_open_step_decides_whether_a_task_is_ready
    test_ready_tasks_are_chosen_by_plan_and_tag_and_paged
decisions §7 claim: one agent holds a piece, for a lease
    test_claims_without_a_target_take_what_is_ready_one_after_the_other
    test_a_claimed_task_is_active_and_shows_its_agent
    test_what_another_has_claimed_is_a_conflict_with_who_and_until_when
    test_a_task_and_its_steps_cannot_be_held_by_two
    test_a_lease_runs_out_is_renewed_and_given_back
    test_a_lease_of_a_whole_year_is_accepted
    test_what_is_closed_is_nobodys
    test_a_claim_that_cannot_be_meant_is_refused
decisions §10: who holds a piece is seen by those who look at it, and by those who close it
    test_the_radar_says_who_holds_the_work
    test_the_radar_of_a_plan_says_who_holds_its_task
    test_closing_a_step_that_another_agent_holds_succeeds_with_a_warning
    test_the_holder_closes_without_a_warning
    test_without_an_agent_the_actor_of_the_claim_counts
decisions §7: a task with a closed or claimed step is ACTIVE
    test_closing_a_step_makes_a_task_active
    test_the_radar_of_what_is_not_there_is_not_found
decisions §4: reasoning_ref is task/TASK-001, notes, TASK-001-graph, TASK-001-trace
    test_the_reasoning_of_a_task_is_where_the_radar_says
decisions §4: next is one call that can be sent as it is, and leads on
    test_a_task_without_steps_is_to_be_divided
    test_the_first_open_step_is_closed_with_the_checkpoints_that_the_reason_names
    test_children_come_before_their_step_and_blocked_ones_last
    test_what_a_task_depends_on_comes_first
    test_after_a_done_task_comes_its_plan_then_other_work_then_a_new_task
    test_a_plan_names_the_task_to_go_on_with
    test_the_radar_of_a_plan_shows_how_the_step_of_its_task_is_verified
decisions §10: next always leads on
    test_every_next_call_changes_the_next_one_or_is_refused_with_what_is_missing
decisions §4 delta: events since an event_id, with the promised fields
    test_every_mutation_makes_one_event_that_delta_shows_as_it_was_answered
    test_a_mutation_writes_one_row_to_the_log_of_events
shapes tasks delta: exclusive, oldest first, without since from the beginning
    test_delta_begins_after_the_event_it_is_given
    test_delta_goes_on_in_pages
    test_delta_shows_fifty_events_unless_told_otherwise
    test_delta_shows_the_events_of_its_workspace_only
decisions §0: tasks_delta and last_event show task events, ordered by seq and not by id
    test_an_event_of_another_family_is_no_task_event
    test_events_are_ordered_by_their_sequence_and_not_by_their_id
    test_events_stand_in_the_order_in_which_they_happened_also_when_the_clock_steps_back
    test_status_shows_the_last_task_event
decisions §0: no event holds the text of a note
    test_no_event_and_no_trace_entry_holds_the_text_of_a_note_or_of_evidence
4 automatic ingestion: every mutation is in the trace of its entity with the same event_id
    test_every_event_is_once_in_the_trace_of_its_target
4 automatic ingestion: ingesting the same event_id twice creates no duplicate
    test_an_event_cannot_be_ingested_twice
    test_ingesting_an_event_again_adds_nothing
decisions §4: state, event, trace entry and graph are written in one transaction
    test_a_mutation_that_fails_in_one_part_leaves_no_part
4 branching: tasks ingest into the canonical branch; branching and checkout do not touch tasks
    test_tasks_write_to_their_own_branch_whatever_is_checked_out
    test_branching_and_checking_out_change_no_task
decisions §4: each mutation writes the task: and step: graph projection
    test_a_task_and_its_steps_are_nodes_of_its_graph
    test_the_graph_follows_every_change
    test_a_plan_shows_its_tasks_and_a_task_what_it_depends_on
    test_only_what_changed_gets_a_new_version
    test_what_others_add_to_the_graph_stays_when_tasks_change
    test_after_any_work_the_graph_says_what_the_radar_says
shapes graph: task: and step: ids are refused from outside
    test_ids_of_tasks_and_steps_are_refused_from_outside
decisions §4 handoff: done, remaining, risks, plus the radar and the next call
    test_a_hand_over_tells_what_is_done_what_remains_and_what_is_at_risk
    test_the_hand_over_of_a_plan_tells_of_its_tasks
    test_storing_a_hand_over_is_no_change_of_the_task
decisions §10: hand-overs carry what was found, in the answer and in the capsule alike
    test_a_hand_over_carries_what_was_found_in_its_answer_and_in_its_capsule
decisions §4 handoff: as_capsule stores it as a capsule that passes lint, named TASK-001-handoff
    test_a_hand_over_may_be_stored_as_a_capsule_that_passes_lint
    test_hand_overs_of_plans_and_workspaces_do_not_meet
    test_no_title_makes_the_capsule_of_a_hand_over_too_thin
    test_the_capsule_of_a_large_hand_over_keeps_within_the_limit_of_capsules
shapes tasks handoff: repeating replaces the capsule
    test_repeating_a_hand_over_replaces_its_capsule
decisions §4: a capsule of that name that Moss did not write is left alone
    test_a_capsule_that_moss_did_not_write_is_left_alone
decisions §4 delete: removes a plan, a task or a step subtree; history stays in the trace
    test_a_deleted_step_takes_its_subtree_along
    test_a_path_that_only_begins_alike_is_no_part_of_the_subtree
    test_a_deleted_task_is_found_nowhere
    test_history_of_what_is_deleted_stays_in_the_trace
    test_a_deleted_plan_takes_its_tasks_along_each_with_its_event
    test_a_done_plan_may_lose_a_task_and_stays_done
shapes tasks delete: numbers never return
    test_numbers_of_what_is_deleted_never_return
4 document model: tools take a target, which is the branch and the documents of its reasoning_ref
    test_every_tool_that_the_documents_give_a_target_takes_one
    test_notes_of_a_target_go_to_its_branch
    test_showing_a_target_shows_its_trace_unless_its_notes_are_asked_for
    test_the_graph_of_a_target_is_its_own_document
4 export: target, reasoning_ref, and notes and trace as show shows them
    test_an_export_is_what_a_task_is_and_the_end_of_its_notes_and_trace
decisions §3: a target with any branch, ref or document is INVALID_REQUEST, but for what-if thinking
    test_a_target_with_any_other_place_is_refused_by_every_tool_but_those_of_what_if
    test_a_what_if_branch_of_a_task_merges_back
decisions §3: an unknown target is NOT_FOUND with a recovery
    test_an_unknown_target_is_not_found_by_every_tool_with_a_next_call
decisions §3: a target's own documents always exist and read as empty
    test_the_documents_of_a_target_read_as_empty_before_anything_is_written
decisions §3: canonical branches have no base, no other name, and are not deleted
    test_a_canonical_branch_has_no_base_and_keeps_its_name_and_its_life
decisions §3 budgets: every read of tasks takes all three and never exceeds them
    test_every_read_of_tasks_takes_the_three_budgets
    test_no_budget_of_a_read_of_tasks_is_ever_exceeded_or_silent
    test_all_budgets_of_a_read_of_tasks_hold_at_once
    test_a_budget_on_tasks_changes_nothing_in_the_store
    test_a_hand_over_is_stored_whole_whatever_its_answer_may_hold
decisions §3 budgets: below 500 or 10 they are INVALID_REQUEST, and the skeleton of every result fits in that
    test_a_budget_below_the_least_is_refused_by_every_read_of_tasks
    test_the_least_budget_of_a_read_of_tasks_holds_with_the_longest_names
decisions §3 budgets: next is the last to go
    test_the_next_call_of_ordinary_work_is_whole_in_the_least_budget
    test_a_small_radar_still_says_what_is_to_be_done_now
shapes budgets: paging through a budget still gives every row exactly once
    test_paging_a_list_through_a_budget_gives_every_task_exactly_once
    test_paging_events_through_a_budget_gives_every_event_exactly_once
    test_under_a_budget_the_newest_events_wait
    test_the_rest_of_an_export_is_reached_from_where_its_budget_cut
"""
