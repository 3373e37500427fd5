// What the pages do beyond plain HTML: the search key, copying, choices that act at once, and changes as they come.
"use strict";
(() => {
  const base = document.body.dataset.base;

  // Only this origin reads it: by this the root of the server knows a browser that has signed in.
  try {
    localStorage.setItem(document.body.dataset.pages, base);
  } catch {
    // a browser that stores nothing opens the pages by their own address
  }

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

  // Times are in UTC until the browser shows them in its own time zone; the cookie lets the server group them by its days.
  document.cookie = `moss_zone=${encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone)}; Path=/; Max-Age=31536000; SameSite=Strict`;
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const formats = {
    clock: new Intl.DateTimeFormat("en-GB", clock),
    moment: new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", ...clock }),
  };
  function localTimes() {
    for (const time of document.querySelectorAll("time[data-local]")) {
      time.textContent = formats[time.dataset.local].format(new Date(time.dateTime));
    }
  }

  // The message of a form is shown once: a reload or a bookmark does not repeat it.
  const here = new URL(location.href);
  if (here.searchParams.has("said")) {
    here.searchParams.delete("said");
    if (!here.pathname.endsWith("/node")) here.searchParams.delete("id");
    history.replaceState(history.state, "", here);
  }

  // A page without a result that the server still computes asks again.
  const PENDING_MS = 1000;
  let pending;
  function settle() {
    localTimes();
    for (const box of document.querySelectorAll("[data-from-end]")) box.scrollLeft = box.scrollWidth;
    reachable();
    clearTimeout(pending);
    if (document.querySelector("[data-pending]")) pending = setTimeout(() => htmx.trigger("#page", "moss:changed"), PENDING_MS);
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
  document.addEventListener("moss:shown", settle);

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
      source.onopen = () => answers(true);
      source.onerror = () => {
        answers(false);
        if (source.readyState !== EventSource.CLOSED) return;
        source = null;
        setTimeout(listen, RETRY_MS);
      };
    }
  }

  // A server that has stopped is said on the page, with the time at which it was last heard.
  const RETRY_MS = 5000;
  const stopped = document.getElementById("stopped");
  function answers(well) {
    if (!well && stopped.hidden) {
      const time = stopped.querySelector("time");
      const now = new Date();
      time.dateTime = now.toISOString();
      time.title = time.dateTime;
      time.textContent = formats.moment.format(now);
    }
    stopped.hidden = well;
    document.body.classList.toggle("unanswered", !well);
  }
  document.addEventListener("visibilitychange", listen);
  window.addEventListener("pagehide", () => {
    source?.close();
    source = null;
  });
  listen();
})();
