// Consecutive headings of one level that each name a language become tabs. The reader's choice
// holds for all pages. Without this script, the page shows the languages one after the other.
(() => {
  "use strict";
  const LANGUAGES = ["Python", "asyncio", "JavaScript", "Rust", "C"];
  const KEY = "fencepost-language";
  const groups = [];

  function findGroups(main) {
    let group = [];
    let level = "";
    const close = () => {
      if (group.length > 1) groups.push(group);
      group = [];
    };
    for (const element of [...main.children]) {
      const isHeading = /^H[1-6]$/.test(element.tagName);
      const text = element.textContent.trim();
      if (isHeading && LANGUAGES.includes(text) && (group.length === 0 || element.tagName === level)) {
        level = element.tagName;
        group.push({ language: text, elements: [element] });
      } else if (group.length > 0 && isHeading && element.tagName <= level) {
        close();
      } else {
        group.at(-1)?.elements.push(element);
      }
    }
    close();
  }

  function build(group, number) {
    const list = document.createElement("div");
    list.className = "tabs";
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Language");
    group[0].elements[0].before(list);
    for (const tab of group) {
      tab.panel = document.createElement("div");
      tab.panel.id = `tab-${number}-${tab.language}`;
      tab.panel.className = "tab-panel";
      tab.panel.setAttribute("role", "tabpanel");
      tab.elements[0].before(tab.panel);
      tab.panel.append(...tab.elements);
      tab.button = document.createElement("button");
      tab.button.id = `${tab.panel.id}-button`;
      tab.button.textContent = tab.language;
      tab.button.setAttribute("role", "tab");
      tab.button.setAttribute("aria-controls", tab.panel.id);
      tab.panel.setAttribute("aria-labelledby", tab.button.id);
      tab.button.addEventListener("click", () => choose(tab.language, tab.button));
      list.append(tab.button);
    }
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      // mdBook's script changes the page on these keys.
      event.stopPropagation();
      const at = group.findIndex((tab) => tab.button === document.activeElement);
      const next = group[(at + step + group.length) % group.length];
      choose(next.language, next.button);
      next.button.focus();
    });
  }

  function show(language) {
    for (const group of groups) {
      const chosen = group.find((tab) => tab.language === language) ?? group[0];
      for (const tab of group) {
        tab.panel.hidden = tab !== chosen;
        tab.button.setAttribute("aria-selected", String(tab === chosen));
        tab.button.tabIndex = tab === chosen ? 0 : -1;
      }
    }
  }

  function choose(language, button) {
    const before = button.getBoundingClientRect().top;
    try {
      localStorage.setItem(KEY, language);
    } catch {
      // A browser may refuse to store the choice; then it applies to this page only.
    }
    show(language);
    // Groups above may have changed their height: keep the button at its position in the window.
    window.scrollBy(0, button.getBoundingClientRect().top - before);
  }

  /** A link to an anchor shows the tab that the anchor is in. */
  function showTarget() {
    let name = location.hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch {
      // The address is not well-formed. No anchor has such a name.
    }
    const target = document.getElementById(name);
    const tab = groups.flat().find((each) => target !== null && each.panel.contains(target));
    if (tab === undefined) return;
    show(tab.language);
    (tab.elements[0] === target ? tab.button.parentElement : target).scrollIntoView();
  }

  const main = document.querySelector("#mdbook-content main");
  if (main === null) return;
  findGroups(main);
  groups.forEach(build);
  let kept = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // As above.
  }
  show(kept);
  showTarget();
  window.addEventListener("hashchange", showTarget);
})();
