// What the pages do beyond plain HTML: the search key, copying, choices that act at once, and changes as they come.
"use strict";
(() => {
  const base = document.body.dataset.base;

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      document.getElementById("q").select();
    }
  });

  // What looks like a button is pressed as one.
  document.addEventListener("keydown", (event) => {
    if (event.key === " " && event.target.matches('a[role="button"]')) {
      event.preventDefault();
      event.target.click();
    }
  });

  document.addEventListener("change", (event) => {
    const form = event.target.form;
    if (form && form.hasAttribute("data-submits")) form.requestSubmit();
    if (form && form.getAttribute("role") === "search" && event.target.type === "radio" && form.elements.q.value) {
      form.requestSubmit();
    }
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      said(button, "Copied");
    } catch {
      said(button, "Press Ctrl+C to copy");
      getSelection().selectAllChildren(button.querySelector("code") || button);
    }
  });

  function said(button, text) {
    let note = button.parentElement.querySelector(".copied");
    if (!note) {
      note = document.createElement("span");
      note.className = "copied";
      note.setAttribute("role", "status");
      button.after(note);
    }
    note.textContent = text;
    clearTimeout(note.timer);
    note.timer = setTimeout(() => note.remove(), 1600);
  }

  function settle() {
    for (const box of document.querySelectorAll("[data-from-end]")) box.scrollLeft = box.scrollWidth;
    reachable();
  }

  // What scrolls sideways is reached by the keyboard, what does not is no stop on its way.
  function reachable() {
    for (const box of document.querySelectorAll(".prose pre, .prose table, .diff")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }
  settle();
  window.addEventListener("resize", reachable);
  const current = document.querySelector(".places [aria-current]");
  if (current) current.closest("ul").scrollLeft = current.offsetLeft - 24; // scrollIntoView would move where Tab begins
  document.addEventListener("htmx:after:swap", settle);

  // Only a page in view listens; one that comes into view again first catches up.
  let source = null;
  let seq = document.body.dataset.seq;
  function listen() {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (!source) {
      source = new EventSource(`${base}/changes?after=${encodeURIComponent(seq)}`);
      source.addEventListener("changed", (event) => {
        seq = event.data;
        document.body.dataset.seq = seq;
        if (!document.activeElement?.matches("main input, main textarea, main select")) {
          htmx.trigger("#page", "moss:changed");
        }
      });
      source.onerror = () => {
        if (source.readyState === EventSource.CLOSED) source = null;
      };
    }
  }
  document.addEventListener("visibilitychange", listen);
  window.addEventListener("pagehide", () => source?.close());
  listen();
})();
