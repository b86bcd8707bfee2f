"""The site in a real Chromium: nothing asked of the network, no script error, all of it works."""

import functools
import http.server
import os
import shutil
import threading

import pytest

import small
from fairbandits.experiments.config import load_config
from fairbandits.site.pages import CONFIG

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::sphinx.deprecation.RemovedInSphinx10Warning"),
    pytest.mark.filterwarnings("ignore::sphinx.deprecation.RemovedInSphinx11Warning"),
]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 400, "height": 800}
each_page = pytest.mark.parametrize("name", small.PAGES)
#: The lower of two contrasts of text with its ground, as WCAG has it.
CONTRAST = """
    (selector) => Math.min(...[...document.querySelectorAll(selector)].map((element) => {
        const light = (colour) => {
            const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
                const c = part / 255
                return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
            })
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        }
        let ground = element
        while (/, 0\\)$|transparent/.test(getComputedStyle(ground).backgroundColor)) {
            ground = ground.parentElement
        }
        const pair = [
            light(getComputedStyle(element).color),
            light(getComputedStyle(ground).backgroundColor),
        ]
        return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)
    }))
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *words):
        pass


@pytest.fixture(scope="module")
def site_url(tmp_path_factory):
    if CHROMIUM is None:
        if os.environ.get("FAIRBANDITS_REQUIRE_BROWSER") == "1":
            pytest.fail("FAIRBANDITS_REQUIRE_BROWSER is 1, and there is no chromium on the path")
        pytest.skip("no chromium on the path")
    folder = small.built_site(tmp_path_factory)
    handler = functools.partial(Quiet, directory=str(folder))
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
        yield chromium
        chromium.close()


class Visit:
    """A page in the browser, and what went wrong on it."""

    def __init__(self, browser, url):
        self.url = url
        self.page = browser.new_page(viewport=WIDE)
        self.wrong = []
        self.page.route("**/*", self._only_the_site)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("requestfailed", lambda request: self.wrong.append(request.url[:100]))
        self.page.on("console", self._console)
        self.page.on("response", self._response)

    def _only_the_site(self, route):
        if route.request.url.startswith((self.url, "data:", "blob:")):
            route.continue_()
        else:
            self.wrong.append(f"elsewhere: {route.request.url}")
            route.abort()

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
        tables = "table.fb-table" if name == "across" else "table.dataTable"  # it has none to sort
        self.page.locator(f"{tables} tbody tr").first.wait_for()
        if name not in ("index", "audit"):
            self.page.locator("mjx-container svg").first.wait_for(state="attached")
        self.page.evaluate("document.querySelectorAll('img').forEach(i => { i.loading = 'eager' })")
        self.page.wait_for_load_state("networkidle")
        self.page.wait_for_function("[...document.images].every(image => image.complete)")
        return self.page


@pytest.fixture
def visit(browser, site_url):
    visit = Visit(browser, site_url)
    yield visit
    visit.page.close()
    assert visit.wrong == []


@pytest.mark.parametrize("name", ["index", *small.PAPERS])
def test_figures_are_shown(visit, name):
    page = visit.open(name)
    widths = page.eval_on_selector_all(
        "img[src^='figures/']", "images => images.map(image => image.naturalWidth)"
    )
    drawn = load_config([CONFIG]).figures
    figures = [figure for paper, figure in drawn if name in ("index", paper)]
    assert len(widths) == len(figures) > 0
    assert min(widths) > 0


def test_formulas_are_set(visit):
    page = visit.open("banditq")
    assert page.locator("mjx-container svg").count() >= 20
    assert page.locator("mjx-merror").count() == 0
    text = page.locator("article").inner_text()
    assert "\\(" not in text
    assert "$" not in text


def test_small_run_is_marked(visit):
    for name in small.PAGES:
        assert visit.open(name).get_by_text("smoke scale: not results").first.is_visible()


def test_table_filters_and_sorts(visit):
    page = visit.open("banditq")
    rows = page.locator("#settings tbody tr")
    total = rows.count()
    column = page.locator("#settings thead input").nth(3)
    column.press_sequentially("reconstructed")
    page.locator(".dt-info", has_text=f"filtered from {total}").wait_for()
    assert 0 < rows.count() < total
    assert {row.split("\t")[3] for row in rows.all_inner_texts()} == {"reconstructed"}
    column.fill("")
    column.press("Backspace")
    page.locator(".dt-info", has_text=f"1 to {total} of {total}").wait_for()

    header = page.locator("#settings thead th").nth(1)
    for direction in ("ascending", "descending"):
        header.locator(".dt-column-order").click()
        page.locator(f"#settings thead th[aria-sort={direction}]").wait_for()
        names = page.locator("#settings tbody td:nth-child(2)").all_inner_texts()
        assert names == sorted(names, key=str.lower, reverse=direction == "descending")


def test_evidence_is_shown(visit):
    page = visit.open("audit")
    images = page.eval_on_selector_all(
        ".fb-evidence img", "images => images.map(image => [image.naturalWidth, image.alt])"
    )
    assert len(images) > 100
    assert min(width for width, _ in images) > 0
    assert all(" questions, " in alt for _, alt in images)


@pytest.mark.parametrize("paper", ["banditq", "fair_ucb"])
def test_verdicts_filter_and_sort(visit, paper):
    page = visit.open("audit")
    rows = page.locator(f"#verdicts-{paper} tbody tr")
    info = page.locator(f"#verdicts-{paper}_wrapper .dt-info")
    total = rows.count()
    column = page.locator(f"#verdicts-{paper} thead input").nth(5)
    column.press_sequentially("not reproduced")
    info.filter(has_text=f"filtered from {total}").wait_for()
    assert 0 < rows.count() < total
    assert all("not reproduced" in row.split("\t")[5] for row in rows.all_inner_texts())
    column.fill("")
    column.press("Backspace")
    info.filter(has_text=f"1 to {total} of {total}").wait_for()

    header = page.locator(f"#verdicts-{paper} thead th").nth(0)
    for direction in ("ascending", "descending"):
        header.locator(".dt-column-order").click()
        page.locator(f"#verdicts-{paper} thead th[aria-sort={direction}]").wait_for()
        names = page.locator(f"#verdicts-{paper} tbody td:nth-child(1)").all_inner_texts()
        assert names == sorted(names, key=str.lower, reverse=direction == "descending")


def test_verdicts_lead_to_their_evidence(visit):
    page = visit.open("audit")
    for role in ("primary", "other"):  # in the open, and folded
        row = page.locator("#verdicts-fair_ucb tbody tr", has_text=role).first
        name = row.locator("a").inner_text()
        assert page.locator(f"#claim-{name}").is_visible() == (role == "primary")
        row.locator("a").click()
        page.wait_for_url(f"**/audit.html#claim-{name}")
        page.locator(f"#claim-{name}").wait_for()
        top = page.locator(f"#claim-{name}").bounding_box()["y"]
        assert 0 < top < WIDE["height"]


def test_what_is_consequential_leads_to_its_evidence(visit):
    page = visit.open("index")
    link = page.locator("#consequential a").first
    link.click()
    page.wait_for_url("**/audit.html#claim-*")
    name = page.url.partition("#")[2]
    assert page.locator(f"#{name}").is_visible()
    page.locator(".fb-claim a[href^='fair_ucb.html#fig']").first.click()
    page.wait_for_url("**/fair_ucb.html#fig*")


def test_search_finds(visit):
    visit.page.goto(f"{visit.url}/search.html?q=queue")
    visit.page.locator("#search-results li a").first.wait_for()
    assert "BanditQ" in visit.page.locator("#search-results").inner_text()


def test_gallery_leads_to_figures(visit):
    page = visit.open("index")
    page.locator(".fb-gallery a").nth(2).click()
    page.wait_for_url("**/banditq.html#fig3")
    assert page.locator("figure#fig3").is_visible()


@each_page
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_layout_holds(visit, name, theme, size):
    page = visit.open(name, theme, size)
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    boxes = page.evaluate(
        "[...document.querySelectorAll('.fb-scroll, .fb-figure, .fb-smoke, .fb-gallery')]"
        ".map(element => element.getBoundingClientRect()).map(box => [box.left, box.right])"
    )
    assert boxes
    for left, right in boxes:
        assert 0 <= left < right <= size["width"]
    for text in (
        "article p",
        ".fb-table td, .fb-table th",
        "table.dataTable td",
        ".fb-badge",
        ".fb-claim dd",
        ".fb-claim dt",
    ):
        if page.locator(text).count():
            assert page.evaluate(CONTRAST, text) >= 4.5, text
