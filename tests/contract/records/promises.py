"""What the documents on records promise, each with the tests that hold it.

Written like `contract/requirements.py`; `test_record_requirements.py` holds promises and tests together.
"""

from __future__ import annotations

PROMISES = """
5 submit_payload: answers payload_id, payload_content_id, payload_submission_id, created and message
    test_a_submission_answers_what_the_document_promises
    test_a_submission_id_carries_the_time_of_arrival
5 example request: recorded as it stands
    test_the_example_of_a_submission_is_recorded
    test_the_request_of_the_fallback_example_is_recorded
    test_a_file_of_a_memory_can_be_submitted_and_verified_as_the_migration_says
decisions §5: what is submitted is seen at once by record, entity and time
    test_what_was_submitted_is_seen_at_once_by_every_read
decisions §5: a record is one distinct payload
    test_the_same_content_again_is_the_same_record_and_one_more_observation
    test_who_said_it_and_when_makes_no_new_record
    test_the_order_of_keys_and_of_sources_makes_no_new_record
    test_other_content_is_another_record_of_the_same_entity
    test_the_same_body_of_another_capability_is_another_record
decisions §5: content ids and entity ids are the same in every store
    test_content_and_entity_ids_are_the_same_in_every_store
    test_content_and_entity_ids_do_not_change_from_one_version_to_the_next
decisions §5: hashes do not contain the workspace; everything else is per workspace
    test_content_and_entity_are_named_without_the_workspace_and_records_with_it
    test_two_workspaces_never_mix
decisions §5: an optional workspace, default on submit, no filter on reads
    test_a_workspace_is_compared_normalized_and_default_when_left_out
    test_a_bad_workspace_is_refused_by_every_tool
    test_records_of_all_workspaces_are_shown_unless_one_is_named
    test_entities_of_all_workspaces_are_shown_unless_one_is_named
    test_events_of_all_workspaces_are_shown_unless_one_is_named
decisions §5: provenance is optional, its fields too
    test_provenance_and_each_of_its_fields_are_optional
    test_no_provenance_is_the_same_as_an_empty_one
    test_a_provenance_that_is_too_large_is_refused
decisions §5: a repeated client_request_id gets the first answer and writes nothing
    test_a_repeated_request_gets_its_first_answer_and_adds_no_observation
    test_a_repeated_request_writes_nothing
    test_request_ids_are_of_their_workspace
decisions §5: the same client_request_id with other content is refused
    test_a_request_id_used_for_other_content_is_refused
decisions §0: one event a write, never the text
    test_every_submission_leaves_one_event_that_holds_nothing_of_its_body
5 retrieve_records: a record has id, type, properties, created_at and updated_at
    test_a_record_shows_what_the_document_promises
    test_a_record_is_created_at_its_arrival_and_updated_by_the_last_observation
5 capabilities: seven, each with its fields
    test_a_body_with_every_field_is_kept_as_it_was_sent
    test_optional_fields_may_be_left_out_or_null
    test_a_missing_or_null_required_field_is_refused_by_its_path
    test_a_field_of_a_wrong_type_is_refused_by_its_path
    test_an_item_of_a_wrong_type_is_refused_by_its_path
    test_a_field_that_is_no_enumeration_takes_any_text
    test_free_objects_keep_every_json_value
    test_the_registry_shows_what_the_document_lists
decisions §5: enumerations are validated
    test_an_enumeration_takes_its_values_and_no_other
decisions §5: ISO 8601 times are validated and compared as instants
    test_a_time_is_an_iso_8601_date_or_time
    test_a_time_is_an_instant_in_utc
    test_digits_of_other_scripts_are_no_time
    test_a_time_that_is_none_is_refused_by_its_path
decisions §5: unknown body fields are refused by name
    test_an_unknown_field_is_refused_by_its_name_with_the_nearest
5 errors: UNKNOWN_CAPABILITY, listing the known ones
    test_an_unknown_capability_is_refused_with_the_list_of_the_known
    test_a_capability_is_found_by_its_type_and_a_misspelt_one_is_proposed
5 query examples: find what they ask for
    test_the_examples_of_queries_find_what_they_ask_for
    test_the_example_of_a_search_finds_both_words_first
    test_the_examples_of_entity_queries_find_what_they_ask_for
    test_the_examples_of_timelines_answer_events
5 retrieve_records: filters by type
    test_a_type_shows_its_records_only
decisions §5: a property filter equals a scalar or is contained in an array
    test_a_property_equals_a_scalar
    test_a_property_is_contained_in_an_array
    test_every_property_must_hold
    test_a_field_that_is_null_or_missing_equals_nothing
    test_a_time_in_a_property_is_compared_as_an_instant
    test_how_a_time_is_kept_is_no_value_that_it_equals
    test_numbers_and_booleans_are_compared_by_value
    test_long_values_are_compared_to_the_last_character
    test_a_filter_that_is_no_scalar_is_refused_by_its_path
    test_more_properties_than_a_query_can_hold_are_refused
decisions §5: with a type, an unknown property is refused
    test_an_unknown_property_is_refused_with_a_type_and_finds_nothing_without
5 retrieve_records: filters by ids
    test_ids_choose_records
decisions §5: newest first when nothing is searched; offset pages
    test_without_filters_every_record_is_shown_newest_first
    test_the_newest_record_is_the_last_to_arrive_whatever_the_clock_says
    test_pages_show_every_record_once_in_one_order
decisions §5: limit 100 by default, 500 at most, never below 1
    test_a_limit_is_100_by_default_and_500_at_most
    test_a_page_that_cannot_be_is_refused
decisions §0: a limit above the maximum is clamped and shown
    test_a_clamped_limit_is_told_in_the_pagination
5 include_total_count: counts what matches the filters
    test_the_total_counts_what_matches_the_filters
    test_more_than_a_page_can_hold_is_only_counted_when_somebody_asks
5 search: terms find records by their words
    test_a_record_is_found_at_once_by_the_words_it_says
    test_what_was_done_in_a_session_and_found_by_a_check_is_searched_too
    test_ordinary_text_is_searched_as_text_in_records
    test_a_search_without_a_word_is_refused_and_punctuation_finds_nothing
    test_a_search_that_is_too_long_is_refused_by_the_name_of_its_argument
decisions §0: operators are meant exactly in every family, what is malformed is refused
    test_operators_in_a_search_term_are_meant_exactly
    test_a_malformed_search_term_is_refused
decisions §5: several search terms are alternatives
    test_several_terms_are_alternatives
decisions §0: ordered by the number of words matched
    test_the_record_that_says_more_of_the_words_comes_first
decisions §5: filters apply before the limit
    test_a_search_stays_within_its_filters_before_the_limit
    test_a_search_with_several_properties_must_meet_all
    test_pages_of_a_search_show_every_record_once
5 search_mode: semantic, keyword or both
    test_the_mode_of_a_search_is_one_of_three
decisions §0: records are found by the one search, and cannot forge a highlight
    test_a_hit_of_the_one_search_leads_to_its_record
    test_markup_in_a_record_cannot_forge_a_highlight
5 retrieve_entities: entity_id, entity_type, snapshot, observation_count
    test_an_entity_shows_what_the_document_promises
    test_snapshots_are_shown_unless_they_are_not_wanted
5 retrieve_entities: filters by type, limit and offset
    test_an_entity_type_shows_its_entities_only
    test_an_entity_is_found_by_its_id
    test_entities_come_newest_first_by_their_first_arrival
    test_pages_of_entities_show_each_once_and_say_what_follows
decisions §5: identity is declared per capability and normalized as names are
    test_the_same_identity_is_the_same_entity_however_it_is_spelled
    test_every_part_of_an_identity_tells_entities_apart
    test_what_is_no_part_of_the_identity_makes_no_other_entity
    test_a_missing_part_is_not_an_empty_one_and_a_null_is_a_missing_one
    test_things_of_different_types_are_never_one_entity
decisions §5: snapshots fold observations by observed time, then content, then submission
    test_the_last_word_by_observed_time_wins_whatever_arrives_last
    test_of_observations_at_one_instant_the_larger_content_id_wins
    test_any_order_of_arrival_gives_the_same_snapshot
decisions §5: observed time is extracted_at when given, else arrival
    test_without_an_extraction_time_the_arrival_counts
    test_of_arrivals_in_one_millisecond_the_last_is_the_last_word
    test_extraction_times_are_compared_as_instants
decisions §5: a field that is omitted keeps its value, an explicit null clears it
    test_a_field_that_is_left_out_keeps_its_value_and_a_null_clears_it
    test_a_null_clears_only_what_was_said_before_it
decisions §5: set-valued fields are merged, snapshots are flat
    test_the_set_valued_fields_are_those_the_decisions_name
    test_no_item_of_a_large_set_is_compared_with_every_other
    test_sets_are_merged_each_item_once_in_the_order_of_observation
    test_other_arrays_and_objects_are_replaced_as_a_whole
issue: include_provenance shows the observation of every field
    test_every_field_remembers_the_observation_it_came_from
    test_an_observation_without_an_extraction_time_shows_its_arrival
    test_the_same_words_said_again_later_are_the_newer_source
issue: as_of shows the snapshot at a time
    test_as_of_shows_an_entity_as_it_was_known_at_a_time
    test_as_of_a_date_is_the_end_of_that_day
    test_an_entity_that_was_not_known_yet_is_not_listed
    test_pages_of_the_past_show_each_entity_once
    test_as_of_counts_the_arrival_of_what_tells_no_extraction_time
5 design: queries are idempotent
    test_a_read_again_answers_the_same_and_writes_nothing
5 list_timeline_events: event_id, event_type, event_timestamp, source_record_id, entity_ids
    test_an_event_shows_what_the_document_promises
decisions §5: one event for every date field
    test_every_date_of_a_body_is_one_event
    test_two_dates_at_one_instant_are_two_events
    test_a_date_that_is_missing_or_null_is_no_event
decisions §5: replays and repeated dates add no event
    test_the_same_payload_again_adds_no_event
    test_a_second_payload_with_the_same_date_adds_no_event_and_the_first_is_named
    test_the_same_date_of_another_entity_is_another_event
    test_an_event_has_the_same_id_in_every_store_and_workspace
decisions §5: newest first, bounds inclusive, dates or times
    test_events_come_newest_first_by_the_time_they_tell
    test_bounds_are_inclusive_and_compared_as_instants
    test_a_bound_that_is_a_date_takes_in_the_whole_day
    test_pages_of_events_show_each_once_and_say_what_follows
5 list_timeline_events: filters by type, record and entity
    test_an_event_type_shows_its_events_only
    test_events_are_chosen_by_record_entity_and_type_of_entity
    test_an_unknown_record_entity_or_type_is_an_empty_timeline
decisions §5: users add capabilities as files
    test_a_file_in_the_folder_of_capabilities_is_a_capability
    test_a_users_capability_is_checked_like_the_built_in_ones
    test_sets_and_other_arrays_of_a_users_capability_fold_as_its_file_says
    test_a_changed_file_counts_from_the_next_call_on
    test_a_snapshot_and_its_past_stay_what_they_are_when_their_capability_is_taken_away
    test_capabilities_of_one_type_speak_of_the_same_entities
    test_a_capability_is_told_apart_as_the_users
issue: a bad capability file is named, the others still work
    test_a_bad_file_is_named_with_its_fault_and_the_others_work
    test_bad_files_are_named_through_every_door
    test_of_two_files_with_one_id_the_first_counts_and_the_second_is_named
    test_a_built_in_capability_cannot_be_replaced
    test_files_that_are_no_capabilities_are_left_alone
    test_a_huge_file_is_refused_and_not_read_into_a_message
    test_a_file_that_keeps_its_size_and_time_is_read_again
    test_a_title_that_is_no_text_is_shown_as_json
decisions §10: submit_payload names all faults at once, and its recovery is the same call to be filled in
    test_all_faults_of_a_payload_are_named_at_once
    test_a_value_that_nothing_can_have_is_told_beside_the_empty_list
    test_the_recovery_is_the_same_call_to_be_filled_in_and_is_refused_as_it_is
    test_a_call_that_names_no_known_capability_leads_to_the_list_of_them
    test_the_list_of_capabilities_keeps_to_a_budget
decisions §10: retrieve_entities takes properties, compared with the snapshot, and relations
    test_entities_are_filtered_by_what_holds_now
    test_entities_are_filtered_by_what_held_then
    test_a_record_that_a_later_one_replaced_says_so
    test_relations_are_followed_in_both_directions
    test_searching_a_unit_finds_the_decision_about_it
decisions §10: a release takes date and notes
    test_a_release_has_a_date_and_notes
5 input schemas: every argument of the document
    test_every_tool_takes_the_arguments_of_the_document
5 errors: VALIDATION_ERROR for unknown arguments and wrong types, with the path
    test_an_unknown_argument_of_a_record_tool_is_refused_with_the_nearest
    test_an_argument_of_a_wrong_type_is_a_validation_error_with_its_path
    test_an_item_of_an_argument_of_a_wrong_type_is_refused_by_its_path
    test_a_wrong_provenance_is_refused_by_its_path
    test_a_missing_argument_of_a_submission_is_refused_by_its_name
    test_only_one_thing_is_wrong_and_nothing_of_the_submission_is_kept
decisions §0: null is absent, except inside a body
    test_a_null_argument_is_an_absent_one
    test_a_null_in_a_body_is_no_absent_field
5 errors: DB_QUERY_FAILED and DB_INSERT_FAILED with the storage code
    test_a_busy_store_is_a_failed_insert_that_can_be_tried_again
    test_a_full_disk_is_a_failed_insert_and_reads_go_on
    test_a_store_that_cannot_be_written_is_a_failed_insert_and_reads_go_on
    test_a_store_of_a_newer_version_fails_reads_as_queries_and_writes_as_inserts
    test_a_damaged_store_is_a_failed_query
decisions §0: hostile values are a typed error, never silence, never INTERNAL
    test_a_body_without_limits_is_refused
    test_values_that_json_cannot_carry_are_refused_by_their_path
    test_any_value_in_any_field_of_a_body_is_kept_or_refused
    test_any_value_as_the_name_of_a_field_or_property_is_refused
    test_any_value_in_any_place_of_a_provenance_is_kept_or_refused
    test_any_value_for_any_argument_beside_good_ones_is_served_or_refused
    test_any_value_as_a_filter_or_search_term_is_served_or_refused
    test_odd_but_good_text_is_kept_to_the_letter
    test_hostile_bodies_get_one_typed_answer_over_mcp
"""
