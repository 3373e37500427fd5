"""What the documents promise of thinking and traces, each with the tests that hold it.

Written like `contract/requirements.py`; `test_thinking_requirements.py` holds promises and tests together.
"""

from __future__ import annotations

PROMISES = """
4 thinking, think convenience and trace tools: there are twenty-nine
    test_there_are_twenty_nine_tools_of_thinking
4 workspace scoping: every tool requires a workspace, and shows nothing of another
    test_tools_of_thinking_require_a_workspace_that_is_a_name
    test_a_pack_shows_nothing_of_another_workspace
decisions §3: a first write bootstraps main; reads of nothing are NOT_FOUND with a recovery
    test_thinking_begins_in_a_workspace_without_branches
    test_a_card_of_a_workspace_without_branches_is_missed_with_a_call_that_does_not_miss
4 think_template: a deterministic skeleton with at least the fields of a card
    test_a_template_is_a_card_to_be_filled_in
4 think_template: an unknown type is a typed error that lists the supported types
    test_an_unknown_type_is_refused_with_the_types_there_are
4 think_card: writes a note entry to the trace and a typed node with edges to the graph
    test_a_card_is_an_entry_of_the_trace_and_a_node_of_the_graph
4 think_card: atomic
    test_a_card_that_fails_in_one_part_leaves_no_part
decisions §3: a card is an object, a JSON string, key: value lines, or plain text
    test_a_card_is_the_same_in_every_form
    test_plain_text_is_a_note_with_an_id_of_its_own
    test_text_that_only_looks_like_a_card_is_plain_text
    test_lines_go_on_and_unknown_keys_are_kept_in_meta
    test_what_is_no_card_is_refused_and_leaves_nothing
    test_what_is_no_card_is_refused_through_every_door
4 think_card: defaults of type, status and tags; CARD-<seq> where no id is given
    test_a_card_has_defaults_for_what_is_not_given
    test_an_own_id_is_never_given_out_a_second_time
4 think_card: without a branch the checkout, without documents trace and graph
    test_without_a_branch_a_card_goes_to_the_checkout
    test_a_card_goes_to_the_documents_that_are_named
    test_the_card_of_a_target_goes_to_its_documents
decisions §3: the same card_id with the same normalized content is a no-op
    test_the_same_card_again_in_any_form_is_no_change
    test_a_card_is_known_on_branches_that_were_made_after_it_and_unknown_elsewhere
    test_a_card_that_was_merged_is_no_change_when_it_is_repeated
4 think_card: no new graph versions when node and edges are already equal
    test_a_node_that_says_the_same_gets_its_trace_entry_and_no_new_version
decisions §3: the same card_id with other content is CONFLICT; shapes think: with other edges too
    test_the_same_id_with_other_content_is_a_conflict
    test_a_conflict_with_a_card_that_another_graph_holds_names_the_trace_that_tells_of_it
    test_a_card_with_a_title_only_is_another_than_one_that_says_the_title_twice
decisions §3: after think_set_status the same card is still a no-op
    test_the_same_card_is_still_no_change_after_its_status_was_set
    test_the_same_card_is_no_change_after_links_were_added
decisions §3: think_card, think_add_* and think_context take target with branch
    test_a_target_with_a_branch_thinks_what_if_about_a_task
shapes think: the type of think_add_* replaces card.type
    test_adding_a_card_of_a_type_replaces_the_type_it_says
decisions §10: links in a card, as arguments or inside it, become edges of that name
    test_links_are_edges_as_arguments_and_inside_a_card_in_every_form
    test_links_of_both_places_are_taken_together
    test_the_same_card_with_the_same_links_is_no_change_wherever_they_stand
    test_every_tool_that_writes_a_card_takes_every_link
    test_what_is_no_link_is_refused_and_leaves_nothing
decisions §10: supersedes, rejects and answers set the other card's status in the same transaction
    test_a_link_sets_the_status_of_the_other_card_with_an_entry_in_the_trace
    test_a_status_that_a_link_implies_is_set_once
    test_of_several_links_to_one_card_the_strongest_sets_its_status
    test_a_reversed_decision_takes_two_calls
    test_a_link_on_a_branch_sets_the_status_there
decisions §10: an id that is not there is NOT_FOUND with the nearest ids, also for think_link
    test_a_link_to_a_card_that_is_not_there_is_missed_with_the_nearest_ids
    test_a_first_card_that_links_to_nothing_leaves_no_workspace
decisions §10: keys that go to meta are named in meta_keys
    test_keys_that_go_to_meta_are_named
decisions §10: a change of status has a reason, in one entry of the trace
    test_a_change_of_status_is_one_entry_of_the_trace_with_its_reason
    test_a_status_without_a_change_writes_no_entry
    test_the_entry_goes_to_the_trace_that_belongs_to_the_card
    test_erasing_a_card_erases_the_reasons_of_its_statuses
decisions §10: next always leads on
    test_following_next_changes_the_state_until_it_is_refused_with_what_is_missing
    test_evidence_on_a_test_leads_on_to_its_status
    test_a_decision_is_proposed_and_never_made_up
    test_a_blocked_card_leads_to_what_blocks_it
    test_a_circle_of_blocks_is_broken
    test_a_long_chain_of_links_is_followed_within_bounds
    test_when_everything_is_settled_next_asks_for_a_question
decisions §10: packs show a card once, with its links, and no null
    test_a_pack_shows_every_card_once_with_its_links
    test_a_pack_marks_what_was_superseded
    test_a_pack_has_no_null_and_no_number_that_no_tool_takes
4 think_context: cards newest first, and how many of each type
    test_a_context_is_the_last_cards_and_how_many_there_are_of_each_type
    test_a_context_shows_thirty_cards_unless_told_otherwise
    test_a_context_of_nothing_is_empty
    test_a_deleted_card_is_shown_nowhere
    test_reading_cards_writes_nothing
4 think_query: cards via graph filters
    test_a_query_filters_cards
shapes think_query: pages, newest first
    test_a_query_answers_pages_of_cards_newest_first
    test_a_query_reads_the_branch_and_the_document_it_is_given
shapes: branch and ref are accepted for each other everywhere
    test_branch_and_ref_mean_the_same_in_every_tool_of_thinking
shapes think: limits have their defaults
    test_queries_pins_and_watches_have_their_default_limits
4 think_pack: a compact context with stats, candidates and next
    test_a_pack_is_a_small_context_with_candidates_and_the_next_call
    test_following_the_next_call_leads_from_nothing_to_evidence
    test_the_next_call_of_another_branch_and_document_goes_there
4 context_pack: notes, trace and cards in one answer
    test_a_pack_holds_notes_trace_cards_and_the_next_call_of_a_branch
    test_a_pack_of_a_target_holds_its_documents_and_the_next_call_of_its_radar
    test_a_pack_reads_the_branch_and_the_documents_it_is_given
4 context_pack: notes_limit 20, trace_limit 50, limit_cards 30
    test_the_limits_of_a_pack_are_twenty_fifty_and_thirty
shapes context_pack: include shows capsules and artifacts; without run_id those of the latest capsule's run
    test_what_stands_beside_is_shown_only_when_it_is_asked_for
    test_without_a_run_the_artifacts_are_those_of_the_latest_capsules_run_or_none
    test_a_pack_that_shows_not_all_artifacts_of_a_run_says_so
    test_deleted_capsules_and_artifacts_stand_beside_nothing
shapes think_frontier: candidates with their fields, each says why
    test_candidates_have_the_promised_fields_and_a_reason
    test_the_frontier_shows_twenty_unless_told_otherwise_and_the_best_ones
house: a card that a decision settles is no longer open
    test_a_card_that_a_decision_settles_is_no_longer_open
    test_what_a_decision_settled_blocks_nothing
    test_a_decision_that_no_longer_holds_settles_nothing
    test_a_decision_on_a_branch_settles_there_until_it_is_merged
    test_a_settled_question_is_not_handed_over_as_open
decisions §3: pinned first, then blocked-by-nothing, then type, then recency
    test_open_questions_hypotheses_and_tests_are_ranked_by_type_and_then_by_recency
    test_what_is_blocked_comes_after_all_that_is_not
    test_what_is_pinned_comes_first_even_when_it_is_blocked
    test_subgoals_are_ranked_as_questions
    test_what_is_not_open_is_no_candidate
shapes think: blocked means by a card that is still open
    test_only_an_open_card_blocks
shapes think_next: the candidate or null
    test_next_is_the_first_of_the_frontier_or_nothing
shapes think_link: an edge between cards
    test_a_link_is_an_edge_between_cards_that_are_there
shapes think_set_status: updated and unchanged; an unknown card is NOT_FOUND
    test_a_status_is_set_for_all_cards_or_none
    test_a_node_that_is_no_card_has_no_status_to_set_and_no_pin
    test_a_card_that_is_not_there_is_missed_with_a_call_that_does_not_miss
    test_a_card_of_a_document_that_is_not_there_is_missed_with_a_call_that_does_not_miss
shapes think_pin: a pin is not part of the card's content
    test_a_pin_is_set_and_taken_off_and_is_no_part_of_the_card
    test_pins_belong_to_their_branch_and_its_snapshot
shapes think_pins: pages of pinned cards
    test_pins_are_listed_in_pages_newest_change_first
    test_any_number_of_pins_can_be_listed
4 think convenience: with a target, branch and documents are those of its reasoning_ref
    test_the_same_cards_of_a_target_are_linked_pinned_and_ranked_there
decisions §3 think_nominal_merge: the oldest is canonical, others get status merged and an edge dedup
    test_duplicates_become_merged_and_point_to_the_oldest
    test_the_oldest_is_canonical_also_when_it_was_changed_last
    test_a_merged_card_is_no_candidate_of_the_frontier
decisions §3 think_nominal_merge: type and normalized title+text agree, or words overlap by at least 0.9
    test_types_must_agree
    test_cards_are_the_same_when_nine_tenths_of_their_words_are
    test_title_and_text_count_together_and_the_similarity_is_told
4 think_nominal_merge: idempotent
    test_merging_again_changes_nothing
shapes think_nominal_merge: candidate_ids, dry_run and a place
    test_a_dry_run_tells_and_writes_nothing
    test_only_the_candidates_that_are_named_are_merged
    test_duplicates_are_looked_for_where_the_call_says
    test_a_document_that_is_not_there_has_no_duplicates_to_merge
decisions §3: six playbooks, always the same; an unknown name is NOT_FOUND listing them
    test_a_playbook_is_a_goal_and_steps_and_always_the_same
    test_an_unknown_playbook_is_not_found_with_those_there_are
shapes think_subgoal_open: a question tagged subgoal below a question, with documents of its own
    test_a_subgoal_is_a_question_below_a_question_with_a_trace_and_a_graph_of_its_own
    test_work_on_a_subgoal_goes_to_its_own_documents
    test_every_subgoal_is_one_of_its_own_and_may_have_subgoals
    test_only_a_question_has_subgoals
    test_the_longest_question_has_subgoals_too
    test_the_subgoals_of_a_target_live_on_its_branch
shapes think_subgoal_close: closed, with a return card; the parent stays open
    test_closing_a_subgoal_leaves_its_question_open
    test_a_closed_subgoal_may_return_a_card_in_any_form
    test_returning_the_same_card_again_changes_nothing
    test_a_subgoal_that_cannot_return_its_card_stays_open
4 think_watch: frontier and recent trace steps
    test_a_watch_is_the_frontier_and_the_end_of_the_trace
    test_a_watch_follows_the_documents_it_is_given
shapes trace_step: an entry with its fields
    test_a_step_is_an_entry_of_the_trace
    test_a_step_that_says_nothing_is_refused
shapes trace_sequential_step: ordering metadata, in the sequential-thinking server's spelling too
    test_a_numbered_thought_keeps_its_ordering
    test_the_spelling_of_the_sequential_thinking_server_works_too
    test_a_thought_needs_its_numbers
4 trace_hydrate: a bounded slice
    test_a_trace_is_read_back_in_pages_oldest_first
4 trace tools: target or explicit ref and doc
    test_traces_are_written_and_read_where_the_call_says
    test_a_derived_branch_goes_on_with_the_thoughts_of_its_base
decisions §3 trace_validate: steps count up without gaps or repeats
    test_a_trace_in_order_has_nothing_wrong
    test_a_gap_and_a_repeat_are_found_where_they_are
    test_thoughts_begin_with_the_first
    test_a_finished_line_of_thought_may_be_followed_by_a_new_one
    test_a_branch_of_thought_counts_for_itself
    test_a_branch_off_a_thought_that_is_not_there_is_a_gap
    test_more_thoughts_than_planned_are_in_order
decisions §3 trace_validate: revisions point to an earlier step; shapes trace: they take the next number
    test_a_revision_takes_the_next_number_and_points_to_an_earlier_thought
    test_a_branch_of_thought_may_revise_what_it_branched_from
shapes trace_validate: other entries are ignored
    test_other_entries_are_passed_over
4 trace_validate: required fields
    test_a_step_whose_numbers_are_incomplete_misses_a_field
decisions §3 budgets: every read of thinking takes all three and never exceeds them
    test_every_read_of_thinking_takes_the_three_budgets
    test_no_budget_of_a_read_of_thinking_is_ever_exceeded_or_silent
    test_no_budget_of_a_target_is_ever_exceeded_or_silent
    test_all_budgets_of_a_read_of_thinking_hold_at_once
    test_a_budget_on_thinking_changes_nothing_in_the_store
decisions §3 budgets: below 500 or 10 they are INVALID_REQUEST, and the skeleton of every result fits in that
    test_a_budget_below_the_least_is_refused_by_every_read_of_thinking
    test_the_least_budget_of_a_read_of_thinking_holds_with_the_longest_names
decisions §3 budgets: long contents are shortened first, then the oldest go, next is the last to go
    test_long_texts_are_shortened_before_cards_are_dropped
    test_a_small_context_keeps_the_newest_cards
    test_the_next_call_of_ordinary_thinking_is_whole_in_a_small_budget
    test_a_small_check_of_a_trace_still_says_that_something_is_wrong
shapes budgets: max_lines counts the line breaks inside strings
    test_line_breaks_in_the_keys_of_meta_count_as_lines_too
shapes budgets: paging through a budget still gives every row exactly once
    test_paging_thinking_through_a_budget_gives_every_row_exactly_once
    test_the_rest_of_a_pack_is_reached_from_where_its_budget_cut
"""
