"""The site in a real Chromium: nothing asked of the network, no script error, all of it works."""

import functools
import http.server
import math
import os
import re
import shutil
import threading
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe

import real
import small
from fairbandits.audit.totals import tally
from fairbandits.report import audit, headlines
from fairbandits.report.markup import GENERATED, render
from fairbandits.settings.formulas import plain

pytestmark = [pytest.mark.browser, *small.OF_SPHINX]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
FIRST = {"width": 1280, "height": 800}
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 800}
CLAIM = "claims/fairucb-thm2-bound"
CLAIM_ID = "banditq-prop2-violation"
STATEMENT = plain(real.papers()["banditq"].claims[CLAIM_ID].statement)
#: For axe-core: rows far down a table are like those above, and what is right is not listed.
ALIKE = {"exclude": [["tbody tr:nth-child(n + 16)"]]}
AXE = {"preload": False, "resultTypes": ["violations"]}
each_page = pytest.mark.parametrize("name", [*small.PAGES, *GENERATED, CLAIM])


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def site_folder(tmp_path_factory):
    if CHROMIUM is None:
        if os.environ.get("FAIRBANDITS_REQUIRE_BROWSER") == "1":
            pytest.fail("FAIRBANDITS_REQUIRE_BROWSER is 1, and there is no chromium on the path")
        pytest.skip("no chromium on the path")
    return small.built_site(tmp_path_factory)


@pytest.fixture(scope="module")
def site_url(site_folder):
    handler = functools.partial(Quiet, directory=str(site_folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser(site_url):  # the site first: its notebooks cannot run beside playwright's event loop
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium.new_context(viewport=WIDE)  # of all pages, which share what was loaded
        chromium.close()


class Visit:
    """A page in the browser, and what went wrong on it."""

    def __init__(self, browser, url, disk):
        self.url, self.disk = url, disk
        self.page = browser.new_page()
        self.page.set_default_timeout(120_000)  # of a machine that has other work as well
        self.wrong = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)
        self.page.on("console", self._console)
        self.page.on("response", self._response)

    def _request(self, request):
        if not request.url.startswith((self.url, self.disk, "data:", "blob:")):
            self.wrong.append(f"elsewhere: {request.url}")

    def _failed(self, request):
        if request.failure != "net::ERR_ABORTED":  # what a page that is left has not loaded yet
            self.wrong.append(f"{request.failure}: {request.url[:100]}")

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(f"{message.type}: {message.text}")

    def _response(self, response):
        if response.status >= 400:
            self.wrong.append(f"{response.status}: {response.url}")

    def open(self, name, theme="light", size=WIDE):
        """Open a page, and wait until its figures, tables and formulas are there."""
        self.page.set_viewport_size(size)
        self.page.add_init_script(
            f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
        )
        self.page.goto(f"{self.url}/{name}.html")
        self.page.locator("article table tbody tr").first.wait_for(state="attached")
        if name not in ("index", "audit", "claims", "robustness", "library"):
            self.page.locator("mjx-container svg").first.wait_for(state="attached")
            self.page.evaluate("MathJax.startup.promise.then(() => true)")
        self.page.evaluate("document.querySelectorAll('img').forEach(i => { i.loading = 'eager' })")
        self.page.wait_for_function("[...document.images].every(image => image.complete)")
        return self.page


@pytest.fixture
def visit(browser, site_url, site_folder):
    visit = Visit(browser, site_url, site_folder.as_uri())
    yield visit
    visit.page.close()
    assert visit.wrong == []


def test_formulas_are_set(visit):
    page = visit.open("banditq")
    assert page.locator("mjx-container svg").count() >= 20
    assert page.locator("mjx-merror").count() == 0
    text = page.locator("article").inner_text()
    assert "\\(" not in text
    assert "$" not in text


def verdict_of(cell):
    return re.split(", in part| ·|\n", cell)[0]


def test_table_filters_and_sorts(visit):
    page = visit.open("claims")
    rows = page.locator("#claims tbody tr:visible")
    status = page.locator(".fb-count")
    total = page.locator("#claims tbody tr").count()
    column = {
        name: page.locator(f"#claims td:visible:nth-child({index})")
        for name, index in (("claim", 1), ("paper", 2), ("verdict", 6), ("number", 9))
    }
    page.get_by_role("button", name="reproduced", exact=False).first.focus()
    page.keyboard.press("Enter")  # of two that have the word, the one that says just that
    shown = set(map(verdict_of, column["verdict"].all_inner_texts()))
    assert shown == {"reproduced", "makes no difference"}  # the latter of inconsistencies
    page.get_by_label("paper", exact=True).select_option("Fair-UCB")
    assert set(column["paper"].all_inner_texts()) == {"Fair-UCB"}
    assert status.inner_text() == f"{rows.count()} of {total} rows"
    word = column["claim"].first.inner_text()
    page.get_by_role("searchbox", name="search", exact=True).fill(word.upper())
    assert 0 < rows.count() < 20
    assert all(word in text for text in rows.all_inner_texts())
    page.goto(f"{visit.url}/claims.html?verdict=not reproduced")
    shown = set(map(verdict_of, column["verdict"].all_inner_texts()))
    assert "not reproduced" in shown
    assert shown <= {"not reproduced", "makes a difference"}
    for direction in ("ascending", "descending"):
        page.get_by_role("button", name="number").click()
        page.locator(f"#claims thead th[aria-sort={direction}]").wait_for()
        values = column["number"].evaluate_all("all => all.map(one => one.dataset.value)")
        there = [float(value) for value in values if value]
        assert there == sorted(there, reverse=direction == "descending")
        assert values[: len(there)] == [value for value in values if value]


def test_a_long_table_has_pages(visit):
    page = visit.open("claims")
    rows = page.locator("#claims tbody tr")
    first = rows.locator("visible=true").first.get_attribute("id")
    assert rows.locator("visible=true").count() == 50
    pages = page.get_by_role("navigation", name="pages of the table")
    assert pages.get_by_role("button").count() == math.ceil(rows.count() / 50)
    pages.get_by_role("button").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.locator(".fb-count").inner_text().endswith(", here 51 to 100")
    assert page.locator(f"#{first}").is_hidden()
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "page"
    page.get_by_role("searchbox", name="search", exact=True).fill(first)
    assert page.locator(f"#{first}").is_visible()
    last = rows.last.get_attribute("id")
    page.goto(f"{visit.url}/claims.html#{last}")
    page.reload()
    assert page.locator(f"#{last}").is_visible()


def test_a_claim_has_evidence_formulas_and_a_command_to_copy(visit):
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit.open("claims/banditq-prop2-violation")
    picture = page.locator(".fb-forest ol").first.bounding_box()
    for mark in page.locator(".fb-forest").first.locator("circle, g rect").all():
        box = mark.bounding_box()
        assert box["width"] > 3
        assert picture["x"] < box["x"] < picture["x"] + picture["width"]
    assert page.locator("mjx-container svg").count() > 3
    assert page.locator("mjx-merror").count() == 0
    page.get_by_role("button", name="copy").first.click()
    page.get_by_role("button", name="copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "fairbandits claims banditq-prop2-violation"


def test_formulas_of_all_claims_are_set(visit):
    """All that the pages of the claims typeset is put on one page, so that it takes seconds."""
    page = visit.open("claims/banditq-eq12")
    wrong = page.evaluate(
        """async (names) => {
            const texts = await Promise.all(names.map(async (name) => (await fetch(name)).text()))
            const found = texts.flatMap((text) =>
                [...new DOMParser().parseFromString(text, 'text/html').querySelectorAll('.math')])
            const place = document.createElement('div')
            place.append(...new Map(found.map((one) => [one.textContent, one])).values())
            document.body.append(place)
            await MathJax.typesetPromise([place])
            return [...place.querySelectorAll('mjx-merror')].map((one) => one.textContent)
        }""",
        [f"{name}.html" for name in small.claims()],
    )
    assert wrong == []


@pytest.mark.parametrize(
    ("query", "title", "shown", "served"),
    [
        ("queue", "BanditQ", "queue", True),
        (CLAIM_ID, CLAIM_ID, STATEMENT, False),
        ("full information violation order", CLAIM_ID, STATEMENT, True),
    ],
    ids=["word", "id, from disk", "words"],
)
def test_search_finds_and_shows_what(visit, site_folder, query, title, shown, served):
    address = visit.url if served else site_folder.as_uri()
    visit.page.goto(f"{address}/search.html?q={quote(query)}")
    first = visit.page.locator("#search-results li").first
    first.locator(".context").wait_for()
    assert first.locator("a").first.inner_text() == title
    assert shown.lower() in first.locator(".context").inner_text().lower()
    first.locator("a").first.click()
    visit.page.locator("article h1").wait_for()
    assert visit.page.locator("article h1").inner_text().strip("#") == title


@each_page
def test_layout_holds(visit, name):
    """Dark and narrow as it is opened, and then light and wide."""
    page = visit.open(name, "dark", NARROW)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert_in_place(page, NARROW["width"])
    page.evaluate(
        "Object.assign(document.documentElement.dataset, {theme: 'light', mode: 'light'})"
    )
    page.set_viewport_size(WIDE)
    assert_in_place(page, WIDE["width"])
    assert page.evaluate("document.documentElement.scrollHeight") < 17_000  # all figures are open


def assert_in_place(page, width):
    """Nothing is wider than the page, and axe-core finds no serious fault."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = page.evaluate(
        "[...document.querySelectorAll('.fb-scroll, .fb-figure, .fb-smoke, .fb-gallery')]"
        ".map(element => element.getBoundingClientRect()).map(box => [box.left, box.right])"
    )
    for left, right in boxes:
        assert 0 <= left < right <= width
    violations = Axe().run(page, ALIKE, AXE).response["violations"]
    grave = [fault for fault in violations if fault["impact"] in ("serious", "critical")]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in grave] == []


# what readers come with


def on_screen(element):
    box = element.bounding_box()
    return box["y"] >= 0 and box["y"] + box["height"] <= FIRST["height"]


def test_what_was_found_is_on_the_first_screen(visit, tmp_path_factory):
    """A small run has other findings: those of the papers take the place of its totals."""
    judged = audit.open_audit(small.audited(tmp_path_factory) / "results")
    findings = [(top, headlines.texts_of(top)) for top in headlines.load_headlines(judged.papers)]
    total = tally(judged.heads)
    markup = render("landing.html", audit=judged, headlines=findings, total=total, picture=None)
    page = visit.open("index", size=FIRST)
    page.evaluate(
        """(markup) => {
            document.querySelector('.fb-counts').parentElement.innerHTML = markup
            document.querySelectorAll('.fb-smoke').forEach((one) => one.remove())
        }""",
        markup,
    )
    told = page.locator(".fb-notable summary")
    assert told.count() == len(findings)
    assert all(map(on_screen, told.all()))
    told.first.click()
    assert page.locator("em", has_text="What speaks against it.").first.is_visible()


def test_why_a_claim_fails_and_what_would_change_it_are_two_clicks_away(visit):
    page = visit.open("index", size=FIRST)
    page.get_by_role("link", name="Which claims hold?").click()
    rows = page.locator("#claims tbody tr", has=page.locator(".fb-off", has_text="not reproduced"))
    measured = rows.filter(has=page.locator("td:nth-child(10)", has_text=" to "))  # its bounds
    measured.locator("visible=true").first.locator("a").first.click()
    page.locator(".fb-reason").first.wait_for()
    why = " ".join(page.locator(".fb-reason").all_inner_texts())
    assert re.search(r"it is reproduced if .*; it is ", why, re.IGNORECASE)
    assert page.locator("#function code").inner_text().startswith("@paper.")
    assert "--set level=" in page.locator("#again").inner_text()


def test_which_policy_keeps_quotas_with_an_unknown_horizon_is_one_click_away(visit):
    page = visit.open("index", size=FIRST)
    page.get_by_role("link", name="Which fair policy should I use?").click()
    quotas = page.locator("#decision tbody").first
    quotas.wait_for()
    assert "quota" in quotas.locator("th").first.inner_text()
    unknown = quotas.locator("tr", has_text=re.compile("T (not known|known or not)"))
    assert all(on_screen(row.locator("strong").first) for row in unknown.all())
    assert unknown.count() == 2


def test_what_is_folded_unfolds_where_a_link_leads(visit):
    page = visit.open("bf_ucb", size=FIRST)
    assert page.locator("section > details").count() >= 3
    assert page.locator("#fig2a").is_visible()
    by_hand = page.locator("#a-number-of-figure-1-by-hand pre").first
    assert not by_hand.is_visible()
    page.goto(f"{visit.url}/bf_ucb.html#a-number-of-figure-1-by-hand")
    by_hand.wait_for()
    page.goto(f"{visit.url}/library.html#fb-metrics.regret")
    page.locator("#fb-metrics\\.regret dl").first.wait_for()
