"""Every page on a phone, a tablet, a laptop and a large screen: nothing is cut, squeezed or out of reach."""

from __future__ import annotations

import re

import pytest

from tests.e2e.conftest import Site, log_in
from tests.e2e.pages import FIXED, made, violations
from tests.whole import whole

pytestmark = pytest.mark.browser
PHONE, LAPTOP = 390, 1280
LEAST_COLUMN_PX = 40

# What is wrong with the page at its present width: -> sentences.
TROUBLES = """least => {
  const root = document.documentElement, width = root.clientWidth, troubles = [];
  const name = element => `${element.tagName}.${element.className} “${element.textContent.trim().slice(0, 40)}”`;
  const scrolls = element => {
    for (let up = element.parentElement; up; up = up.parentElement)
      if (/auto|scroll/.test(getComputedStyle(up).overflowX)) return true;
    return false;
  };
  const seen = element => element.checkVisibility() && !element.closest('.visually-hidden, .skip-link, .colour-probe');
  const words = element =>
    [...element.querySelectorAll('.visually-hidden')]
      .reduce((text, hidden) => text.replace(hidden.textContent, ''), element.innerText).trim();
  if (root.scrollWidth > width) troubles.push(`the page is ${root.scrollWidth} px wide`);
  const boxes = 'th, td, dd, dt, p, li, h1, h2, h3, .card, .panel, .field, .grid > *';
  for (const element of document.querySelectorAll(boxes)) {
    if (!seen(element) || words(element).length < 6) continue;
    const box = element.getBoundingClientRect();
    if (box.width < least) troubles.push(`${Math.round(box.width)} px wide: ${name(element)}`);
    else if (box.right > width + 1 && !scrolls(element)) troubles.push(`sticks out: ${name(element)}`);
  }
  for (const element of document.querySelectorAll('button, a.button, summary, select, .badge')) {
    if (!seen(element) || element.offsetWidth === 0) continue;
    const box = element.getBoundingClientRect();
    const isCut = element.tagName !== 'SELECT' && element.scrollWidth > element.clientWidth + 1;
    if (isCut) troubles.push(`cut: ${name(element)}`);
    if ((box.right > width + 1 || box.left < -1) && !scrolls(element)) troubles.push(`out of reach: ${name(element)}`);
  }
  return troubles;
}"""
# Of axe, what depends on the room that there is, and what on the theme as well: it takes longer than all the others.
OF_LAYOUT, OF_THEME = "scrollable-region-focusable", "color-contrast"


@pytest.mark.parametrize("widths", [(PHONE, LAPTOP), *whole(((768, 1920),))])
def test_every_page_fits_every_screen_and_is_accessible(site: Site, browser, widths: tuple[int, ...]):
    """All rules of axe on a phone and a laptop, those of layout at the other widths; contrasts of all words on a phone
    in the light theme, elsewhere of each set of colours once.
    """
    context = browser.new_context(bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: request.url.startswith((site.url, "data:")) or said.append(request.url))
    log_in(site, page)
    pages = made(site, page) | {path: path for path in FIXED}
    troubles: dict[str, list[object]] = {}
    for name, path in pages.items():
        page.goto(site.url + path)
        page.wait_for_load_state("networkidle")
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme="light")
            found: list[object] = [*page.evaluate(TROUBLES, LEAST_COLUMN_PX)]
            if width in (PHONE, LAPTOP):
                found += violations(page, but=(OF_THEME,) if width == LAPTOP else ())
                for theme in ("light", "dark"):
                    page.emulate_media(color_scheme=theme)
                    found += violations(page, [OF_THEME], unseen=True)
            else:
                found += violations(page, [OF_LAYOUT])
            if found:
                troubles[f"{name} at {width}"] = found
    context.close()
    assert (troubles, said) == ({}, [])


def test_names_of_sixty_characters_fit(site: Site, page):
    """No page scrolls sideways, a label of a bar stays in its row, and the verdict is in sight."""
    name = "AVeryLongDatabaseManagementSystemNameEnterpriseEditionWithOptions"
    document = {
        "schema_version": 1, "workload": {"slug": "wide-names", "name": "Wide names", "version": "1"},
        "hardware": {"name": f"Machine{name}"}, "tags": ["wide-names"], "config": [{"name": "a" * 60, "value": "on"}],
        "batch": "6f1c1f6e-5a0e-4b52-9a53-0d1f7f6a1c60", "factors": {"terminals": 8}, "measured_on": "2026-05-04",
    }  # fmt: skip
    documents = [
        document | {
            "id": f"6f1c1f6e-5a0e-4b52-9a53-0d1f7f6a1c6{index}",
            "dbms": {"name": f"{name} {index}", "version": "1" * 40},
            "repeats": [{"metrics": {"tps": tps * 10**index}} for tps in (99, 100, 101)],
        } for index in (1, 2, 3)
    ]  # fmt: skip
    stored = site.send("POST", "/api/v1/results/", documents).json()["results"]
    assert {each["status"] for each in stored} == {"created"}, stored
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{site.url}/compare/?tag=wide-names&view=bars")
        page.wait_for_function("() => document.querySelector('figure[data-drawn] canvas')")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        row_px, label_px = page.locator("figure.chart canvas").first.evaluate(
            """canvas => {
                const { scales: { y } } = canvas.benchsiteChart;
                const lines = y.ticks.map(({ label }) => label.length);
                return [y.height / y.ticks.length, Math.max(...lines) * 14.4];
            }"""
        )
        assert row_px >= label_px
        for box in (verdict.bounding_box() for verdict in page.locator("table.comparison .verdict").all()):
            assert box and box["x"] >= 0 and box["x"] + box["width"] <= width
    page.set_viewport_size({"width": 390, "height": 844})
    own = [f"/hardware/machine{name.lower()}/", f"/dbms/{name.lower()}-1/"]
    for path in ("/runs/?tag=wide-names", "/dbms/", "/hardware/", "/configs/", "/uploads/", "/benchmarks/", *own):
        page.goto(f"{site.url}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        # A card has nothing to scroll; of a row that scrolls the name leaves the others room.
        assert page.evaluate(WIDE_TABLES) == [], path


WIDE_TABLES = """() => [...document.querySelectorAll('.table-scroll > table')].flatMap(table => {
    const room = table.parentElement;
    const more = room.scrollWidth - room.clientWidth;
    if (table.matches('.stacks')) return more > 1 ? [`${more} px more of cards`] : [];
    const names = [...table.querySelectorAll('tbody th')].map(name => name.offsetWidth);
    return Math.max(0, ...names) > 0.6 * room.clientWidth ? [`${Math.max(...names)} px of a name`] : [];
})"""


def test_a_chart_fits_the_frame_of_another_page(site: Site, page):
    """Was: 1,073 px in a frame of 520, the axis of the bars cut off; on a phone 2,498."""
    page.goto(f"{site.url}/compare/?publication=tpcb-2010")
    page.wait_for_function("() => document.querySelector('figure[data-drawn] canvas')")
    asked = int(page.locator("[data-embed]").text_content().split('height="')[1].split('"')[0])
    below = {}
    for width, height in ((1256, 520), (1256, asked), (366, asked)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{site.url}/embed/compare/?publication=tpcb-2010")
        page.wait_for_function("() => document.querySelector('figure[data-drawn] canvas')")
        below[width, height] = page.evaluate(
            "innerHeight - document.querySelector('.canvas').getBoundingClientRect().bottom"
        )
        if width == 1256:
            assert page.evaluate("document.documentElement.scrollHeight") == height
    assert min(below.values()) >= 0, below


def test_an_answer_of_many_settings_leaves_a_phone_its_chart(site: Site, page):
    """The answer filled the first screen of 844 px."""
    names = ["shared_buffers", "wal_compression", "max_wal_size", "checkpoint_timeout", "huge_pages", "wal_buffers"]
    document = {
        "schema_version": 1, "workload": {"slug": "settings", "name": "Settings", "version": "1"},
        "hardware": {"name": "db-server"}, "tags": ["many-settings"], "dbms": {"name": "PostgreSQL", "version": "17.2"},
        "batch": "6f1c1f6e-5a0e-4b52-9a53-0d1f7f6a1c70", "factors": {"terminals": 8}, "measured_on": "2026-05-04",
    }  # fmt: skip
    documents = [
        document | {
            "id": f"6f1c1f6e-5a0e-4b52-9a53-0d1f7f6a1c7{index}",
            "config": [{"name": name, "value": "on" if name == changed else "off"} for name in names],
            "repeats": [{"metrics": {"tps": tps + 20 * index}} for tps in (99.1, 100.2, 101.3)],
        } for index, changed in enumerate(["", *names], 1)
    ]  # fmt: skip
    stored = site.send("POST", "/api/v1/results/", documents).json()["results"]
    assert {each["status"] for each in stored} == {"created"}, stored
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site.url}/compare/?tag=many-settings&ask=effects")
    page.wait_for_function("() => document.querySelector('figure[data-drawn] canvas')")
    canvas, answer = page.locator("figure.chart canvas").first, page.locator("[data-answer]")
    assert canvas.bounding_box()["y"] < 844 - 150
    folded = answer.bounding_box()["height"]
    page.get_by_role("button", name="The whole answer").click()
    assert answer.bounding_box()["height"] > 2 * folded
    assert page.locator("[data-rest]").count() == 0
    page.set_viewport_size({"width": 1280, "height": 844})
    page.goto(page.url)
    assert page.locator("[data-rest]").count() == 0


def test_opened_tables_of_numbers_fit_on_paper(site: Site, page):
    page.set_viewport_size({"width": 754, "height": 1100})
    page.goto(f"{site.url}/compare/?publication=tpcb-2010&publication=firebird-terabyte-2015&view=bars")
    page.wait_for_load_state("networkidle")
    page.emulate_media(media="print")

    widths = page.evaluate(
        """() => {
            document.querySelectorAll('details').forEach(each => { each.open = true; });
            const right = table => Math.round(table.getBoundingClientRect().right);
            return [...document.querySelectorAll('main table')].map(right);
        }"""
    )

    assert widths and max(widths) <= 754


def test_on_paper_what_is_folded_is_open_and_charts_keep_to_their_place(site: Site, page):
    """Seen: an article without its checks and claims; charts drawn for the screen lay over the next one's title."""
    page.goto(f"{site.url}/publications/tpcb-2010/")
    page.wait_for_load_state("networkidle")
    folds = "[...document.querySelectorAll('details.fold')].map(each => each.open)"
    assert not any(page.evaluate(folds))
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1100})
    over = """[...document.querySelectorAll('figure.chart canvas')].filter(each => {
        const [inner, outer] = [each, each.closest('figure')].map(of => of.getBoundingClientRect());
        return inner.bottom > outer.bottom + 1 || inner.right > outer.right + 1;
    }).length"""
    assert all(page.evaluate(folds)) and page.evaluate(over) == 0
    assert page.locator("figure.chart .tools:visible").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert not any(page.evaluate(folds))


def test_runs_that_are_ticked_stay_over_pages_filters_and_navigation(site: Site, page):
    tray = page.locator("#tray")
    page.goto(f"{site.url}/runs/?publication=tpcb-2010")
    boxes = page.locator("input[type=checkbox][name=run]")
    ticked = [box.get_attribute("value") for box in boxes.all()[:2]]
    for box in boxes.all()[:2]:
        box.check()
    tray.get_by_text("2 runs kept").wait_for()
    page.get_by_label("Publication").select_option("firebird-terabyte-2015")
    page.wait_for_url("**publication=firebird-terabyte-2015**")
    page.goto(f"{site.url}/runs/?show_lost=1")
    first = boxes.first.get_attribute("value")
    page.locator("a[rel=next]").click()
    page.wait_for_function("run => document.querySelector('input[name=run]').value !== run", arg=first)
    third = next(run for run in (box.get_attribute("value") for box in boxes.all()) if run not in ticked)
    page.locator(f"input[name=run][value='{third}']").check()
    tray.get_by_text("3 runs kept").wait_for()
    page.goto(f"{site.url}/runs/?publication=tpcb-2010")
    assert all(page.locator(f"input[name=run][value='{run}']").is_checked() for run in ticked)
    page.get_by_role("link", name="Machines", exact=True).click()
    tray.get_by_text("3 runs kept").click()
    assert tray.get_by_role("listitem").count() == 3
    page.get_by_role("link", name="API", exact=True).focus()
    assert tray.get_by_role("listitem").count() == 0
    tray.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/compare/**")
    assert all(f"run={run}" in page.url for run in [*ticked, third])


def test_many_ticked_runs_have_a_short_address_that_their_comparison_keeps(site: Site, page):
    tray = page.locator("#tray")
    short = re.compile(r"/compare/\?s=[a-z2-7]{12}")
    page.goto(f"{site.url}/runs/?show_lost=1")
    page.locator("[data-tick-all]").check()
    tray.get_by_text("50 runs kept").wait_for()
    tray.get_by_role("button", name="Compare").click()
    page.wait_for_url(short)
    page.wait_for_load_state("networkidle")
    offer = page.locator("[data-tray-offer]")
    assert offer.is_hidden()

    page.get_by_role("navigation", name="Views").get_by_role("link", name="Table").click()
    page.wait_for_url(re.compile(short.pattern + "&view=table$"))
    compared = page.url
    page.get_by_role("link", name="Choose runs").click()
    page.locator(".facet .options a[rel=nofollow]").first.click()
    page.wait_for_url(re.compile(short.pattern + "&.+=.*view=table"))

    page.goto(f"{site.url}/runs/?show_lost=1")
    page.locator("a[rel=next]").click()
    page.locator("[data-tick-all]:not(:checked)").wait_for()
    for box in page.locator("input[type=checkbox][name=run]").all()[:2]:
        box.check()
    tray.get_by_text("52 runs kept").wait_for()
    page.goto(compared)
    offer.get_by_text("what is kept: 2 runs").click()
    page.wait_for_url("**s=**set=run%3D**")
    assert page.locator(".sets > li").count() == 2
    assert offer.is_hidden()


def test_every_control_of_a_comparison_is_reached_by_tab_and_shows_it(site: Site, page):
    page.goto(f"{site.url}/compare/?publication=tpcb-2010&workload=wl-tpcb")
    page.wait_for_load_state("networkidle")
    wanted = page.evaluate(
        """() => {
            const all = [...document.querySelectorAll('main :is(a[href], button, select, input, summary)')];
            const seen = all.filter(each => each.checkVisibility() && each.offsetWidth && each.type !== 'hidden');
            seen.forEach((each, index) => each.setAttribute('data-wanted', index));
            return seen.length;
        }"""
    )
    reached: set[str] = set()
    hidden = []
    for _ in range(2 * wanted + 40):
        page.keyboard.press("Tab")
        number, html, is_marked = page.evaluate(
            """() => {
                const at = document.activeElement, style = getComputedStyle(at);
                const isMarked = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
                const html = at.outerHTML.slice(0, 90);
                return [at.getAttribute('data-wanted'), html, isMarked || style.boxShadow !== 'none'];
            }"""
        )
        if number is not None:
            reached.add(number)
            hidden += [] if is_marked else [html]
        if len(reached) == wanted:
            break
    assert hidden == []
    assert len(reached) == wanted


FOCUSED = "() => (document.activeElement.querySelector('.text') ?? document.activeElement).textContent.trim()"


def test_the_focus_stays_on_what_was_chosen_by_keyboard(site: Site, page):
    """On tabs of a comparison, on its facets, and in the head of a list."""
    compared = f"{site.url}/compare/?publication=tpcb-2010&workload=wl-tpcb"
    for address, chosen in (
        (compared, "nav.tabs a:not([aria-current])"),
        (f"{compared}&edit=1", "#facet-dbms .options a"),
        (f"{site.url}/runs/", "#run-table thead a"),
    ):
        page.goto(address)
        page.locator(chosen).first.focus()
        words = page.evaluate(FOCUSED)
        with page.expect_response(lambda answer: "hx-request" in answer.request.headers):
            page.keyboard.press("Enter")
        page.wait_for_function("() => !document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')")
        assert page.evaluate(FOCUSED) == words, address


def test_a_swap_that_fails_is_told_and_can_be_tried_again(site: Site, page):
    page.goto(f"{site.url}/compare/?publication=tpcb-2010&workload=wl-tpcb")
    page.context.set_offline(True)
    page.locator("nav.tabs a:not([aria-current])").first.click()
    told = page.get_by_role("alert")
    told.wait_for()
    page.context.set_offline(False)
    told.get_by_role("link").click()
    page.wait_for_url("**view=**")
    assert told.count() == 0


def test_a_file_that_came_before_another_failed_is_not_named_twice(site: Site, logged_in, tmp_path):
    logged_in.goto(f"{site.url}/imports/")
    form = logged_in.locator("form.drop")
    form.evaluate("form => { form.dataset.drop = 0; form.submit = () => { form.dataset.submitted = ''; }; }")
    files = [tmp_path / name for name in ("a.log", "b.log")]
    for file in files:
        file.write_text("latency average = 1.0 ms\n" + file.name)
    logged_in.locator("#id_file").set_input_files(files)
    sent = []
    logged_in.route("**/api/v1/parts/*/", lambda route: route.fulfill(status=400) if sent else route.continue_())
    logged_in.on("response", lambda answer: sent.append(answer.url) if answer.request.method == "PATCH" else None)
    form.locator("button").click()
    form.locator(".notice-bad").wait_for()
    logged_in.unroute("**/api/v1/parts/*/")
    form.locator("button").click()
    logged_in.wait_for_selector("form.drop[data-submitted]")
    assert form.locator("[name=parts]").count() == 2


def test_the_menu_of_a_phone_opens_without_scripts(site: Site, browser):
    context = browser.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url)
    links = page.locator("nav.topnav a")
    assert not links.first.is_visible()
    page.get_by_role("button", name="Menu").click()
    assert all(link.is_visible() for link in links.all())
    links.filter(has_text="Agents").click()
    page.wait_for_url("**/agents/")
    context.close()


def test_a_comparison_is_cards_on_a_phone_with_the_verdict_in_sight(site: Site, page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site.url}/compare/?publication=tpcb-2010&workload=wl-tpcb")
    verdicts = page.locator("table.comparison .verdict")
    assert verdicts.count() == 6
    for box in (verdict.bounding_box() for verdict in verdicts.all()):
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= 390


def test_a_link_is_copied_and_said_to_be(site: Site, browser):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{site.url}/compare/?publication=tpcb-2010&workload=wl-tpcb")
    page.get_by_role("link", name="Copy link").click()
    page.get_by_text("The address is copied.").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"{site.url}/compare/?") and "publication=tpcb-2010" in copied
    context.close()


def test_a_picture_has_title_note_and_source(site: Site, page, tmp_path):
    """Higher than the chart on the page by the lines of its words."""
    page.goto(f"{site.url}/compare/?publication=tpcb-2010&workload=wl-tpcb")
    page.wait_for_function("() => document.querySelector('figure[data-drawn] canvas')")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as PNG").first.click()
    picture = saved.value.path().read_bytes()
    width, height = (int.from_bytes(picture[start : start + 4], "big") for start in (16, 20))
    drawn = page.locator("figure[data-drawn] canvas").first.evaluate("canvas => [canvas.width, canvas.height]")
    assert width == drawn[0] + 32 and height >= drawn[1] + 60


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("?publication=tpcb-2010&workload=wl-tpcb", {"comparison.png", "comparison.csv", "groups.png", "groups.csv"}),
        ("?publication=firebird-terabyte-2015&panels=factor:test_no", {"curve.png"}),
    ],
)
def test_charts_tables_and_panels_are_saved(site: Site, page, address, names):
    """What writes the files is fetched by the first click; CSV has the page's answer beside the numbers, and what is
    the same in all groups.
    """
    page.goto(f"{site.url}/compare/{address}")
    page.wait_for_function("() => document.querySelector('figure[data-drawn] canvas')")
    saved = {}
    for button in page.get_by_role("button", name=re.compile("^Save as (PNG|CSV)")).all():
        if not button.is_visible():
            continue
        with page.expect_download() as download:
            button.click()
        saved[download.value.suggested_filename] = download.value.path().read_bytes()
    assert names <= set(saved)
    for name, content in saved.items():
        if name.endswith(".png"):
            assert content.startswith(b"\x89PNG")
        else:
            head, first, *_ = content.decode().splitlines()
            assert head.endswith(",asked,answer,common") and "; Publication: " in first
