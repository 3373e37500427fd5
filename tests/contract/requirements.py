"""What the documents on capsules and artifacts promise, each with the tests that hold it.

A promise is a line `where: what`, the names of its tests stand below it. `test_requirements.py` fails when a promise
has no test, when a named test does not exist, and when a test of the contract serves no promise.
"""

from __future__ import annotations

PROMISES = """
2 §3.2: a capsule above capsule_max_chars is refused with both sizes
    test_a_text_above_the_limit_is_refused_with_both_sizes
    test_a_text_of_exactly_the_limit_is_stored
    test_the_limit_of_characters_is_configurable
decisions §1: characters are Unicode code points; size is checked before structure
    test_characters_are_code_points
    test_size_is_checked_before_structure
2 §3.2: the six required sections must be there, found by header, label or JSON key
    test_a_capsule_without_a_required_section_is_too_thin
    test_sections_may_be_labels_with_a_colon
    test_sections_may_be_json_keys
    test_json_keys_count_with_underscores_and_dashes_as_spaces
    test_the_mark_that_some_editors_write_before_a_text_hides_no_section
decisions §1: missing names the canonical sections in the order of the table
    test_missing_sections_are_named_in_the_order_of_the_table
    test_missing_sections_are_canonical_names_in_the_order_of_the_table
2 §3.2: what stands in a section is not judged
    test_what_stands_in_the_sections_is_not_judged
2 §3.2: allow_thin bypasses the section check and nothing else
    test_allow_thin_bypasses_the_section_check_only
1 §3.2: any synonym in any of the formats counts, in any case
    test_any_synonym_in_any_format_and_case_counts
    test_lint_sees_every_heading_that_append_sees
decisions §1: one parser: headings of any level, closing marks and a trailing colon ignored
    test_levels_closing_marks_and_a_trailing_colon_are_no_part_of_a_title
    test_sections_are_where_the_rules_say
    test_sections_tile_the_text_after_the_first_heading
    test_a_section_behind_that_mark_is_found_where_it_is
decisions §1: headings inside fenced code do not count
    test_what_only_looks_like_a_section_does_not_count
    test_a_heading_after_closed_or_unopened_code_counts
    test_headings_in_fenced_code_are_not_sections
2 §4: an id is a ULID, sortable by creation
    test_an_id_is_a_ulid_of_26_characters
    test_ids_sort_by_creation
decisions §0: ids never repeat and always rise, also when the clock steps back
    test_ids_rise_when_the_clock_stands_still_or_steps_back
2 §4.1: a missing workspace is default
    test_the_workspace_is_default_when_none_is_given
2 §4.2: names and workspaces are stored raw and compared normalized
    test_names_and_workspaces_are_kept_raw_and_compared_normalized
    test_names_that_normalize_alike_collide
    test_workspaces_that_normalize_alike_are_one
    test_names_are_looked_up_normalized_in_the_default_workspace
decisions §0: names have at most 256 characters, no control character, and are not blank
    test_blank_long_and_controlling_names_are_refused
    test_names_may_look_dangerous_and_be_256_characters_long
2 §4.3: exactly one way of addressing: an id beside a name or a workspace is ambiguous
    test_an_id_beside_a_name_or_workspace_is_ambiguous
    test_an_ambiguous_part_fails_the_whole_bundle
decisions §1: no address at all is invalid
    test_a_capsule_must_be_addressed
2 §4.3: names are unique within a workspace, when there is one
    test_the_same_name_lives_in_two_workspaces
    test_unnamed_capsules_never_collide
2 §6.1: store answers id and fetch_key
    test_storing_answers_the_id_and_the_fetch_key
    test_an_unnamed_capsule_is_found_by_its_id_alone
2 §6.1: mode error refuses a taken name
    test_a_taken_name_is_refused_with_the_call_that_shows_its_owner
decisions §1: replace keeps id, created_at and raw names and clears what is not given again
    test_replace_overwrites_and_keeps_id_created_at_and_raw_names
    test_replace_clears_every_optional_field_not_given_again
    test_a_title_that_replace_defaults_is_the_name_that_replace_keeps
2 §10: replace creates when there is no active capsule, and revives none
    test_replace_creates_when_no_active_capsule_has_the_name
    test_replace_does_not_revive_a_deleted_capsule
2 §6.1: a deleted capsule does not hold its name
    test_a_deleted_capsule_does_not_keep_its_name
decisions §1: an empty text is invalid
    test_an_empty_text_is_refused
    test_a_text_is_required
decisions §1: an unknown mode is invalid
    test_an_unknown_mode_is_refused
decisions §1: the title defaults to the name
    test_the_title_defaults_to_the_name
2 §6.1: optional fields come back as given
    test_the_optional_fields_come_back_as_given
decisions §1: run_id, phase and role are trimmed, blank means none
    test_run_id_phase_and_role_are_trimmed_and_blank_means_none
    test_labels_of_a_record_are_found_by_their_filters
decisions §0: tags are trimmed, unique, in order, at most 50 of 100 characters, never blank
    test_tags_are_trimmed_without_duplicates_in_the_order_given
    test_blank_long_and_too_many_tags_are_refused
    test_fifty_tags_of_a_hundred_characters_are_stored
1 §9: tokens are words times 1.3, rounded up
    test_tokens_are_estimated_as_words_times_1_3_rounded_up
decisions §0: null means absent for optional arguments
    test_null_means_absent_for_an_optional_argument
decisions §0: LF and CRLF are kept; a text comes back as it was
    test_a_text_comes_back_byte_for_byte
1 §6.2: fetch shows the whole capsule, by name or by id
    test_a_fetch_shows_the_whole_capsule
    test_a_capsule_is_fetched_by_its_id
2 §6.2: a peek leaves the text out
    test_a_peek_leaves_the_text_out
2 §6.2: deleted capsules are hidden unless include_deleted
    test_a_deleted_capsule_is_not_found
    test_include_deleted_shows_a_deleted_capsule
decisions §1: with include_deleted a name finds the active one, else the most recently deleted one
    test_a_name_finds_the_active_capsule_before_deleted_ones
    test_a_name_without_active_capsule_finds_the_most_recently_deleted_one
    test_the_most_recently_deleted_is_judged_by_the_time_of_deletion
decisions §0: not found carries the one best next call
    test_a_missing_capsule_is_not_found_with_a_call_that_lists_what_there_is
    test_the_recovery_from_a_thin_store_leads_to_the_same_place
    test_the_recovery_from_a_thin_update_addresses_the_same_capsule
2 §6.3: fetch_many: mixed addresses, in the order asked for, each with its fetch_key
    test_fetch_many_mixes_addresses_and_keeps_the_order_asked_for
    test_fetch_many_shows_each_capsule_as_fetch_does
2 §6.3: fetch_many: partial success
    test_fetch_many_reports_what_is_missing_beside_what_it_found
    test_fetch_many_reports_a_bad_address_as_that_items_error
2 §6.3: fetch_many: include_text and include_deleted
    test_fetch_many_can_leave_out_texts_and_include_deleted_ones
2 §6.3: fetch_many: at most 50, none is fine
    test_fetch_many_takes_fifty_items_and_no_more
    test_fetch_many_of_nothing_is_nothing
decisions §0: wrong types are refused with the path of the bad value
    test_a_wrong_type_is_refused_with_the_path_of_the_bad_value
    test_a_value_of_a_wrong_type_is_refused_by_path
decisions §0: unknown arguments are refused, naming the nearest known one
    test_an_unknown_argument_is_refused_naming_it_and_the_nearest
    test_an_unknown_argument_inside_an_item_is_refused_by_path
    test_an_unknown_argument_is_always_refused
2 §6.4: update changes the editable fields and no other
    test_an_update_changes_one_field_and_leaves_the_others
    test_an_update_has_no_argument_that_renames
    test_an_update_by_id_of_an_unnamed_capsule_answers_its_fetch_key
    test_an_update_of_the_text_measures_it_anew
2 §6.4: an update of nothing is invalid
    test_an_update_of_nothing_is_refused
2 §6.4: size and structure are checked when the text changes, and only then
    test_an_update_to_a_text_above_the_limit_is_refused
    test_an_update_to_a_thin_text_is_refused_unless_allowed
    test_an_update_to_an_empty_text_is_refused
    test_metadata_of_a_thin_capsule_can_be_updated
    test_a_metadata_update_of_a_text_above_the_limit_is_allowed
decisions §1: empty strings and an empty list clear
    test_empty_strings_and_an_empty_list_clear_fields
1 §6.5: update works on active capsules only
    test_a_deleted_capsule_cannot_be_updated
2 §6.5: delete is soft, answers the id, and counts as a change
    test_a_delete_answers_the_id_and_happens_once
    test_a_delete_moves_the_capsule_to_the_front_of_the_changes
    test_a_delete_sets_deleted_at_and_updated_at
decisions §1: restore brings a capsule back unless its name is taken
    test_a_restored_capsule_is_active_under_its_name_again
    test_a_capsule_whose_name_was_taken_is_not_restored
    test_an_unnamed_capsule_is_restored
    test_a_capsule_that_is_not_there_is_not_restored
    test_restoring_an_active_capsule_leaves_it_as_it_was
2 §6.6: latest is the most recently changed capsule of the workspace, or null
    test_latest_is_the_most_recently_changed_capsule
    test_latest_of_an_empty_workspace_is_null
    test_latest_reads_one_workspace
2 §6.6: latest shows the text only when asked
    test_latest_shows_the_text_only_when_asked
1 §6.6: latest with deleted ones goes by the time of change alone
    test_latest_with_deleted_has_no_preference_for_active_ones
2 §6.6: latest narrows by run, phase and role
    test_latest_narrows_by_run_phase_and_role
2 §6.7: lists are summaries with pagination and sort, never the text
    test_a_list_shows_summaries_with_pagination_and_sort
    test_a_list_never_shows_the_text
    test_unnamed_capsules_are_listed_with_their_id_as_key
decisions §0: the order is the true order of change, also within one second
    test_a_list_is_in_the_true_order_of_change
    test_changes_within_one_second_keep_their_order
    test_times_are_whole_seconds_of_the_clock
decisions §0: pages show every row exactly once
    test_pages_show_every_row_exactly_once
    test_a_page_beyond_the_end_is_empty_and_the_last
decisions §0: limits are clamped above and refused below; a negative offset is refused
    test_a_limit_above_the_maximum_is_clamped_and_shown
    test_a_limit_below_1_and_a_negative_offset_are_refused
    test_a_page_as_far_away_as_a_number_can_be_is_empty
2 §6.7: deleted capsules are listed only when asked
    test_a_list_leaves_deleted_capsules_out_unless_asked
2 §6.8: a list is of one workspace, an inventory of all
    test_a_list_is_of_one_workspace_and_an_inventory_of_all
2 §6.7: lists narrow by run, phase and role
    test_a_list_narrows_by_run_phase_and_role_together
2 §6.8: an inventory filters by exact tag and by the beginning of a name
    test_an_inventory_filters_by_exact_tag
    test_an_inventory_filters_by_the_beginning_of_the_normalized_name
decisions §0: updated_at moves with every change and never falls
    test_a_change_moves_updated_at_and_not_created_at
    test_updated_at_never_falls_when_the_clock_steps_back
2 §6.9: a hit has address, snippet and fetch_key
    test_a_hit_has_its_address_a_snippet_and_a_fetch_key
    test_a_hit_of_the_search_over_everything_can_be_fetched
    test_a_capsule_that_passes_the_check_is_found_by_its_sections
2 §6.9: nothing found is an empty list
    test_nothing_found_is_an_empty_list
2 §6.9: a query has at most 1000 characters and is not blank
    test_a_query_has_at_most_1000_characters
    test_a_blank_query_is_refused
2 §6.9: a malformed query is invalid
    test_a_truly_malformed_query_is_refused
decisions §0: strict, then relaxed, by the total within the filters; operands of NOT stay excluded
    test_a_query_that_matches_nothing_exactly_is_searched_as_a_question
    test_fewer_than_three_words_are_never_relaxed
    test_what_matches_within_the_filters_decides_and_pages_agree
decisions §1: an import settles each line as if it came alone, however many are written together
    test_capsules_that_are_taken_together_come_out_as_one_by_one
decisions §0: Chinese, Japanese and Korean are found by words
    test_chinese_japanese_and_korean_are_found_by_their_words
    test_a_longer_run_comes_first_where_all_of_it_stands
    test_chinese_in_a_title_a_note_and_a_changed_text_is_found
    test_a_snippet_shows_chinese_matches
decisions §1: punctuation alone finds nothing
    test_punctuation_alone_finds_nothing
decisions §0: ordinary text that trips FTS5 is searched as text
    test_ordinary_text_is_searched_as_text
decisions §0: operators are exact, a leading NOT included
    test_operators_work_exactly
    test_a_leading_not_lists_the_newest_first
decisions §0: a plain query: any word, rare ones counting most, stemmed, stop words dropped
    test_a_plain_question_finds_any_word_with_most_words_first
    test_a_plain_query_is_stemmed
    test_a_query_of_stop_words_only_is_searched_with_them
    test_equal_matches_come_newest_first
    test_search_ignores_case_and_accents
2 §6.9: title matches weigh more
    test_a_word_in_the_title_weighs_more_than_in_the_body
2 §6.9: search narrows by its filters
    test_search_narrows_by_every_filter
    test_search_leaves_deleted_capsules_out_unless_asked
decisions §0: search pages show every hit exactly once
    test_search_pages_show_every_hit_exactly_once
decisions §1: what is written is found at once, what is purged never again
    test_every_change_is_found_at_once
decisions §0: snippets are escaped text in which only hits are bold
    test_a_snippet_is_escaped_text_with_bold_hits_and_nothing_else
2 §6.10: an export answers path, count, time and bytes
    test_an_export_answers_its_path_count_time_and_bytes
1 §6.9: the file is JSONL with a header
    test_an_export_begins_with_a_header_and_has_one_record_a_line
decisions §0: every file is private whatever the umask
    test_an_export_file_is_private_whatever_the_umask
decisions §1: the default file is named after workspace and time and overwrites nothing
    test_a_default_file_is_named_after_workspace_and_time
    test_a_default_file_never_overwrites_another
2 §6.10: an export can be of one workspace and can include deleted ones
    test_an_export_can_be_of_one_workspace
    test_an_export_leaves_deleted_capsules_out_unless_asked
2 §8.1: files live directly in an allowed folder and end in .jsonl
    test_a_path_outside_the_exports_folder_is_refused
    test_a_path_that_begins_with_a_tilde_is_expanded
    test_a_folder_listed_under_allowed_paths_is_allowed
    test_allow_unsafe_paths_opens_every_folder_but_not_every_file
decisions §1: an export above import_max_bytes warns
    test_an_export_above_the_import_limit_warns
2 §6.11: an import needs a path to a file that is there
    test_an_import_needs_a_path
    test_an_import_of_a_missing_file_is_refused
decisions §1: export and import give back every column of every row, in order
    test_an_import_into_an_empty_store_restores_what_was_exported
    test_every_column_of_the_table_takes_part
    test_a_restored_store_has_every_column_of_every_row_in_the_same_order
    test_an_export_of_the_restored_store_is_the_same_file
1 §6.9: header and blank lines are skipped
    test_header_and_blank_lines_are_ignored
    test_crlf_and_a_byte_order_mark_do_not_matter
2 §6.11: normal forms and measures are computed anew
    test_normal_forms_and_measures_are_computed_anew
1 §6.10: times are restored as given; a deleted capsule stays deleted
    test_times_are_restored_as_given
    test_a_deleted_record_stays_deleted_and_claims_no_name
1 §6.10: texts are restored as they are, empty or oversized
    test_an_empty_and_an_oversized_text_are_restored_as_they_are
decisions §1: a bad record is skipped and reported
    test_a_bad_record_is_skipped_and_reported_by_its_line
decisions §1: a line that is not JSON fails the whole import and is not shown
    test_a_line_that_is_not_json_fails_the_whole_import_without_showing_it
    test_a_line_that_is_not_utf8_fails_the_whole_import
1 §6.10: error mode, the default, imports nothing on a collision and names every colliding line
    test_error_mode_refuses_a_taken_id_and_a_taken_name_all_at_once
    test_error_mode_is_the_default
    test_a_deleted_capsules_id_is_taken_too
    test_two_lines_of_one_file_that_collide_are_a_collision
    test_every_colliding_line_is_named_also_behind_one_that_collides
    test_an_import_knows_three_modes
    test_a_collision_says_what_collided_and_why
    test_errors_are_named_up_to_a_thousand_and_all_are_counted
1 §6.10: replace overwrites by id or by name, keeps the id, refuses the ambiguous
    test_replace_by_id_overwrites_in_place
    test_replace_by_name_keeps_the_id_that_is_there_and_restores_the_times
    test_replace_inserts_what_does_not_collide
    test_replace_revives_a_deleted_capsule_of_that_id
    test_an_ambiguous_replace_fails_the_whole_import
    test_of_two_lines_that_replace_each_other_the_later_one_stays
    test_a_line_that_meets_two_others_of_its_file_is_ambiguous
1 §6.10: rename adds a number and gives new ids
    test_rename_adds_the_first_free_number_and_keeps_the_spelling
    test_rename_gives_a_new_id_on_an_id_collision
    test_rename_shortens_a_name_that_would_pass_256_characters
    test_rename_leaves_names_without_collision_alone
decisions §1: files above import_max_bytes are refused with both sizes
    test_a_file_above_the_limit_is_refused_with_both_sizes
    test_a_file_of_exactly_the_limit_is_imported
2 §6.12: purge removes deleted capsules for good
    test_a_purge_removes_deleted_capsules_for_good
    test_a_purge_can_be_of_one_workspace
    test_a_purge_of_nothing_says_so
decisions §1: older_than_days counts from the deletion; 0 means all; negative is invalid
    test_a_purge_can_leave_recent_deletions
    test_a_purge_by_age_counts_from_the_deletion
    test_a_purge_older_than_0_days_takes_all_also_after_the_clock_stepped_back
    test_a_purge_of_negative_days_is_refused
2 §6.13: a Markdown bundle joins its parts under their display names
    test_a_bundle_shows_each_part_under_its_display_name
2 §6.13: a JSON bundle has structured parts
    test_a_json_bundle_has_structured_parts
2 §6.13: all or nothing
    test_a_missing_part_fails_the_whole_bundle
decisions §1: 1 to 50 items
    test_a_bundle_has_1_to_50_parts
    test_a_bundle_of_fifty_is_made
2 §6.13: a bundle above the limit is refused
    test_a_bundle_above_the_limit_is_refused
2 §6.13: formats are markdown and json
    test_an_unknown_format_is_refused
2 §6.13: store_as stores as capsule_store does and needs a name
    test_a_stored_bundle_is_a_capsule_like_any_other
    test_a_stored_bundle_is_checked_for_its_sections
    test_a_stored_bundle_respects_taken_names_and_the_mode
    test_a_stored_bundle_needs_a_name
2 §6.13: a JSON bundle cannot be stored
    test_a_json_bundle_cannot_be_stored
decisions §1: sections keeps only those sections; parts without any are named
    test_a_bundle_keeps_only_the_wanted_sections
    test_a_part_without_any_wanted_section_is_left_out_and_named
    test_whatever_append_can_reach_compose_keeps
    test_compose_keeps_the_wanted_sections_in_the_order_of_the_text
2 §6.14: bulk tools hit active capsules that match every filter
    test_bulk_tools_hit_the_active_capsules_that_match_every_filter
    test_bulk_deleted_capsules_can_be_restored
2 §6.14: the message names the filters and what was set
    test_bulk_messages_name_the_filters_and_what_was_set
2 §6.14: at least one filter that is not blank is needed
    test_bulk_tools_without_any_real_filter_are_refused
decisions §1: a blank filter beside a good one is refused
    test_a_blank_filter_beside_a_good_one_is_refused
    test_a_misspelt_filter_never_widens_a_bulk_change
2 §6.15: at least one field to set is needed
    test_a_bulk_update_of_nothing_is_refused
2 §6.15: tags are replaced, empty values clear
    test_a_bulk_update_replaces_tags_and_clears_with_empty_values
    test_a_bulk_update_refuses_bad_tags
2 §6.15: a bulk change counts as a change of each capsule
    test_a_bulk_change_moves_its_capsules_to_the_front_in_their_order
2 §6.16: append adds below the content after a blank line and answers what it hit
    test_an_append_goes_below_the_content_after_a_blank_line
    test_an_append_to_the_last_section_ends_the_text
    test_an_append_measures_the_text_anew_and_counts_as_a_change
2 §6.16: sections match by exact header in any case, without synonyms or labels
    test_an_append_finds_the_section_in_any_case
    test_an_append_does_not_resolve_synonyms
    test_an_append_does_not_see_labels_with_a_colon
decisions §1: a placeholder that is the whole content is replaced
    test_an_append_takes_the_place_of_a_placeholder
    test_content_that_only_begins_like_a_placeholder_stays
decisions §1: every heading starts a flat section and the first match wins
    test_the_first_section_of_that_name_wins
    test_a_heading_of_any_level_ends_a_section
decisions §1: append keeps line ends and every other byte
    test_an_append_keeps_crlf
    test_an_append_keeps_every_other_byte
    test_an_append_of_plain_text_leaves_every_heading_a_heading
2 §6.16: a missing section is refused with those there are; JSON has none
    test_a_section_that_is_not_there_is_refused_with_those_that_are
    test_a_json_capsule_has_no_section_to_append_to
2 §6.16: blank content is invalid
    test_blank_content_is_not_appended
2 §6.16: the size limit holds for appends, the section check does not
    test_an_append_past_the_limit_is_refused
    test_an_append_is_not_checked_for_sections
decisions §1: append omits fetch_key for an unnamed capsule
    test_an_append_to_an_unnamed_capsule_answers_no_fetch_key
2 §7.1: a cancelled import rolls back in all modes
    test_a_cancelled_import_leaves_nothing
2 §7.1: a cancelled export leaves no file and keeps the old one
    test_a_cancelled_export_leaves_no_file
    test_a_cancelled_export_keeps_the_file_that_was_there
2 §7.1: fetch_many and compose can be cancelled
    test_a_cancelled_batch_answers_cancelled_and_stores_nothing
    test_a_caller_who_goes_on_is_served
decisions §0: long calls report progress
    test_long_calls_tell_how_far_they_are
decisions §0: the eleven v1.0 names answer with task_link
    test_every_v1_name_answers_as_its_later_tool_with_task_link
    test_an_unnamed_capsules_task_link_is_its_id
    test_a_v1_answer_never_says_fetch_key_and_a_later_one_never_task_link
    test_a_v1_refusal_has_the_same_code
    test_a_v1_write_is_logged_under_the_tools_own_name
decisions §0: they are never listed, and there are only eleven
    test_a_v1_name_is_found_but_never_listed
    test_later_tools_have_no_v1_name
decisions §0: one event for each mutation, none for reads and failures, never a text
    test_every_successful_mutation_leaves_exactly_one_event
    test_reads_leave_no_event
    test_failures_leave_no_event
    test_an_event_names_the_tool_the_workspace_the_capsule_and_the_time
    test_events_are_numbered_in_the_order_of_commit
    test_a_purged_capsules_events_stay_without_its_text
decisions §0: whatever is sent is served or refused with a documented code, and a refusal changes nothing
    test_any_value_for_any_argument_is_served_or_refused_with_a_documented_code
    test_any_mixture_of_hostile_values_is_served_or_refused
    test_hostile_values_get_one_typed_answer_over_mcp
    test_arguments_that_are_no_object_are_refused
    test_a_missing_or_null_required_argument_is_refused_by_name
    test_an_unknown_tool_is_refused_naming_the_nearest
decisions §0: recovery is one best next call that can be sent as it is
    test_an_expired_artifact_is_said_to_be_expired_and_the_next_call_shows_it
    test_the_call_after_fetching_an_artifact_that_is_deleted_and_expired_shows_it
    test_the_call_after_a_thin_store_stores_the_capsule_once_it_is_filled_in
    test_the_call_after_a_thin_update_updates_the_same_capsule
    test_the_call_after_a_thin_bundle_stores_the_bundle_once_it_is_filled_in
    test_the_call_after_a_thin_json_capsule_stays_json
    test_the_call_after_fetching_a_deleted_capsule_brings_it_back
    test_the_call_after_fetching_a_deleted_capsule_whose_name_is_taken_shows_it
decisions §0: a filter never widens a bulk change
    test_a_prefix_with_a_space_at_its_end_does_not_widen
decisions §1: append and compose see the same sections, and append keeps every other line
    test_an_append_touches_only_whole_lines
    test_a_bold_header_and_one_given_with_its_marks_are_the_same_section
    test_a_title_with_line_breaks_forges_no_section_of_a_bundle
decisions §0: a plain question is stemmed, words that end in y too
    test_a_question_finds_the_forms_of_a_word_that_ends_in_y
3 store: answers id, workspace, name, kind, version, sizes and expires_at
    test_storing_an_artifact_answers_what_the_document_lists
    test_the_size_of_data_is_that_of_compact_json
3 store: kind and data are required, everything else has its default
    test_an_artifact_needs_only_a_kind_and_data
    test_an_artifact_without_kind_or_data_is_refused
decisions §2: data is a JSON object
    test_data_that_is_no_object_is_refused
decisions §2: a blank kind is invalid, wherever one is given
    test_a_blank_kind_is_refused
3 kinds: Moss stores kind and data without judging them
    test_data_is_not_checked_unless_asked
    test_data_is_checked_only_when_asked
3 normalization: names and workspaces are stored raw and compared normalized
    test_an_artifact_is_kept_raw_and_compared_normalized
    test_artifact_names_that_normalize_alike_collide
    test_an_artifacts_name_is_unique_within_its_workspace_only
    test_a_bad_artifact_name_or_workspace_is_refused
    test_an_artifact_and_a_capsule_may_share_a_name
3 store: replace creates, or makes the next version
    test_replace_creates_an_artifact_when_the_name_is_free
    test_replace_makes_the_next_version_and_keeps_id_creation_and_first_spelling
    test_replace_does_not_revive_a_deleted_artifact
3 store: replacing overwrites every field
    test_replacing_an_artifact_clears_what_is_not_given_again
3 store: expected_version updates that version and no other, whatever the mode
    test_the_expected_version_makes_the_next_one
    test_another_version_than_expected_is_a_mismatch_whatever_the_mode
    test_an_expected_version_updates_and_ignores_the_mode
    test_an_expected_version_of_a_missing_artifact_is_not_found
3 store: without a name an artifact is always new, and has no version to expect
    test_an_expected_version_without_a_name_is_refused
    test_an_unnamed_artifact_is_always_new
3 store: the modes are error and replace
    test_an_unknown_artifact_mode_is_refused
3 version: only content raises it
    test_only_content_raises_the_version
decisions §2: what fetch shows can be sent back as it came, nulls included
    test_what_fetch_shows_can_be_sent_back_as_it_came
3 errors: data has at most 50,000 characters of compact JSON, text 12,000
    test_data_of_exactly_the_limit_is_stored_and_one_more_refused
    test_a_text_of_exactly_the_limit_is_stored_with_its_artifact_and_one_more_refused
    test_the_capsule_limit_is_not_the_artifacts
decisions §2: ttl_seconds is a positive integer, null means no expiry
    test_a_ttl_that_is_no_positive_integer_is_refused
    test_a_ttl_beyond_all_time_is_refused_by_the_name_it_was_given
    test_a_null_ttl_means_no_expiry
decisions §0: labels and tags of artifacts follow the rules of all
    test_labels_and_kind_of_an_artifact_are_trimmed_and_blank_labels_mean_none
    test_tags_of_an_artifact_follow_the_rules_of_all_tags
decisions §0: a refused artifact leaves no row, a change leaves one event, a read none
    test_a_failed_artifact_store_leaves_no_row
    test_one_event_for_each_change_of_artifacts_and_never_their_content
    test_reads_and_refusals_of_artifacts_leave_no_event
3 fetch: the whole artifact, by id or by workspace and name
    test_a_fetch_shows_the_whole_artifact
    test_what_an_artifact_does_not_have_is_shown_as_null
    test_a_name_without_workspace_is_looked_for_in_the_default_one
3 addressing: id or workspace and name, not both, not neither
    test_an_artifacts_id_beside_a_name_or_workspace_is_ambiguous
    test_an_artifact_must_be_addressed
3 errors: what is not there is not found, with the call that lists what is
    test_a_missing_artifact_is_not_found_with_a_call_that_lists_what_there_is
    test_a_deleted_artifact_is_not_found
3 delete: soft, answers the id, frees the name
    test_deleting_an_artifact_answers_its_id_and_frees_its_name
    test_a_deleted_artifact_is_kept_and_shown_when_asked
    test_a_name_finds_the_active_artifact_before_deleted_ones_and_the_last_deleted_one_else
3 touch: a new life from now; content and version stay
    test_a_touch_answers_the_new_life_and_keeps_content_and_version
    test_a_touch_gives_a_life_to_what_had_no_end_and_may_shorten_one
    test_a_touch_needs_its_seconds
    test_a_touch_counts_as_a_change_of_the_artifact
    test_a_touch_counts_from_now
3 list: data, never text
    test_a_list_shows_the_data_of_each_artifact_and_never_the_text
3 list: 50 by default, 100 at most, limit, offset and has_more
    test_a_list_of_artifacts_has_the_pagination_of_its_document
    test_fifty_artifacts_are_listed_unless_asked_and_a_hundred_at_most
    test_a_bad_page_of_artifacts_is_refused
3 list: newest first by change or by creation
    test_artifacts_are_listed_by_last_change_or_by_creation
3 list: every filter, exact, everywhere unless a workspace is given
    test_artifacts_are_listed_by_every_filter_alone_and_together
    test_a_list_without_workspace_looks_everywhere
    test_deleted_artifacts_are_listed_only_when_asked
3 bulk: what matches every filter, and nothing without a filter
    test_bulk_tools_hit_the_artifacts_that_match_every_filter
    test_bulk_tools_leave_deleted_artifacts_alone
    test_a_bulk_change_of_artifacts_without_a_filter_is_refused
    test_a_misspelt_filter_never_widens_a_bulk_change_of_artifacts
3 bulk_update: sets what is given, clears with empty values and a null ttl
    test_a_bulk_update_sets_only_what_is_given
    test_a_bulk_update_clears_with_empty_values_and_a_null_ttl
    test_a_bulk_update_sets_the_ttl_from_now_and_leaves_it_alone_when_absent
    test_a_bulk_update_of_artifacts_needs_something_to_set
    test_a_bulk_update_of_artifacts_refuses_bad_tags_by_path
    test_a_bulk_change_moves_its_artifacts_to_the_front_in_their_order
3 compose: each text under kind, role and name, with fallbacks
    test_each_part_of_a_bundle_stands_under_kind_role_and_name
    test_a_header_falls_back_where_role_or_name_are_missing
    test_a_header_stays_one_line_whatever_stands_in_it
decisions §2: every part of a bundle ends in a rule, the last too
    test_a_bundle_keeps_the_order_asked_for_and_every_part_ends_in_a_rule
3 compose: markdown by default, or the parts as json
    test_the_default_format_of_a_bundle_is_markdown
    test_a_json_bundle_of_artifacts_has_data_and_text_of_each
3 compose: all or nothing; every artifact needs a text
    test_a_part_without_text_fails_the_whole_bundle_in_both_formats
    test_a_missing_artifact_fails_the_whole_bundle
    test_a_bundle_of_artifacts_has_1_to_100_parts
    test_an_ambiguous_or_empty_address_fails_the_whole_bundle_by_path
    test_a_cancelled_bundle_of_artifacts_stores_nothing
3 compose: store_as stores the text with its sources
    test_a_stored_bundle_names_its_sources_and_holds_the_text
    test_a_stored_bundle_of_artifacts_respects_taken_names_and_the_mode
    test_a_stored_bundle_needs_a_name_and_a_kind_and_nothing_else
    test_a_stored_bundle_without_workspace_is_stored_in_the_default_one
    test_a_bundle_can_be_composed_again_from_stored_bundles
decisions §2: a stored bundle is limited like any text, a json one is not stored
    test_a_stored_bundle_is_limited_like_any_text_and_an_unstored_one_is_not
    test_a_json_bundle_of_artifacts_cannot_be_stored
3 lifecycle: expired means expires_at <= now; reads filter and delete nothing
    test_times_of_an_artifact_are_whole_seconds_of_the_clock
    test_an_artifact_is_expired_from_the_second_it_expires_at
    test_reads_of_expired_artifacts_delete_nothing
    test_an_expired_artifact_is_not_found_by_any_address
    test_an_expired_artifact_has_no_version_to_expect
    test_an_expired_artifact_is_no_part_of_a_bundle
3 lifecycle: include_expired and include_deleted are independent
    test_include_expired_and_include_deleted_are_independent
3 lifecycle: an expired artifact does not block its name
    test_an_expired_artifact_does_not_block_its_name
    test_what_takes_an_expired_name_is_newer_than_what_had_it
decisions §2: bulk tools touch active, unexpired rows only
    test_bulk_tools_leave_expired_artifacts_alone
decisions §0: an artifact's updated_at moves with every change and never falls
    test_every_change_of_an_artifact_moves_updated_at_and_not_created_at
    test_an_artifacts_updated_at_never_falls_when_the_clock_steps_back
    test_an_artifact_that_is_deleted_when_the_clock_stepped_back_keeps_its_updated_at
    test_every_change_of_an_artifact_has_a_place_of_its_own_also_in_a_sweep
decisions §0: time-to-live uses the wall clock; what was swept stays swept
    test_a_time_to_live_follows_the_wall_clock_back
    test_what_was_swept_stays_swept_when_the_clock_steps_back
3 lifecycle: writes sweep, at most every five minutes, a hundred at most
    test_every_write_sweeps_what_expired
    test_a_sweep_happens_at_most_every_five_minutes
    test_a_sweep_takes_a_hundred_at_most
    test_a_sweep_leaves_alone_what_lives_and_what_is_deleted
    test_a_refused_write_sweeps_nothing
    test_a_sweep_leaves_no_event_of_its_own
3 lifecycle: a sweep is best effort and never fails the write
    test_a_sweep_that_fails_does_not_fail_the_write
    test_a_sweep_that_fails_half_way_takes_nothing
decisions §1: purge does the same for artifacts
    test_a_purge_of_artifacts_by_age_counts_from_the_deletion
    test_a_purge_of_artifacts_leaves_expired_ones_that_are_not_deleted
decisions §2: the seven kinds ship as schemas and are listed
    test_the_seven_kinds_of_the_document_are_listed_with_their_schemas
    test_valid_data_of_every_kind_is_stored
    test_a_kind_that_is_composed_for_models_needs_a_text
    test_every_field_that_a_kind_requires_is_missed_by_name
decisions §2: failed validation tells the path of each error
    test_wrong_data_is_refused_by_its_path
    test_every_error_in_the_data_is_told
    test_a_kind_without_a_schema_cannot_be_checked
    test_a_refused_update_leaves_the_version_that_was_there
    test_a_refused_check_does_not_repeat_a_huge_key_or_value
    test_a_refused_check_of_much_wrong_data_is_bounded
    test_a_check_changes_nothing_by_itself
decisions §2: data is checked when asked or when the configuration says so
    test_the_configuration_can_ask_for_every_check
decisions §2: users add kinds as files
    test_a_file_in_the_folder_of_kinds_is_a_kind
    test_a_users_kind_takes_the_place_of_a_built_in_one
    test_files_that_are_no_kinds_are_left_alone
decisions §2: a bad kind file spoils neither other kinds nor other calls
    test_a_broken_file_is_told_and_spoils_no_other_kind
    test_broken_files_are_told_through_every_door
    test_a_broken_file_does_not_take_the_place_of_a_built_in_kind
    test_a_schema_that_cannot_be_used_refuses_the_check_and_nothing_else
    test_a_file_that_json_cannot_carry_on_does_not_spoil_the_list_of_kinds
    test_a_file_whose_name_is_no_text_does_not_spoil_the_list_of_kinds
    test_a_schema_that_points_elsewhere_makes_moss_fetch_nothing
3 search: artifact texts are found beside capsules, each hit with its address
    test_a_hit_of_an_artifact_can_be_fetched_by_its_address
    test_an_artifact_is_found_by_its_name_and_its_text_and_not_by_its_data
    test_an_artifact_without_text_is_found_by_its_name
    test_capsules_and_artifacts_are_found_together_or_by_type
    test_capsule_search_finds_no_artifact
    test_search_pages_over_both_families_show_every_hit_exactly_once
    test_markup_in_an_artifacts_text_cannot_forge_a_highlight
    test_a_disabled_type_is_not_searched
3 search: what is written is found at once; deleted, expired and purged artifacts are not
    test_every_change_of_an_artifact_is_found_at_once
    test_a_purged_artifact_is_never_found_again
    test_an_expired_artifact_is_not_found_by_any_kind_of_query
    test_expired_artifacts_do_not_count_among_many_common_words
decisions §7: the default workspace is MOSS_WORKSPACE, else the repository's, else the user's
    test_the_default_workspace_comes_from_the_environment_the_repository_or_the_user
    test_an_impossible_default_workspace_is_refused_or_warned_of
decisions §7: where a default workspace is set, every tool that works in one uses it
    test_what_names_no_workspace_is_stored_and_found_in_the_default_one
    test_tools_that_require_a_workspace_use_the_default_one
    test_references_in_lists_and_bundles_mean_the_default_workspace
    test_a_connection_may_have_a_workspace_of_its_own
    test_without_a_default_workspace_the_tools_require_one_as_before
    test_the_list_of_tools_shows_the_default_workspace_and_does_not_require_it
    test_the_instructions_name_the_default_workspace
decisions §7: a default beside an id is not ambiguous; filters without a workspace look everywhere
    test_a_default_workspace_beside_an_id_is_not_ambiguous
    test_filters_still_look_everywhere
decisions §7: the recovery of a thin capsule holds places to fill in, and a text in which one is left is thin
    test_the_call_after_a_thin_store_sent_as_it_is_stores_nothing
    test_the_call_after_a_thin_text_that_ends_in_code_closes_it
    test_a_section_that_only_asks_to_be_filled_in_is_missing
    test_a_section_that_says_more_than_what_to_fill_in_is_there
    test_append_import_and_revert_take_a_text_with_places_to_fill
decisions §7: moss_tools finds every tool that is not switched off, at most 8, with its schema
    test_a_tool_is_found_by_a_question
    test_at_most_eight_tools_are_shown_and_the_total_is_told
    test_a_tool_that_is_named_comes_with_everything_that_it_takes
    test_a_default_workspace_shows_in_the_schema
    test_names_come_before_what_the_question_finds
    test_an_unknown_name_is_told_with_the_nearest
    test_a_blank_question_is_refused
decisions §7: moss_call calls any tool but itself that is not disabled, and answers as it would
    test_a_call_through_another_answers_as_the_call_itself
    test_what_is_called_fails_in_its_own_codes
    test_what_cannot_be_called_is_refused
    test_what_the_configuration_switches_off_is_neither_found_nor_called
    test_a_call_through_another_writes_the_event_of_what_it_called
decisions §7: where the client's list lacks a tool, next and recovery name it through moss_call
    test_a_slim_client_can_make_every_proposed_call_as_it_comes
    test_a_slim_client_recovers_through_what_it_sees
house: what looks like a credential stays out, and nobody is told its value
    test_what_looks_like_a_credential_is_refused_with_its_kind_and_place
    test_the_refusal_of_a_credential_contains_no_text_of_the_caller
    test_a_text_above_its_limit_is_refused_before_it_is_looked_through
    test_a_key_of_a_call_is_looked_through_too
    test_every_storing_tool_refuses_a_credential_in_everything_that_it_takes
    test_what_a_tool_stores_that_is_no_storing_one_is_no_text_of_its_caller
    test_a_caller_who_knows_better_stores_it_all_the_same
    test_the_configuration_can_let_it_pass
    test_a_bundle_of_what_holds_a_credential_is_not_stored_again_unnoticed
    test_records_refuse_a_credential_with_the_same_code
    test_what_removes_or_reads_is_never_refused_for_a_credential
    test_a_refusal_names_at_most_twenty_findings
house: every text that a tool stores has a limit, text_max_chars, checked before anything else is done with it
    test_every_text_argument_of_every_writing_tool_has_a_limit
    test_the_arguments_with_a_limit_of_their_own_are_these
    test_a_text_of_just_that_size_is_stored
    test_each_of_many_nodes_may_be_large
    test_the_configuration_says_how_large_a_text_may_be
    test_what_is_too_large_is_refused_before_it_is_looked_through
decisions §7: a name that is not found says where it is, which names are nearest, and the call that loads the first
    test_a_name_that_is_in_another_workspace_is_said_to_be_there
    test_the_workspaces_that_have_the_name_are_told_newest_first_and_at_most_five
    test_the_nearest_names_are_told_its_own_workspace_first
    test_names_that_are_not_alike_are_not_proposed
    test_expired_artifacts_are_not_proposed
    test_who_asks_for_expired_artifacts_is_shown_the_one_that_is_proposed
    test_a_change_of_what_is_not_there_proposes_to_read_first
    test_what_was_deleted_here_is_brought_back_rather_than_sought_elsewhere
    test_the_distance_between_names_is_the_least_number_of_changed_letters
decisions §7: reads that take max_chars use 30,000 when no budget is given; max_chars 0 means none
    test_no_read_answers_more_than_the_usual_budget_by_itself
    test_any_budget_that_is_given_takes_the_place_of_the_usual_one
    test_walking_through_a_budget_gives_every_task_once
decisions §7: artifact_list, retrieve_* and timelines never shorten: a page ends early and says where to go on
    test_a_page_of_whole_items_ends_early_and_says_where_to_go_on
    test_a_page_holds_at_least_one_item_and_never_shortens_it
    test_pages_are_of_a_hundred_thousand_characters_by_themselves
decisions §7: moss_workspaces lists the workspaces with counts, most recently changed first
    test_workspaces_are_listed_with_what_is_in_them_newest_change_first
    test_what_is_gone_does_not_count_and_an_empty_workspace_is_not_listed
    test_workspaces_come_in_pages
    test_a_closed_family_makes_no_workspace_and_counts_nothing
decisions §7: capsule_latest that finds none names the newest of other workspaces
    test_latest_where_nothing_is_tells_the_newest_of_other_workspaces
house: import, restore, revert and migrate never refuse a credential and say what they found
    test_an_import_refuses_nothing_and_says_what_it_found
    test_a_folder_that_comes_in_says_what_it_holds
    test_kept_records_come_in_and_say_what_they_hold
    test_what_is_restored_or_reverted_says_what_it_holds
    test_an_earlier_version_is_looked_through_too
    test_everything_that_is_stored_can_be_looked_through
decisions §7: disabled_types closes a family in every answer
    test_nothing_of_a_closed_family_is_in_any_answer
    test_a_family_that_is_switched_off_has_no_history
    test_without_reasoning_the_radar_has_no_reference_and_a_task_keeps_its_own_notes
    test_without_tasks_the_trace_of_a_task_is_still_reasonings
    test_a_hand_over_is_no_capsule_where_capsules_are_closed
    test_a_closed_family_is_neither_counted_nor_told_of
house: tools answer what they declare, all of it and nothing else, over every door
    test_everything_declared_is_answered
    test_the_official_client_finds_every_answer_to_be_of_its_output_schema
    test_without_the_setting_no_output_schema_is_listed
    test_an_error_is_no_answer_and_needs_none_of_its_fields
    test_every_shape_inside_an_answer_has_a_name_of_its_own
    test_a_shape_says_what_its_fields_mean_and_shows_only_what_it_has
decisions §6: every change of a capsule makes a version, also one to equal content
    test_every_change_of_a_capsule_counts_also_one_to_what_it_was
    test_a_bulk_update_counts_for_every_capsule_that_it_changes
decisions §6: an import keeps the file's versions, over a row it is the next one, without one it is 1
    test_an_import_over_a_capsule_is_its_next_version
    test_every_line_of_an_import_over_one_capsule_is_a_version
    test_a_new_row_of_an_import_keeps_its_version_or_starts_at_one
    test_an_imported_version_that_is_none_is_an_invalid_record
    test_an_export_carries_the_version_and_no_history
decisions §6: delete and restore do not count; of artifacts only store and revert do
    test_deleting_and_restoring_make_no_version_and_answer_as_before
    test_of_artifacts_only_store_and_revert_make_a_version
decisions §6: every tool that shows or changes a capsule shows its version
    test_every_tool_that_shows_a_capsule_shows_its_version
    test_a_hand_over_is_the_next_version_of_its_capsule_and_packs_show_it
decisions §6: an expected_version that is another is refused with both, nothing there is not found
    test_a_change_of_another_version_than_the_expected_one_is_refused
    test_nothing_there_at_an_expected_version_is_not_found
    test_a_store_expects_a_version_only_where_it_replaces
    test_a_stored_bundle_takes_an_expected_version
    test_what_the_text_breaks_is_refused_before_the_version
decisions §6: moss_history lists versions newest first, the present one included, each with what it changed
    test_the_history_lists_every_version_newest_first_with_the_present_one
    test_an_unnamed_row_has_a_history_without_a_name
    test_pages_of_a_history_show_every_version_once
    test_a_history_that_is_asked_for_wrongly_is_refused
    test_the_history_of_a_deleted_row_is_shown
    test_a_change_names_the_sections_and_fields_that_differ
    test_a_change_of_the_text_is_told_by_its_sections
    test_a_change_of_many_things_and_of_odd_ones_is_one_short_line
    test_a_change_of_an_artifact_names_fields_and_never_their_values
decisions §6: fetch takes a version or a time, not both, and says what there is where there is none
    test_every_version_is_fetched_as_it_was
    test_a_version_that_is_not_there_is_not_found_and_told_which_are
    test_a_time_that_is_none_is_refused
    test_a_version_beside_a_time_is_refused
    test_a_time_chooses_the_version_that_was_current_then
    test_a_time_may_be_iso_8601_and_a_date_is_its_end
    test_of_several_versions_in_one_second_a_time_means_the_last
    test_times_of_versions_never_fall_when_the_clock_steps_back
    test_an_expired_artifact_shows_its_versions_to_those_who_ask
decisions §6: old versions are not searched
    test_an_old_text_is_neither_searched_nor_listed
decisions §6: a revert writes old content and metadata as a new version, unless it is equal
    test_a_revert_makes_the_old_content_the_next_version
    test_a_revert_to_equal_content_changes_nothing
    test_a_revert_brings_metadata_back_and_leaves_names_alone
    test_a_revert_leaves_the_time_to_live_of_an_artifact_alone
    test_a_revert_is_not_checked_as_new_text_would_be
    test_a_revert_to_what_is_not_there_is_refused
    test_an_artifact_is_reverted_only_at_its_expected_version
decisions §6: the newest history_keep versions are kept, none superseded more than history_days ago
    test_the_newest_versions_are_kept_the_present_one_included
    test_a_hundred_versions_are_kept_by_default
    test_a_version_superseded_too_long_ago_is_let_go_at_the_next_write
    test_a_bulk_update_lets_go_of_old_versions_too
    test_one_row_is_trimmed_and_no_other
decisions §6: an erased version stays listed
    test_an_erased_version_stays_listed_and_cannot_be_read
decisions §6: moss_rename gives another name or workspace in the given spelling, unless it is taken
    test_a_renamed_row_is_found_by_its_new_name_alone
    test_a_row_moves_to_another_workspace_with_or_without_a_new_name
    test_an_unnamed_row_is_given_a_name_or_moves_without_one
    test_a_rename_to_a_taken_name_is_refused_with_the_call_that_shows_its_owner
    test_a_row_may_be_given_its_own_name_in_another_spelling
    test_a_name_of_the_other_family_and_of_a_deleted_row_is_free
    test_a_rename_to_nothing_or_to_no_name_is_refused
    test_a_rename_of_what_is_not_there_is_refused
    test_a_title_that_was_only_the_name_follows_it
    test_a_cleared_title_stays_cleared
    test_a_renamed_row_is_searched_where_it_is_now
    test_a_renamed_row_is_the_one_last_changed
    test_the_name_of_an_expired_artifact_is_free
    test_an_expired_artifact_cannot_be_renamed
decisions §6: a restore takes an id, or a name for the most recently deleted one
    test_a_deleted_row_comes_back_by_id_or_name_as_it_was
    test_restoring_what_is_there_is_refused
    test_by_name_the_most_recently_deleted_one_comes_back
    test_an_unnamed_row_comes_back_by_its_id
    test_a_row_whose_name_is_taken_stays_deleted
    test_a_restore_without_or_with_two_addresses_is_refused
    test_an_artifact_that_expired_is_not_brought_back
    test_an_expired_artifact_makes_way_for_the_one_that_comes_back
    test_the_refusal_of_a_deleted_row_brings_it_back
decisions §6: a restore takes filters, at least one, and names what it skipped
    test_filters_bring_back_all_that_match_all_of_them
    test_each_family_has_the_filters_of_its_bulk_tools
    test_filters_are_one_object_with_something_in_it
    test_rows_whose_name_is_taken_are_skipped_and_named
    test_a_bulk_delete_is_taken_back_whole_and_in_its_order
decisions §6: a dry run answers as usual, with dry_run and the first 20 ids, and changes nothing
    test_a_dry_run_answers_as_usual_and_changes_nothing
    test_a_dry_run_that_is_false_is_none
    test_a_dry_run_is_refused_where_the_real_one_is
    test_a_dry_purge_knows_the_age_and_says_that_nothing_is_erased
    test_a_dry_run_makes_no_store
    test_a_dry_run_leaves_expired_artifacts_out_and_unswept
decisions §6: moss_erase leaves no byte of it, deleted or not, in rows, versions, search, events and copies of merges
    test_a_node_takes_its_edges_along_and_what_they_say
    test_an_erased_thought_is_no_fault_of_its_trace
    test_a_task_takes_along_what_merges_copied_from_its_branch
    test_the_hand_over_that_was_written_of_a_task_goes_with_it
    test_a_deleted_task_is_erased_from_what_still_tells_of_it
    test_a_capsule_is_erased_with_its_versions_deleted_or_not
    test_an_artifact_is_erased_with_its_versions
    test_one_version_is_erased_stays_listed_and_cannot_be_read
    test_a_note_keeps_its_place_and_takes_the_copies_of_merges_along
    test_a_trace_entry_of_a_task_takes_its_event_along
    test_a_node_is_erased_on_every_branch_with_its_conflicts_and_the_card_in_the_trace
    test_a_task_says_nothing_any_more_and_stands_where_it_stood
    test_a_step_is_erased_with_its_notes_and_evidence_and_the_rest_stays
    test_a_step_whose_id_begins_like_that_of_an_erased_one_keeps_its_events
    test_a_record_takes_its_observations_along_and_the_entity_is_folded_again
    test_a_node_is_erased_on_branches_that_inherit_it_with_its_own_type_and_status
    test_a_subgoal_that_was_named_after_an_erased_question_is_named_after_its_id
    test_a_deleted_step_is_erased_alone_or_with_its_task
    test_who_worked_on_a_task_and_the_keys_of_calls_go_with_it
decisions §6: moss_erase touches nothing of another thing; hand-overs that Moss wrote lose only what quotes it
    test_whatever_is_erased_among_things_of_the_same_names_goes_alone_and_whole
    test_a_card_of_the_same_id_in_another_graph_keeps_its_trace
    test_hand_overs_of_others_that_moss_wrote_keep_all_but_the_erased_title
    test_hand_overs_that_moss_wrote_keep_all_but_an_erased_note_and_card
decisions §6: moss_erase refuses the present version alone and what names nothing of the type, and names the copies
    test_the_present_version_cannot_be_erased_alone
    test_what_names_another_type_is_refused
    test_what_the_named_branch_does_not_have_is_not_taken_out
    test_a_note_is_known_by_its_number_in_whichever_document_it_stands
    test_copies_in_the_home_are_named
    test_what_a_person_wrote_is_named_and_not_changed
decisions §9: the overview tells what there is and what changed, day by day
    test_what_there_is_is_counted_by_family_and_workspace
    test_each_change_counts_on_its_day_for_its_family
    test_the_days_are_those_of_the_events_also_of_calls_that_write_several
    test_an_empty_store_has_no_activity
    test_changes_after_a_known_one_come_oldest_first_and_each_once
decisions §0: a call sent again with its idempotency_key is carried out once; other arguments are a CONFLICT
    test_a_call_sent_again_with_its_key_is_answered_as_before_and_done_once
    test_every_family_and_name_answers_again
    test_the_same_key_with_other_arguments_is_a_conflict
    test_arguments_that_mean_the_same_are_the_same
    test_a_key_belongs_to_one_workspace_and_one_tool
    test_the_methods_of_a_store_take_a_key_where_the_tool_writes
decisions §0: answers are remembered for a day, never those of failures; reads ignore the key
    test_a_failed_call_is_not_remembered_and_may_be_sent_again
    test_a_key_is_forgotten_after_a_day_and_what_is_forgotten_is_removed
    test_reading_tools_and_dry_runs_ignore_the_key
    test_what_is_no_key_is_refused
    test_a_key_may_be_any_text_of_256_characters
decisions §6: remembered answers are emptied by a purge, and their calls still not repeated
    test_after_a_purge_a_call_is_still_not_carried_out_again
workspaces: one is renamed whole, every family of it, under a name that nothing has
    test_a_renamed_workspace_has_everything_of_every_family_under_its_new_name
    test_a_renamed_record_has_the_id_that_it_would_have_had_there
    test_a_renamed_capsule_has_its_next_version_and_an_artifact_its_old_one
    test_a_workspace_can_be_spelled_otherwise
    test_a_taken_name_is_a_conflict_and_changes_nothing
    test_a_name_that_only_deleted_capsules_have_is_taken_and_the_refusal_says_so
    test_an_unknown_workspace_is_not_found_with_the_nearest
    test_the_default_workspace_that_is_renamed_is_told_of
workspaces: one is deleted whole; what can be restored can be, and a dry run says first what is in it
    test_a_dry_run_counts_and_changes_nothing
    test_a_deleted_workspace_leaves_only_what_can_be_restored
    test_numbers_of_changes_go_on_after_a_deletion
    test_work_begins_anew_in_a_workspace_that_was_deleted
    test_a_workspace_is_not_changed_in_part_where_a_family_is_closed
workspaces: those that changed last come first, with what they hold
    test_the_workspaces_that_changed_last_come_first_with_what_they_hold
    test_what_is_deleted_or_has_expired_does_not_count
    test_what_changed_long_ago_is_ordered_by_its_day
    test_a_workspace_in_which_nothing_is_left_is_not_recent
    test_a_closed_family_makes_no_workspace_recent
decisions §10: a fetch_key is an address wherever a capsule or artifact is addressed by name
    test_every_tool_that_addresses_by_name_is_known_here
    test_a_fetch_key_is_an_address
    test_a_fetch_key_is_an_item
    test_a_fetch_key_stands_alone
    test_what_is_no_fetch_key_is_refused
    test_the_key_of_another_family_names_its_tool
decisions §10: a name in several places is listed, a renamed one is followed, what is not deleted is not restored
    test_a_name_in_several_workspaces_is_listed_and_none_is_picked
    test_an_artifact_in_several_workspaces_is_searched
    test_a_name_that_was_renamed_away_leads_to_the_new_one
    test_a_renamed_capsule_is_found_although_its_old_workspace_is_gone
    test_a_name_that_another_capsule_took_again_is_that_one
    test_restoring_what_is_not_deleted_leads_to_its_versions
decisions §10: capsule_append replaces one section or adds to it; a replaced capsule names the version before
    test_replacing_a_section_leaves_the_rest
    test_items_of_one_list_stay_together
    test_an_unknown_way_to_append_is_refused
    test_a_replacement_names_the_version_before
decisions §10: a composed artifact takes the labels of its run; every bounded page counts its rows
    test_a_bundle_of_artifacts_belongs_to_its_run
    test_a_page_of_a_bounded_list_counts_its_rows
decisions §10: the first guesses of agents are refused with a call that leads on
    test_a_mistake_is_refused_and_leads_on
    test_a_certain_correction_is_proposed
    test_an_uncertain_correction_is_not_guessed
    test_a_missing_argument_is_named_beside_the_other_faults
    test_a_corrected_call_also_gets_the_workspace
    test_a_section_that_is_spelled_alike_is_proposed
    test_all_faults_of_a_call_are_named_at_once
    test_a_corrected_call_is_carried_out
    test_a_proposed_call_leaves_out_what_is_not_known
    test_the_nearest_tool_is_alike_in_each_word
    test_a_misspelt_tool_is_called_with_corrected_arguments
decisions §10: a call that lacks an argument, or names things in another way, leads to the right one
    test_an_artifact_without_a_kind_is_proposed_as_freeform
    test_a_long_artifact_without_a_kind_leads_to_the_kinds
    test_a_kind_is_added_beside_other_corrections
    test_an_artifact_without_data_is_not_guessed
    test_a_revert_without_type_or_version_leads_to_the_history
    test_a_revert_by_id_or_key_leads_to_the_history
    test_a_revert_of_nothing_leads_to_the_last_changes
    test_a_revert_of_an_unknown_name_leads_to_a_history_that_names_the_nearest
    test_the_type_of_a_row_is_added
    test_an_address_that_is_none_proposes_nothing
    test_the_given_type_is_kept
    test_a_bundle_by_run_is_proposed_with_its_items
    test_a_bundle_by_names_is_proposed_with_its_items
    test_a_bundle_of_nothing_leads_to_the_list
    test_a_bundle_of_bad_values_is_not_guessed
    test_a_bundle_of_capsules_by_run_is_proposed_with_its_items
    test_a_step_that_is_named_in_another_way_leads_to_the_steps
    test_a_conflict_without_a_choice_leads_to_its_sides
decisions §10: an empty list in a workspace that does not exist names the nearest ones
    test_an_empty_list_of_a_mistyped_workspace_names_the_nearest
    test_a_list_of_an_existing_workspace_has_no_hint
    test_an_empty_store_has_no_hint
    test_a_hint_keeps_to_the_budget
    test_the_configured_workspace_has_no_hint
decisions §10: moss_erase takes the handle that a search hit has
    test_a_note_is_erased_by_the_id_of_its_hit
    test_an_entry_of_the_trace_is_erased_by_the_id_of_its_hit
    test_every_hit_of_a_search_can_be_erased_as_it_comes
    test_an_id_that_is_none_of_a_note_or_step_is_refused
decisions §10: every hit has the call that loads it, its time and its status; one thing is one hit
    test_the_fetch_of_every_hit_loads_it_as_it_is
    test_the_search_of_one_family_has_the_same
    test_a_deleted_capsule_is_fetched_as_such
    test_cards_tasks_and_steps_have_their_status
    test_types_tell_tasks_from_cards
    test_without_tasks_none_is_found_and_without_reasoning_they_still_are
    test_a_hit_whose_tool_is_switched_off_has_no_fetch
    test_a_task_is_one_hit_although_graphs_of_others_show_it
    test_a_node_that_a_merge_copied_is_one_hit_until_the_base_deletes_it
    test_what_a_branch_changed_after_a_merge_is_a_hit_of_its_own
decisions §10: superseded and merged cards score half
    test_a_superseded_card_comes_after_its_successor_with_half_the_score
    test_a_merged_card_scores_half_and_names_no_successor
    test_pages_show_every_hit_once_in_one_order_whatever_is_superseded
decisions §10: moss_search takes after and before, compared with the time of a hit
    test_after_and_before_choose_by_time_and_include_their_ends
    test_a_time_to_choose_by_that_is_none_is_refused
    test_a_record_has_the_time_that_its_body_names
    test_a_record_without_a_time_has_the_one_of_its_observation
decisions §10: budgets are kept, shortened texts stay readable, and what a list lost is counted
    test_every_text_of_a_small_answer_is_whole_or_long_enough
    test_what_a_list_lost_is_counted
    test_a_radar_of_any_budget_says_what_to_do_and_why
    test_a_budget_of_any_size_is_kept
    test_every_tool_with_a_budget_keeps_the_least_one
decisions §10: a missing workspace is proposed: that of the repository, the only one, or a list
    test_a_call_without_a_workspace_proposes_that_of_the_repository
    test_work_trees_share_the_name_of_the_main_one
    test_a_call_without_a_workspace_proposes_the_only_one
    test_a_call_without_a_workspace_lists_several
    test_a_call_without_a_workspace_in_an_empty_store_names_the_repository
    test_a_disabled_tool_is_not_proposed
decisions §10: a read in a workspace that does not exist leads to the nearest and never writes
    test_a_read_in_a_mistyped_workspace_proposes_the_nearest
    test_a_read_in_a_workspace_like_no_other_lists_them
    test_a_write_to_what_is_not_in_a_mistyped_workspace_proposes_to_read
    test_a_capsule_is_read_from_the_nearest_workspace_that_has_its_name
    test_a_mistake_of_another_kind_keeps_its_advice
decisions §10: a write that makes a workspace says so, and every answer of a writing tool names the workspace
    test_the_first_write_of_a_workspace_says_that_it_made_it
    test_a_move_into_a_new_workspace_says_that_it_made_it
    test_every_answer_of_a_writing_tool_names_the_workspace
decisions §10: moss_tools answers a question with at most 8 tools, and the best with its schema
    test_the_right_tool_is_the_first_and_comes_with_its_schema
    test_everyday_questions_lead_to_the_right_tool
    test_an_answer_to_a_question_is_short
    test_listed_tools_are_told_and_are_never_the_only_answer
    test_every_tool_declares_everyday_words
decisions §10: unknown tools and arguments name only what is alike; tools of other memory servers lead to Moss's
    test_a_tool_of_another_memory_leads_to_the_one_that_does_it
    test_what_was_to_be_stored_is_carried_over
    test_every_tool_that_is_led_to_exists_and_no_name_of_moss_is_taken
    test_odd_arguments_of_a_foreign_tool_are_no_accident
    test_the_nearest_tool_is_alike_or_not_named
    test_a_misspelled_tool_is_called_again_by_its_right_name
    test_an_unknown_argument_names_only_one_that_is_alike
    test_at_most_a_third_of_the_letters_differ
    test_a_tool_that_is_switched_off_is_not_led_to
decisions §10: the order of workspaces is the true order of change within a second
    test_changes_within_one_second_are_listed_in_their_true_order
decisions §13: moss_log lists events newest first with who and where, and never texts
    test_events_come_newest_first_with_who_and_where_and_no_text
    test_filters_choose_among_them
    test_every_event_is_on_one_page
    test_what_cannot_be_asked_is_refused
    test_a_closed_family_is_not_in_the_log
    test_the_tool_is_short_and_not_in_core
loads of capsules are counted for each actor off the read path
    test_a_load_is_counted_for_its_actor_once_it_is_saved
    test_a_read_without_text_and_a_page_are_no_load
    test_closing_saves_the_loads_and_adds_no_event
    test_a_busy_store_keeps_the_loads_for_later
    test_erased_and_purged_capsules_leave_no_loads
    test_a_read_only_store_counts_nothing
    test_the_waiting_loads_are_saved_by_a_thread
    test_the_use_of_capsules_is_read_in_the_order_of_their_last_load
every capsule, card, task and record is a dot of the map
    test_every_capsule_card_task_and_record_is_one_dot
    test_at_most_so_many_dots_are_read_the_last_changed_first
    test_vectors_of_dots_without_a_model_are_none
"""


def requirements(promises: str = PROMISES) -> dict[str, list[str]]:
    """The names of the tests of each promise."""
    found: dict[str, list[str]] = {}
    promise = ""
    for line in promises.strip().splitlines():
        if line.startswith("    "):
            found[promise].append(line.strip())
        else:
            promise = line
            assert promise not in found, f"{promise!r} is promised twice"
            found[promise] = []
    return found
