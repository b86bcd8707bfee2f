/* Tables to sort and to filter, commands to copy, links to claims, and what search shows of a page. */
"use strict";

(() => {
  const made = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const valueOf = (cell) => cell.dataset.value ?? cell.textContent.trim();
  const narrow = matchMedia("(max-width: 600px)");

  class Table {
    constructor(table) {
      this.table = table;
      this.rows = [...table.tBodies[0].rows];
      this.order = this.rows;
      this.size = narrow.matches ? 20 : 50;  // rows of a page
      this.heads = [...table.tHead.rows[0].cells];
      this.names = this.heads.map((head) => head.textContent);
      this.chosen = new Map();
      this.words = [];
      this.texts = new Map(this.rows.map((row) => [row, row.textContent.toLowerCase()]));
      this.controls();
      this.heads.forEach((head, k) => this.sortable(head, k));
      this.fromAddress();
      this.show();
    }

    controls() {
      const box = made("div", "fb-filters");
      box.setAttribute("role", "search");
      this.fields = {};
      this.heads.forEach((head, k) => {
        const values = [...new Set(this.rows.map((row) => valueOf(row.cells[k])))].filter(Boolean);
        const filter = head.dataset.filter;
        if (filter === "select") box.append(this.select(k, values.sort()));
        else if (filter) {
          box.prepend(this.buttons(k, filter.split("|").filter((value) => values.includes(value))));
        }
      });
      const search = made("input");
      search.type = "search";
      search.addEventListener("input", () => this.search(search.value));
      this.fields.search = search;
      box.append(this.labelled("search", search));
      const sort = made("select");
      ["", ...this.names].forEach((name) => sort.append(new Option(name || "as listed", name)));
      sort.addEventListener("change", () => this.sort(this.names.indexOf(sort.value), true));
      const narrow = this.labelled("sort by", sort);
      narrow.classList.add("fb-narrow");
      box.append(narrow);
      this.status = made("p", "fb-count");
      this.status.setAttribute("role", "status");
      this.pager = made("nav", "fb-buttons");
      this.pager.setAttribute("aria-label", "pages of the table");
      const place = this.table.closest(".fb-scroll") ?? this.table;
      if (this.rows.length > 8) place.before(box, this.status);
      place.after(this.pager);
    }

    labelled(name, field) {
      const label = made("label", "", name);
      field.setAttribute("aria-label", name);  // without its choices
      label.append(field);
      return label;
    }

    buttons(k, values) {
      const group = made("div", "fb-buttons");
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", this.names[k]);
      this.fields[this.names[k]] = ["", ...values].map((value) => {
        const count = this.rows.filter((row) => !value || valueOf(row.cells[k]) === value).length;
        const button = made("button", "", `${value || "all"} ${count}`);
        button.type = "button";
        button.dataset.value = value;
        button.addEventListener("click", () => this.choose(k, value));
        group.append(button);
        return button;
      });
      this.press(k, "");
      return group;
    }

    select(k, values) {
      const field = made("select");
      ["", ...values].forEach((value) => field.append(new Option(value || "all", value)));
      field.addEventListener("change", () => this.choose(k, field.value));
      this.fields[this.names[k]] = field;
      return this.labelled(this.names[k], field);
    }

    press(k, value) {
      const fields = this.fields[this.names[k]];
      if (Array.isArray(fields)) {
        fields.forEach((button) => button.setAttribute("aria-pressed", button.dataset.value === value));
      } else {
        fields.value = value;
      }
    }

    choose(k, value) {
      this.press(k, value);
      if (value) this.chosen.set(k, value);
      else this.chosen.delete(k);
      this.show();
    }

    search(text) {
      this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
      this.show();
    }

    fitting() {
      return this.order.filter((row) =>
        [...this.chosen].every(([k, value]) => valueOf(row.cells[k]) === value)
          && this.words.every((word) => this.texts.get(row).includes(word)));
    }

    show(page = 0) {
      const fitting = this.fitting();
      const [first, end] = [page * this.size, Math.min((page + 1) * this.size, fitting.length)];
      const shown = new Set(fitting.slice(first, end));
      this.rows.forEach((row) => { row.hidden = !shown.has(row); });
      const all = fitting.length === this.rows.length ? "" : `of ${this.rows.length} `;
      this.status.textContent = `${fitting.length} ${all}rows`;
      const pages = Math.ceil(fitting.length / this.size);
      if (pages > 1) this.status.textContent += `, here ${first + 1} to ${end}`;
      this.pager.replaceChildren(...Array.from({ length: pages > 1 ? pages : 0 }, (_, k) => {
        const button = made("button", "", String(k + 1));
        button.type = "button";
        button.setAttribute("aria-label", `page ${k + 1} of ${pages}`);
        if (k === page) button.setAttribute("aria-current", "page");
        button.addEventListener("click", () => {
          this.show(k);
          this.pager.children[k].focus({ preventScroll: true });
          this.status.scrollIntoView({ block: "center" });
        });
        return button;
      }));
    }

    reveal(row) {  // the page of the table that has the row
      const place = this.fitting().indexOf(row);
      if (place < 0) return;
      this.show(Math.floor(place / this.size));
      row.scrollIntoView();
    }

    sortable(head, k) {
      const button = made("button", "fb-sort", head.textContent);
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", () =>
        this.sort(k, head.getAttribute("aria-sort") !== "ascending"));
    }

    sort(k, ascending) {
      this.heads.forEach((head) => head.removeAttribute("aria-sort"));
      let order = this.rows;
      if (k >= 0) {
        this.heads[k].setAttribute("aria-sort", ascending ? "ascending" : "descending");
        const keys = new Map(this.rows.map((row) => [row, valueOf(row.cells[k])]));
        const numeric = [...keys.values()].every((key) => key === "" || !Number.isNaN(Number(key)));
        const compare = numeric
          ? (one, other) => Number(one) - Number(other)
          : (one, other) => one.localeCompare(other, "en", { numeric: true, sensitivity: "base" });
        order = [...this.rows].sort((one, other) => {
          const [a, b] = [keys.get(one), keys.get(other)];
          if (a === "" || b === "") return (a === "") - (b === "");  // what is not there comes last
          return ascending ? compare(a, b) : compare(b, a);
        });
      }
      this.order = order;
      this.table.tBodies[0].append(...order);
      this.show();
    }

    fromAddress() {  // claims.html?paper=BanditQ&verdict=reproduced
      for (const [name, value] of new URLSearchParams(location.search)) {
        const k = this.names.indexOf(name);
        if (k >= 0 && this.heads[k].dataset.filter) this.choose(k, value);
      }
    }
  }

  const label = (table) => {  // on a narrow screen each cell shows the name of its column
    const names = [...table.tHead.rows[0].cells].map((head) => head.textContent);
    [...table.rows].forEach((row) =>
      [...row.cells].forEach((cell, k) => { cell.dataset.label = names[k]; }));
  };

  const copying = (place) => {
    const button = made("button", "fb-copy", "copy");
    button.type = "button";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(place.querySelector("pre").textContent.trim());
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 2000);
    });
    place.append(button);
  };

  const joined = (formula) => {  // a line does not begin with the sign that follows a formula
    const [text, sign] = [formula.nextSibling, /^[^\s\w(]+/.exec(formula.nextSibling?.data ?? "")];
    if (!sign) return;
    const whole = made("span", "fb-joined");
    formula.replaceWith(whole);
    whole.append(formula, sign[0]);
    text.data = text.data.slice(sign[0].length);
  };

  let tables = [];

  const lead = () => {  // what a link leads to is unfolded, and on the shown page of its table
    const there = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!there) return;
    tables.forEach((table) => table.reveal(there));
    there.querySelector(":scope > details")?.setAttribute("open", "");
    for (let box = there; box; box = box.parentElement) if (box.tagName === "DETAILS") box.open = true;
    there.scrollIntoView();
  };

  const watched = new WeakSet();

  const scrolling = (box) => {  // what can be scrolled can be by keyboard, and shows that it can
    if (watched.has(box)) return;
    watched.add(box);
    const mark = () => {
      box.classList.remove("fb-wide");  // its words are wide too
      const wide = box.scrollWidth > box.clientWidth + 1;
      box.classList.toggle("fb-wide", wide);
      box.classList.toggle("fb-at-end", box.scrollLeft + box.clientWidth >= box.scrollWidth - 1);
      if (wide) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    };
    box.addEventListener("scroll", mark, { passive: true });
    new ResizeObserver(mark).observe(box);
    mark();
  };

  // a page that was opened from a disk may not read another: the index of the search has their texts
  const summarise = () => {
    // of equal results claims come first where many words are searched, and pages where few are
    const words = (new URLSearchParams(location.search).get("q") ?? "").trim().split(/[\s-]+/);
    Scorer.score = ([page, , , , score]) => score + (page.startsWith("claims/") === words.length > 2);
    const asked = window.fetch;
    window.fetch = (address, ...more) => {
      const text = Search.texts?.[String(address).replace(/^\.\//, "").replace(/\.html$/, "")];
      return text === undefined ? asked(address, ...more)
        : Promise.resolve(new Response(`<main role="main">${text}</main>`));
    };
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".fb-data, .fb-cards .fb-table").forEach(label);
    tables = [...document.querySelectorAll("table.fb-data")].map((table) => new Table(table));
    document.querySelectorAll(".fb-command, .highlight-sh, .highlight-console").forEach(copying);
    document.querySelectorAll(".fb-scroll, .fb-image, .output:has(.dataframe)").forEach(scrolling);
    document.querySelectorAll("span.math").forEach(joined);
    document.querySelectorAll(".fb-open").forEach((fold) => { fold.open = !narrow.matches; });
    if (typeof Search !== "undefined") summarise();
    lead();
    addEventListener("hashchange", lead);
  });

  const formulas = () => document.querySelectorAll("mjx-container, div.math").forEach((formula) => {
    const scrolls = getComputedStyle(formula).overflowX === "auto";
    // what is folded has no width yet
    const folded = !formula.getBoundingClientRect().width;
    const wide = formula.clientWidth && formula.scrollWidth > formula.clientWidth + 4;
    if (scrolls && (folded || wide)) scrolling(formula);
  });

  addEventListener("load", () => window.MathJax?.startup?.promise?.then(() => {
    formulas();
    addEventListener("resize", formulas);  // a turned phone is narrower
  }));
})();
