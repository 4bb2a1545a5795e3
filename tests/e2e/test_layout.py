"""Every page on a phone, a tablet, a laptop and a large screen: nothing is cut, squeezed or out of reach."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.e2e.conftest import Site

pytestmark = pytest.mark.browser
WIDTHS = (390, 768, 1280, 1920)
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
PAGES = [
    "/", "/runs/", "/compare/", "/compare/?publication=tpcb-2010&workload=wl-tpcb",
    "/compare/?publication=firebird-terabyte-2015", "/compare/?publication=tpcb-2010&workload=wl-tpcb&view=table",
    "/publications/", "/publications/tpcb-2010/", "/publications/firebird-terabyte-2015/", "/hardware/",
    "/hardware/hw-tpcb/", "/hardware/diff/?machine=hw-firebird-sata&machine=hw-firebird-ssd", "/configs/",
    "/configs/cfg-tpcb-db2-stmm/", "/dbms/", "/reports/", "/reports/new/?publication=tpcb-2010", "/imports/",
    "/imports/api/", "/uploads/", "/schedule/", "/schedule/article/tpcb-2010/", "/agents/", "/account/", "/people/",
]  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_it_fits_every_screen_and_is_accessible(site: Site, logged_in, path):
    logged_in.goto(site.url + path)
    logged_in.wait_for_load_state("networkidle")
    for width in WIDTHS:
        logged_in.set_viewport_size({"width": width, "height": 900})
        assert logged_in.evaluate(TROUBLES, LEAST_COLUMN_PX) == [], width
        # What a rule of axe finds in one theme and not in the other is contrast.
        for scheme in ("light", "dark") if width in (390, 1280) else ():
            logged_in.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            violations = Axe().run(logged_in).response["violations"]
            assert [(violation["id"], violation["nodes"][0]["html"]) for violation in violations] == [], (width, scheme)


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
