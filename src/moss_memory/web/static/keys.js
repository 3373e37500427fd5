// The keyboard: j and k walk through the rows of a page, Ctrl+K jumps to anything by its name, ? lists the keys.
"use strict";
(() => {
  const base = document.body.dataset.base;
  const ROWS = "main a.row, main .row a.row-title, main .thing h3 a, main a.ticket, main .entry a.named";
  const KEYS = [
    ["j", "the next row"],
    ["k", "the row before"],
    ["Enter", "open it"],
    ["/", "search"],
    ["Ctrl+K", "jump to a capsule, task, card, workspace or page"],
    ["?", "these keys"],
    ["Esc", "close"],
  ];
  const WAIT_MS = 120;

  function made(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function walk(step) {
    const rows = [...document.querySelectorAll(ROWS)].filter((row) => row.offsetParent !== null);
    const at = rows.indexOf(document.activeElement);
    const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step];
    if (!next) return;
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    const command = event.ctrlKey || event.metaKey;
    if (command && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openPalette();
      return;
    }
    if (command || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, textarea, select, [contenteditable], .canvas")) return;
    if (event.key === "j" || event.key === "k") {
      event.preventDefault();
      walk(event.key === "j" ? 1 : -1);
    } else if (event.key === "?") {
      event.preventDefault();
      openHelp();
    }
  });

  function show(dialog) {
    dialog.addEventListener("close", () => dialog.remove());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.body.append(dialog);
    dialog.showModal();
  }

  function openHelp() {
    const list = made("dl", { class: "keys" });
    for (const [key, does] of KEYS) list.append(made("div", {}, made("dt", {}, made("kbd", {}, key)), made("dd", {}, does)));
    const close = made("button", { type: "button" }, "Close");
    const dialog = made("dialog", { class: "sheet", "aria-labelledby": "keys-title" }, made("h2", { id: "keys-title" }, "Keys"), list, close);
    close.addEventListener("click", () => dialog.close());
    show(dialog);
  }

  function openPalette() {
    if (document.querySelector("dialog[open]")) return;
    const input = made("input", {
      type: "search", role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list", "aria-autocomplete": "list",
      "aria-label": "Jump to", placeholder: "Jump to a capsule, task, card or workspace", maxlength: "200", autocomplete: "off",
    });
    const list = made("ul", { id: "palette-list", role: "listbox", "aria-label": "Found" });
    const dialog = made("dialog", { class: "sheet palette", "aria-label": "Jump to" }, input, list);
    let latest = 0;
    let timer = 0;

    function choose(option) {
      list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
      if (!option) return input.removeAttribute("aria-activedescendant");
      option.setAttribute("aria-selected", "true");
      option.scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", option.id);
    }

    async function fill() {
      const number = ++latest;
      let items = [];
      try {
        const answer = await fetch(`${base}/palette?q=${encodeURIComponent(input.value)}`);
        if (answer.ok) items = (await answer.json()).items;
      } catch {
        // a server that does not answer is reported by the page
      }
      if (number !== latest) return;
      list.replaceChildren(
        ...items.map((item, index) => {
          const link = made("a", { href: base + item.path, tabindex: "-1" });
          link.append(made("span", { class: `dot ${item.family}` }), made("span", { class: "row-title" }, item.title), made("span", { class: "faint" }, item.place));
          return made("li", { role: "option", id: `palette-${index}`, "aria-selected": "false" }, link);
        }),
      );
      if (!items.length) list.append(made("li", { class: "faint", role: "option", "aria-disabled": "true" }, "Nothing has this name. Enter searches the texts."));
      choose(list.querySelector("[aria-selected]"));
    }

    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(fill, WAIT_MS);
    });
    input.addEventListener("keydown", (event) => {
      const options = [...list.querySelectorAll("[aria-selected]")];
      const at = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        choose(options[(at + (event.key === "ArrowDown" ? 1 : options.length - 1)) % options.length]);
      } else if (event.key === "Enter") {
        event.preventDefault();
        const link = options[at]?.querySelector("a");
        if (link) location.assign(link.href);
        else if (input.value.trim()) location.assign(`${base}/search?q=${encodeURIComponent(input.value)}`);
      }
    });
    show(dialog);
    fill();
  }
})();
