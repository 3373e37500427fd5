// Behaviour of all pages: the search key, copying, forms that submit on a choice, live changes.
"use strict";
(() => {
  const base = document.body.dataset.base;

  // The start page of the server reads this and opens the pages in a browser that has signed in; no other origin can.
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

  // The space bar presses links with the role of a button.
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
      showNote(button, "Copied");
    } catch {
      showNote(button, "Press Ctrl+C to copy");
      getSelection().selectAllChildren(button.querySelector("code") || button);
    }
  });

  function showNote(button, text) {
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
  if (here.searchParams.has("notice")) {
    here.searchParams.delete("notice");
    if (!here.pathname.endsWith("/node")) here.searchParams.delete("id");
    history.replaceState(history.state, "", here);
  }

  // A page whose result is still being computed is loaded again.
  const PENDING_MS = 1000;
  let pending;
  function update() {
    localTimes();
    for (const box of document.querySelectorAll("[data-from-end]")) box.scrollLeft = box.scrollWidth;
    makeScrollableFocusable();
    clearTimeout(pending);
    if (document.querySelector("[data-pending]")) pending = setTimeout(() => htmx.trigger("#page", "moss:changed"), PENDING_MS);
  }

  // Boxes that scroll sideways can be focused by the keyboard; others cannot.
  function makeScrollableFocusable() {
    for (const box of document.querySelectorAll(".prose pre, .prose table, .diff")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }
  update();
  window.addEventListener("resize", makeScrollableFocusable);
  const current = document.querySelector(".places [aria-current]");
  if (current) current.closest("ul").scrollLeft = current.offsetLeft - 24; // scrollIntoView would move where Tab begins
  document.addEventListener("htmx:after:swap", update);
  document.addEventListener("moss:shown", update);

  // Only a visible page receives changes; a page that becomes visible again first gets the missed ones.
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
      source.onopen = () => setAnswering(true);
      source.onerror = () => {
        setAnswering(false);
        if (source.readyState !== EventSource.CLOSED) return;
        source = null;
        setTimeout(listen, RETRY_MS);
      };
    }
  }

  // If the server stops, a notice shows the time of its last answer.
  const RETRY_MS = 5000;
  const stopped = document.getElementById("stopped");
  function setAnswering(isAnswering) {
    if (!isAnswering && stopped.hidden) {
      const time = stopped.querySelector("time");
      const now = new Date();
      time.dateTime = now.toISOString();
      time.title = time.dateTime;
      time.textContent = formats.moment.format(now);
    }
    stopped.hidden = isAnswering;
    document.body.classList.toggle("unanswered", !isAnswering);
  }
  document.addEventListener("visibilitychange", listen);
  window.addEventListener("pagehide", () => {
    source?.close();
    source = null;
  });
  listen();
})();
