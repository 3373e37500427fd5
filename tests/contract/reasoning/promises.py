"""What the documents on reasoning promise up to thinking, each with the tests that hold it.

Written like `contract/requirements.py`; `test_reasoning_requirements.py` holds promises and tests together.
"""

from __future__ import annotations

PROMISES = """
4 workspace scoping: workspace is required by every tool
    test_every_tool_of_the_family_requires_a_workspace
    test_a_call_without_a_workspace_is_refused_by_name
    test_the_family_has_every_tool_of_its_document
decisions §0: a workspace is compared normalized, never blank, long or controlling
    test_a_workspace_is_compared_normalized_and_echoed_as_it_was_written
    test_a_bad_workspace_is_refused_for_reads_and_writes
4 workspace scoping: no silent cross-project reads or writes
    test_workspaces_see_nothing_of_each_other
4 init: answers workspace, storage_dir, schema_version, checkout and defaults
    test_init_answers_where_things_are_and_what_the_defaults_are
4 init: makes main where there are no branches, and checks it out where nothing is
    test_init_makes_main_without_a_base_and_checks_it_out
    test_init_again_leaves_branches_and_checkout_as_they_are
    test_init_makes_no_second_main_when_the_first_was_renamed
4 status: a snapshot of the workspace, also of one that is not there
    test_the_status_of_an_unknown_workspace_says_so_and_makes_nothing
    test_the_status_shows_the_checkout_and_the_last_entry_of_the_workspace
decisions §0: last_event is one of a task
    test_the_last_event_is_one_of_a_task_and_not_of_a_note
    test_the_status_shows_the_last_event_of_a_task
decisions §3: a first write bootstraps main; an unknown branch is refused
    test_a_first_write_makes_main_and_checks_it_out
    test_a_first_write_to_an_unknown_branch_makes_nothing
decisions §3: unknown branch, document or target is not found with a recovery
    test_a_read_without_branches_is_not_found_and_init_is_the_next_call
    test_a_call_that_needs_what_no_branch_has_yet_is_not_found_with_a_call_that_works
    test_a_workspace_without_branches_has_no_branch_and_no_tag
    test_an_unknown_branch_is_not_found_and_the_next_call_lists_what_there_is
    test_an_unknown_target_is_not_found_with_a_next_call
4 documents: entries carry ts beside ts_ms
    test_times_are_utc_with_milliseconds
4 notes_commit: answers the entry, without what it does not have
    test_a_note_answers_its_entry
    test_what_a_note_does_not_have_is_left_out
    test_show_gives_each_entry_back_as_it_was_answered
    test_the_size_of_a_note_is_limited
    test_a_refused_note_leaves_nothing
4 notes_commit: the checkout and notes by default, or an explicit branch and document
    test_a_note_goes_to_the_checkout_and_to_notes_by_default
decisions §3: one series of numbers for documents and graphs of the whole store
    test_numbers_start_at_one_and_rise_across_workspaces_documents_and_graphs
    test_the_order_is_that_of_the_numbers_when_the_clock_steps_back
    test_a_number_is_never_used_again
shapes: branch and ref are accepted for each other, not together
    test_branch_and_ref_are_accepted_for_each_other_and_not_together
decisions §3: branch, document and tag names are compared exactly
    test_names_of_branches_are_compared_exactly
    test_names_of_documents_are_compared_exactly_and_may_have_256_characters
    test_names_of_tags_are_compared_exactly_and_bad_ones_refused
    test_a_bad_branch_or_document_name_is_refused
    test_a_bad_name_of_a_branch_is_refused
decisions §3: notes, trace and graph always exist, other documents from their first write
    test_notes_trace_and_graph_always_exist_and_read_as_empty
    test_another_document_appears_at_its_first_write
    test_the_documents_of_a_target_always_exist
4 show: a bounded slice with its page
    test_show_answers_the_document_its_entries_and_the_page
    test_show_reads_the_trace_unless_asked_for_notes
4 show: tail pagination by seq
    test_show_is_the_newest_page_oldest_first_and_the_cursor_leads_back
    test_a_cursor_before_the_first_entry_shows_nothing
    test_pages_of_a_document_show_every_entry_exactly_once
decisions §3: a cut or a cursor never gains rows later
    test_a_page_never_gains_rows_later
decisions §0: limits are clamped above and refused below, in lists with a cursor too
    test_fifty_entries_are_shown_unless_asked_and_two_hundred_at_most
    test_a_limit_below_one_and_a_negative_cursor_are_refused
4 documents: a target stands for its canonical branch and documents
    test_a_target_says_where_a_note_goes_whatever_is_checked_out
    test_a_target_shows_its_trace_unless_asked_for_its_notes
    test_a_target_says_which_graph_is_meant
decisions §3: a target beside a branch, a ref or a document is invalid
    test_a_target_beside_a_branch_a_ref_or_a_document_is_refused
4 export: the target, its reasoning_ref, the tails of its notes and trace
    test_an_export_is_the_target_where_it_lives_and_its_last_notes_and_trace
    test_an_export_of_an_unknown_target_is_not_found
4 export: max_chars applies to the whole snapshot, truncation is explicit
    test_an_export_fits_its_budget_and_says_what_it_left_out
4 branching: a branch records base_branch and base_seq
    test_a_new_branch_answers_its_base_and_the_cut
    test_the_cut_is_the_last_number_of_the_whole_store
4 branch_create: from the checkout unless told; bootstraps main
    test_a_branch_begins_at_the_checkout_unless_told
    test_a_branch_in_an_empty_workspace_begins_at_a_new_main
    test_a_branch_of_an_unknown_branch_is_not_found
    test_a_taken_name_is_a_conflict
4 base snapshot: entries of the base up to base_seq, plus the branch's own, without copies
    test_a_derived_branch_shows_the_snapshot_and_its_own_entries_in_order
    test_an_inherited_entry_names_the_branch_where_it_was_written
    test_branching_copies_nothing
    test_the_snapshot_holds_for_every_document_and_the_graph
decisions §3: base chains up to 32 deep, the cut-off is the minimum along the chain
    test_the_cut_is_the_lowest_along_the_chain
    test_a_chain_of_32_bases_is_read_and_a_longer_one_refused
4 branching: canonical branches of plans and tasks have no base and are listed
    test_a_canonical_branch_has_no_base_and_is_listed
    test_names_of_canonical_branches_are_kept_for_tasks_and_plans
    test_what_if_branches_grow_from_a_canonical_branch_and_merge_back
decisions §3: canonical branches are neither renamed nor deleted
    test_a_canonical_branch_is_neither_renamed_nor_deleted
shapes: branch_list shows name, base_branch and base_seq, and says when the limit cut
    test_branches_are_listed_by_name
    test_a_list_of_branches_that_the_limit_cut_says_so
    test_two_hundred_branches_are_listed_unless_asked
4 checkout: sets the branch that calls mean by default
    test_a_checkout_answers_where_it_was_and_where_it_is
    test_a_checkout_of_an_unknown_branch_is_not_found_and_changes_nothing
    test_every_default_follows_the_checkout
4 branch_rename: documents, refs, tags, checkout and conflicts follow
    test_a_renamed_branch_keeps_its_documents_graph_tags_and_checkout
    test_a_renamed_branch_keeps_its_conflicts
    test_an_old_name_is_free_and_has_nothing_of_the_branch_that_had_it
    test_a_branch_can_be_renamed_in_letter_case_only
decisions §3: renaming onto an existing name is a conflict
    test_a_rename_of_an_unknown_branch_is_not_found_and_onto_a_taken_name_a_conflict
4 branch_delete: the branch and what is stored on it, its tags too
    test_a_deleted_branch_is_gone_with_everything_on_it
    test_what_was_merged_stays_when_its_branch_is_deleted
    test_a_deleted_branch_takes_the_tags_of_inherited_notes_no_further_than_its_own
decisions §3: branch_delete is refused with the reason while something needs the branch
    test_a_branch_that_is_still_needed_is_not_deleted_and_the_reason_is_told
    test_a_branch_can_be_deleted_once_nothing_needs_it
    test_a_branch_into_which_an_open_conflict_leads_is_not_deleted
    test_deleting_the_checkout_names_a_call_that_answers_also_without_main
4 diff: entries of one view that are not in the other
    test_a_diff_is_what_one_branch_shows_and_the_other_does_not
    test_a_diff_answers_both_branches_the_document_the_entries_and_the_page
    test_a_diff_compares_siblings_and_grandchildren_by_what_they_show
    test_a_diff_is_of_one_document_and_of_notes_unless_told
    test_a_diff_or_merge_with_an_unknown_branch_is_not_found
4 diff: cursor and limit as in show
    test_a_diff_pages_like_show
4 merge: copies notes into the other branch and leaves from alone
    test_a_merge_copies_the_notes_that_the_other_branch_does_not_show
    test_a_copy_has_the_content_of_the_original_and_says_where_it_comes_from
    test_copies_are_dated_when_they_were_merged
    test_notes_are_merged_in_any_direction
    test_a_merge_is_of_one_document_and_of_notes_unless_told
    test_a_branch_taken_before_a_merge_does_not_see_it
4 merge: only notes are merged
    test_only_notes_are_merged
    test_a_merge_of_notes_leaves_the_graph_alone
4 merge: idempotent
    test_merging_twice_adds_nothing
    test_a_page_of_a_merge_that_is_sent_again_adds_nothing
    test_a_branch_merged_into_itself_has_nothing_to_merge
    test_a_copy_is_not_merged_back_to_where_its_original_is_seen
    test_a_note_that_comes_by_two_ways_comes_once
decisions §3: merge keys use the branch's immutable id
    test_renaming_both_branches_and_merging_again_adds_nothing
4 merge: dry_run writes nothing
    test_a_dry_run_finds_what_a_merge_would_do_and_writes_nothing
4 merge: large merges go on with the next cursor
    test_a_large_merge_goes_page_by_page_and_keeps_the_order
    test_a_merge_takes_200_a_page_unless_told_and_1000_at_most
4 commit: a note with the artifact as content, in notes or the documents named
    test_a_commit_answers_a_record_of_it
    test_a_commit_goes_into_every_document_it_names
    test_a_commit_without_artifact_message_or_document_is_refused
shapes: log is every note of the document, newest first, with head_seq
    test_a_log_is_every_note_of_the_document_newest_first
    test_a_log_is_of_one_document_and_of_notes_unless_told
    test_a_log_shows_what_the_ref_shows
    test_the_head_of_an_empty_log_is_null
    test_pages_of_a_log_show_every_commit_once_and_the_same_head
    test_a_log_shows_twenty_unless_asked_and_two_hundred_at_most
    test_a_log_and_a_reflog_are_of_notes_and_not_of_events
shapes: docs_list shows doc, entries and last_seq
    test_documents_are_listed_by_name_with_their_entries_and_last_number
    test_documents_are_listed_as_the_ref_shows_them
shapes: tag_create points to the checkout's head, a seq or a tag
    test_a_tag_points_to_the_head_of_the_checkout_unless_told
    test_a_tag_points_to_an_entry_or_to_where_another_tag_points
    test_a_tag_of_nothing_is_not_found
    test_a_tag_stays_where_it_is
shapes: a taken tag is a conflict
    test_a_taken_tag_is_a_conflict_unless_it_is_forced
shapes: tag_delete answers deleted, an unknown tag is not found
    test_a_deleted_tag_is_gone_and_its_entry_stays
shapes: reflog lists commits and resets of a ref
    test_a_reflog_lists_commits_and_resets_newest_first
    test_a_reflog_is_of_one_ref
    test_pages_of_a_reflog_show_every_movement_once
decisions §0: one event for each change of reasoning, never a text
    test_every_mutation_leaves_one_event_without_any_text
    test_reads_and_dry_runs_leave_no_event
shapes: reset answers ref, doc, old_seq and new_seq
    test_a_reset_answers_where_the_head_was_and_where_it_is
    test_a_reset_leads_to_a_tag
decisions §3: a ref shows what its head reaches, for every reader
    test_after_a_reset_every_reader_of_the_branch_shows_what_the_head_reaches
    test_a_diff_after_a_reset_compares_what_both_show
    test_a_merge_after_a_reset_brings_hidden_copies_again_and_hidden_notes_not_at_all
    test_pages_after_resets_show_every_entry_once
decisions §3: the next write goes on from the head; what lay between is shown again by resetting to it
    test_the_next_write_goes_on_from_where_the_head_is
    test_what_lay_between_is_shown_again_by_resetting_to_it
    test_the_reflog_leads_back
    test_a_branch_can_be_reset_as_often_as_one_likes
decisions §3: derived branches keep the snapshot they took
    test_a_derived_branch_keeps_the_snapshot_it_took
    test_a_derived_branch_resets_into_its_snapshot
    test_a_chain_of_resets_and_branches_shows_what_each_head_reaches
decisions §3: a seq that the ref never showed is not found
    test_a_number_that_the_ref_never_showed_is_not_found
    test_an_empty_branch_has_nothing_to_reset_to
decisions §3: reset is for notes
    test_a_reset_is_of_notes_only
4 graph_apply: answers the four counts and the last version
    test_applying_answers_what_was_done_and_the_last_version
    test_a_graph_is_written_on_the_checkout_or_where_it_is_told
    test_versions_carry_the_time_of_their_write
4 graph model: the fields of nodes and edges
    test_a_node_comes_back_as_it_was_written
    test_what_a_node_does_not_have_is_left_out
    test_an_edge_comes_back_as_it_was_written
    test_an_edge_is_the_same_by_both_ends_and_rel
shapes: an upsert replaces the whole node
    test_an_upsert_replaces_the_whole_node
4 graph_apply: each operation creates a new version
    test_every_operation_makes_a_version_with_a_higher_number
    test_operations_see_those_before_them
4 graph_apply: atomic
    test_a_bad_operation_is_refused_by_its_place_and_nothing_is_applied
decisions §3: node_delete tombstones its edges too; deleting what is not there is not found
    test_deleting_a_node_leaves_a_tombstone_and_takes_its_edges
    test_deleting_what_is_not_there_is_not_found_and_nothing_is_applied
    test_a_deletion_on_a_branch_leaves_its_base_alone
shapes: empty ops are invalid; edges may dangle
    test_a_batch_has_at_least_one_operation_and_at_most_ten_thousand
    test_edges_may_lead_nowhere
4 type discipline: keys are strictly validated, task: and step: reserved
    test_a_bad_or_reserved_id_is_refused_wherever_it_stands
    test_a_bad_type_or_rel_is_refused
    test_ids_types_and_rels_are_kept_as_they_are
4 type discipline: tags are lower-cased, deduplicated and sorted
    test_tags_of_nodes_are_lower_case_unique_and_sorted
4 graph_query: nodes, edges and the page, newest first
    test_a_query_answers_nodes_edges_and_the_page
    test_nodes_come_newest_first_and_an_older_version_never_comes
    test_pages_of_a_filtered_query_show_every_node_once
    test_fifty_nodes_are_shown_unless_asked_and_two_hundred_at_most
decisions §3: the latest version per key is fixed before filters and cursor apply
    test_filters_look_at_the_latest_version_only
shapes: filters are a string or a list, text a literal substring in any case
    test_a_query_narrows_by_every_filter_alone_and_together
    test_text_is_found_in_any_case_of_any_script
4 graph_query: edges between the returned nodes, bounded by edges_limit
    test_edges_are_those_between_the_nodes_shown
    test_edges_can_be_left_out_and_are_bounded
decisions §3: queries return live nodes unless include_deleted
    test_deleted_nodes_and_edges_come_only_when_asked_for
4 graph_validate: every end of an edge is a live node of the same view
    test_a_good_graph_is_valid
    test_an_edge_without_a_live_node_at_each_end_is_an_error
    test_validity_is_that_of_the_branch
4 graph_validate: errors are bounded by max_errors
    test_fifty_errors_are_shown_unless_asked
4 graph_diff: states of to that differ from from, newest first
    test_a_graph_diff_answers_states_of_the_second_branch
    test_what_is_only_on_the_first_branch_is_no_change
    test_every_field_of_a_node_makes_a_difference
    test_pages_of_a_graph_diff_show_every_change_once_newest_first
    test_a_graph_diff_is_of_one_document_and_of_known_branches
4 graph_diff: a deletion is a tombstone
    test_a_deletion_is_shown_as_a_tombstone
decisions §3: equality in diff and merge ignores bookkeeping
    test_equal_states_are_no_change_whatever_their_versions
    test_merged_states_are_equal_on_both_branches
4 graph_merge: keys changed on from come into its base
    test_a_merge_answers_what_it_did
    test_what_changed_on_the_branch_comes_into_its_base
    test_only_what_changed_on_the_branch_is_considered
    test_a_deleted_node_is_merged_with_its_edges
    test_a_graph_merge_is_of_one_document_and_of_graph_unless_told
    test_a_branch_taken_before_a_graph_merge_does_not_see_it
4 graph_merge: only into the base
    test_a_branch_is_merged_into_its_base_only
4 graph_merge: what both changed differently is a conflict and is not applied
    test_a_key_that_both_changed_differently_is_a_conflict_and_not_applied
    test_changes_deletions_and_additions_can_disagree
    test_two_branches_that_disagree_are_two_conflicts_with_the_base
    test_the_same_change_on_both_sides_is_no_conflict
    test_a_change_and_back_is_no_change
4 graph_merge: dry_run discovers without writing
    test_a_dry_run_finds_merges_and_conflicts_and_writes_nothing
4 graph_merge: large merges go on with the next cursor
    test_a_large_merge_goes_page_by_page
    test_a_merge_takes_200_keys_a_page_unless_told_and_1000_at_most
decisions §3: merging twice adds nothing and creates no conflict
    test_merging_a_graph_twice_adds_nothing
    test_what_both_said_when_they_were_merged_is_no_conflict_when_one_goes_on
decisions §3: finding a conflict again finds the same one
    test_a_conflict_that_is_found_again_is_the_same_one
    test_a_newer_disagreement_takes_the_place_of_the_older_one
    test_a_disagreement_that_comes_back_is_open_again
    test_a_disagreement_after_an_agreement_is_told_also_when_it_was_settled_before
shapes: after a merge the last merged version is the base
    test_a_key_that_changes_again_after_a_merge_is_merged_again
    test_what_the_base_changed_after_a_merge_is_not_overwritten
    test_the_same_change_on_both_sides_is_the_base_of_what_follows
    test_what_was_taken_in_is_the_base_of_what_follows
    test_what_was_turned_down_is_asked_again_when_it_changes
4 graph_conflicts: lists conflicts of a destination, by status or all
    test_a_conflict_is_listed_and_shown_with_its_three_sides
    test_a_conflict_about_an_edge_has_the_edge_as_its_key
    test_conflicts_are_listed_by_status_or_all
    test_conflicts_are_those_of_one_destination_and_document
    test_pages_of_conflicts_show_each_once_newest_first
    test_times_of_a_conflict_are_those_of_its_finding_and_resolving
4 graph_conflict_resolve: use_from writes their state, use_into keeps ours
    test_use_from_writes_their_state_as_a_new_version
    test_use_into_keeps_our_state
    test_a_deletion_can_win_or_lose
    test_a_resolved_conflict_does_not_come_back
decisions §3: resolving again the same way is a no-op, differently a conflict
    test_a_conflict_resolved_the_same_way_again_is_left_alone
    test_a_conflict_resolved_another_way_is_a_conflict
    test_an_unknown_conflict_is_not_found_and_an_unknown_resolution_refused
4 output budgets: every read takes max_chars, max_bytes and max_lines
    test_every_read_of_the_family_takes_the_three_budgets
decisions §3: budgets are never exceeded, and truncated says what was left out
    test_no_budget_is_ever_exceeded_and_what_was_left_out_is_told
    test_all_budgets_hold_at_once
    test_a_budget_cuts_what_is_not_paged_and_says_so
    test_a_budget_changes_nothing_in_the_store
decisions §3: budgets below the least are invalid, and every skeleton fits the least
    test_a_budget_below_the_least_is_refused
    test_the_least_budget_holds_with_the_longest_names
    test_a_shortened_conflict_keeps_what_it_is_about
decisions §3: long contents are shortened first, then the oldest entries go
    test_long_contents_are_shortened_before_entries_go
    test_the_oldest_rows_go_first
    test_edges_of_a_query_never_lead_to_nodes_that_were_dropped
shapes: paging through a budget still gives every row exactly once
    test_paging_through_a_budget_gives_every_row_exactly_once
    test_paging_goes_on_when_a_row_is_larger_than_the_budget
search: notes and graph nodes are found beside capsules, each hit with its address
    test_a_note_is_found_by_its_title_and_its_content
    test_a_note_of_any_document_is_found_and_one_without_title_has_one
    test_a_node_is_found_by_its_title_its_text_and_its_id
    test_a_hit_leads_to_what_was_found
    test_notes_and_nodes_are_found_together_with_capsules_or_by_type
    test_a_note_belongs_to_no_run
    test_an_inherited_note_or_node_is_found_once
    test_a_renamed_branch_is_found_under_its_new_name
    test_what_a_merge_copied_is_found_once
    test_markup_in_a_note_or_node_cannot_forge_a_highlight
    test_search_pages_over_notes_and_nodes_show_every_hit_once
    test_a_disabled_family_is_not_searched
search: what is hidden, superseded or deleted is not found
    test_a_note_hidden_by_a_reset_is_not_found_until_it_is_shown_again
    test_a_note_that_a_derived_branch_still_shows_is_found
    test_a_note_that_only_a_deleted_branch_showed_is_not_found
    test_a_superseded_or_deleted_node_is_not_found
    test_what_a_branch_says_otherwise_does_not_hide_what_its_base_says
    test_what_was_on_a_deleted_branch_is_not_found
purge: what no branch shows goes for good, and nothing else
    test_purging_reasoning_leaves_no_byte_of_what_no_branch_shows
    test_purging_reasoning_keeps_what_any_branch_shows
    test_purging_reasoning_keeps_what_a_tag_names
    test_purging_reasoning_keeps_what_an_open_conflict_is_about
    test_purging_reasoning_knows_workspace_and_age
    test_purging_reasoning_can_be_tried_first
    test_what_was_purged_of_reasoning_can_be_written_again
decisions §10: branchmind_graph_history shows the versions of a node as the branch sees it, newest first
    test_a_history_is_the_versions_of_a_node_newest_first
    test_a_history_is_what_the_branch_sees
    test_a_history_is_paged_and_every_page_knows_what_changed
    test_a_budget_of_a_history_is_kept_and_loses_no_version
    test_the_history_of_a_targets_node_and_of_a_named_document
    test_a_node_that_never_was_has_no_history
    test_an_erased_node_keeps_no_text_in_its_history
decisions §10: branchmind_merge_back merges notes, trace and graph into the base in one call
    test_one_call_merges_notes_trace_and_graph_into_the_base
    test_merging_back_again_adds_nothing
decisions §10: merging notes alone, if there are none, leads to the merge of the whole branch
    test_merging_notes_of_a_branch_without_new_ones_leads_to_its_rest
    test_merging_notes_leads_to_a_conflict_that_nobody_has_seen
    test_merging_notes_leads_nowhere_else
    test_a_dry_run_of_merging_back_tells_the_same_and_writes_nothing
    test_every_document_that_the_branch_wrote_is_merged
    test_what_both_changed_is_listed_with_its_three_states
    test_merging_back_goes_into_the_base_only
    test_merging_back_is_one_transaction
    test_more_than_a_page_is_merged_back_in_one_call
decisions §10: a conflict is resolved with content: the fields of the node, or the meta of the edge
    test_a_conflict_is_resolved_with_content
    test_the_content_of_an_edge_is_its_meta
    test_resolving_with_the_same_content_again_is_no_change_and_with_other_is_a_conflict
    test_content_that_is_none_is_refused
    test_content_brings_back_what_one_side_deleted
    test_a_resolution_that_changes_nothing_does_not_read_as_a_failure
decisions §10: open conflicts are seen in status, packs, radar and hand-over
    test_open_conflicts_are_seen_wherever_work_is_resumed
    test_an_open_conflict_with_the_longest_names_fits_the_least_budget
"""
