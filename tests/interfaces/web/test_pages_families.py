"""The pages of artifacts, tasks, reasoning and records in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from moss_memory.cli.commands.doctor import examine

if TYPE_CHECKING:
    from moss_memory.store import Store
    from support.browser import Tab

SHOP = "atlas-checkout"
COMPARED = f"/reasoning?workspace={SHOP}&branch=try-idempotency&compare=main"


def test_an_artifact_shows_its_data_as_a_tree_and_its_remaining_lifetime(tab: Tab) -> None:
    page = tab.open("/artifacts?run_id=nightly-reconcile")
    expect(page.locator(".row")).to_have_count(4)
    page.get_by_role("link", name="verdict").click()
    expect(page.locator(".tree")).to_contain_text("a difference below one cent is dropped")
    expect(page.locator(".rail")).to_contain_text("Goes in 6 days")
    issues = page.locator(".tree details").first
    issues.locator("summary").first.click()
    expect(issues.get_by_text("a difference below one cent")).to_be_hidden()


def test_an_old_version_of_an_artifact_is_shown_and_restored(tab: Tab, store: Store) -> None:
    page = tab.open("/artifacts?kind=design-spec")
    page.get_by_role("link", name="partial-refunds").click()
    page.locator(".history a").last.click()
    expect(page.locator(".tree")).not_to_contain_text("no call is sent with two keys")
    page.get_by_role("button", name="Go back to this one").click()
    expect(page.get_by_role("status")).to_contain_text("The old version")
    fetched = store.call("artifact_fetch", {"workspace": SHOP, "name": "partial-refunds"})
    assert (fetched["version"], fetched["data"]["constraints"]) == (4, ["amounts are integers"])


def test_a_deleted_artifact_is_marked_and_restored(tab: Tab, store: Store) -> None:
    key = store.call("artifact_store", {"kind": "freeform", "data": {"a": [1, {"b": None}]}})["id"]
    page = tab.open(f"/artifacts/{key}")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status")).to_contain_text("Deleted")
    assert store.call("artifact_fetch", {"id": key, "include_deleted": True})["deleted_at"] is not None
    page.get_by_role("button", name="Bring it back").click()
    expect(page.get_by_role("status")).to_have_text("Brought back.")


def test_the_board_has_every_task_in_the_column_of_its_status(tab: Tab, store: Store) -> None:
    page = tab.open(f"/tasks?workspace={SHOP}")
    for place, status in enumerate(("TODO", "ACTIVE", "DONE")):
        items = store.call("tasks_list", {"workspace": SHOP, "kind": "task", "status": status})["items"]
        titles = page.locator(".board section").nth(place).locator(".row-title").all_inner_texts()
        assert titles == [item["title"] for item in items]
    page.locator(".ticket", has_text="Admin form").click()
    expect(page.locator(".radar")).to_contain_text("Read the sum out")
    expect(page.locator("#STEP-005 .confirmed")).to_have_count(2)
    expect(page.locator("#STEP-007 .blocker")).to_have_text("the rounding test is not in yet")
    expect(page.locator(".rail")).to_contain_text("claude-code")


def test_type_icons_are_square_for_every_type(tab: Tab) -> None:
    for path in (
        f"/reasoning?workspace={SHOP}",
        f"/reasoning?workspace={SHOP}&branch=task/TASK-003&doc=TASK-003-graph",
    ):
        page = tab.open(path)
        for sign in page.locator("main .dot, main .tag:not(:has(*)):empty").all():
            box = sign.bounding_box()
            assert box is None or abs(box["width"] - box["height"]) < 1, f"{path}: {sign.get_attribute('class')}"


def test_a_plan_links_to_its_tasks_and_a_task_to_its_reasoning(tab: Tab) -> None:
    page = tab.open(f"/tasks/PLAN-001?workspace={SHOP}")
    page.get_by_role("link", name="Idempotency key on provider calls").click()
    expect(page.locator(".step.done")).to_have_count(2)
    page.get_by_role("link", name="Trace").click()
    expect(page.locator(".entry").first).to_be_visible()


def test_the_graph_is_drawn_reachable_by_keyboard_and_filtered(tab: Tab) -> None:
    page = tab.open(f"/reasoning?workspace={SHOP}")
    nodes = page.locator(".g-node")
    expect(nodes).to_have_count(9)
    nodes.first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".g-node.chosen")).to_have_count(1)
    page.get_by_role("button", name="evidence 2").click()
    expect(nodes).to_have_count(2)
    page.get_by_role("button", name="evidence 2").click()
    page.get_by_label("Status").select_option("rejected")
    expect(nodes).to_have_count(1)
    before = page.locator(".canvas svg > g").get_attribute("transform")
    page.get_by_role("button", name="Larger").click()
    assert page.locator(".canvas svg > g").get_attribute("transform") != before


def test_a_branch_comparison_shows_both_sides_and_icons_repeat_the_colours(tab: Tab) -> None:
    page = tab.open(COMPARED)
    assert page.locator(".sums").inner_text().split("\n")[0].startswith("4 added")
    expect(page.locator(".g-node.added")).to_have_count(4)
    expect(page.locator(".g-node.changed")).to_have_count(3)
    expect(page.locator(".g-node.elsewhere")).to_have_count(1)
    assert set(page.locator(".g-node.added .g-badge").all_text_contents()) == {"+"}
    assert page.locator(".mark.changed").all_inner_texts() == ["~"] * 3
    page.locator(".change", has_text="The refund's id").click()
    expect(page.locator(".g-node.chosen")).to_have_attribute(
        "aria-label", "decision, accepted, added: The refund's id is the idempotency key"
    )


def test_a_conflict_is_resolved_side_by_side_and_a_branch_is_merged(tab: Tab, store: Store) -> None:
    page = tab.open(f"/reasoning?workspace={SHOP}")
    page.locator(".conflicts .row").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thirty seconds are enough")
    expect(page.locator(".side-card")).to_have_count(3)
    page.get_by_role("button", name="Take this one").click()
    expect(page.get_by_role("status")).to_have_text("Settled.")
    found = store.call("branchmind_graph_query", {"workspace": SHOP, "branch": "main", "ids": "H4"})["nodes"]
    assert found[0]["title"] == "Two minutes are needed"
    page = tab.open(COMPARED)
    page.get_by_role("button", name="Merge into main").click()
    expect(page.get_by_role("status")).to_have_text("Merged.")
    assert store.call("branchmind_graph_query", {"workspace": SHOP, "branch": "main", "ids": "D1"})["nodes"]


def test_notes_and_traces_read_as_a_log(tab: Tab) -> None:
    page = tab.open(f"/reasoning/log?workspace={SHOP}&branch=main")
    first = page.locator(".entry").first.inner_text()
    page.get_by_role("link", name="Older").click()
    assert page.locator(".entry").first.inner_text() != first
    page.get_by_role("button", name="trace").click()
    expect(page.locator(".log")).to_contain_text("Looked at")


def test_an_entity_shows_the_source_of_every_field_and_its_state_at_a_past_time(tab: Tab) -> None:
    page = tab.open("/records?entity_type=feature_unit")
    page.get_by_role("link", name="FU-031").click()
    rows = page.locator(".fields-table tbody tr")
    expect(rows.filter(has_text="risk level")).to_contain_text("board#31")
    expect(rows.filter(has_text="status")).to_contain_text("deployed")
    expect(rows.filter(has_text="status")).to_contain_text("pr#402")
    before = page.locator(".history li").last.locator("a").get_attribute("href")
    assert before
    page.goto(tab.origin + before)
    expect(page.locator(".tree")).to_contain_text("Sessions in the database")
    page.locator(".rail").get_by_role("link", name="FU-031").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("FU-031")


def test_the_timeline_and_a_past_date_filter_the_page(tab: Tab) -> None:
    page = tab.open("/records/timeline?event_type=release.created")
    assert page.locator(".entry .link.named").all_inner_texts() == ["2026.46", "2026.40"]
    page = tab.open("/records?as_of=2020-01-01")
    expect(page.locator(".empty")).to_be_visible()


def test_a_search_finds_in_every_family_with_its_words_marked(tab: Tab) -> None:
    page = tab.open()
    page.keyboard.press("/")
    page.get_by_label("Words").check()
    page.locator("#q").fill("idempotency key")
    page.keyboard.press("Enter")
    expect(page.locator(".snippet mark").first).to_be_visible()
    title = page.locator(".row-title", has_text="Idempotency key on provider calls").first
    assert title.locator("mark").all_inner_texts() == ["Idempotency", "key"]
    links = [link.get_attribute("href") for link in page.locator(".hits a").all()]
    assert len(links) == len(set(links)) == 20, "each page is found once"
    page.get_by_role("button", name="Capsules").click()
    assert page.locator(".hits .dot.capsule").count() == page.locator(".hits .dot").count() > 0
    page.get_by_role("link", name="Refunds: partial").first.click()
    expect(page.locator(".prose")).to_contain_text("idempotency key")


def test_a_task_hit_links_to_the_board_and_duplicate_text_is_shown_once(tab: Tab) -> None:
    page = tab.open("/search?mode=keyword&q=ledger+rows")
    page.get_by_role("link", name="Ledger rows for partial amounts").first.click()
    expect(page.locator(".crumbs")).to_contain_text("TASK-001")
    page = tab.open("/search?mode=keyword&type=note&q=%22Looked+at+ledger%22")
    assert page.locator(".hits .row").first.inner_text().count("Looked at ledger") == 1


def test_an_invalid_query_is_reported_and_the_page_still_works(tab: Tab) -> None:
    page = tab.open("/search?mode=keyword&q=(broken", status=400)
    expect(page.locator(".lead")).to_contain_text("The question has")
    page.get_by_role("link", name="Search for these words: broken").click()
    expect(page.locator(".lead")).to_contain_text("found")


def test_health_is_shown_and_a_line_is_copied_by_a_click(tab: Tab, store: Store) -> None:
    page = tab.open("/health")
    expect(page.locator(".checks .row").first).to_be_visible()
    page = tab.open("/connect")
    healthy = examine(store.config.home)["healthy"]  # the tests' PostgreSQL does not wait for its disk
    expect(page.locator(".foot-places")).to_contain_text("Store is healthy" if healthy else "Store is not healthy")
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".phrase").first.click()
    expect(page.locator(".copied")).to_have_text("Copied")
    assert " connect claude-code --home " in str(page.evaluate("navigator.clipboard.readText()"))
