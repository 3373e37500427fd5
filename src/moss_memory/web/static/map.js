// The map: dots on a canvas. Stored text is drawn or set as text, never as HTML.
(() => {
  "use strict";
  const card = document.getElementById("map");
  if (!card) return;
  const base = document.body.dataset.base;
  const canvas = document.getElementById("map-canvas");
  const status = document.getElementById("map-status");
  const name = document.getElementById("map-name");
  const slider = document.getElementById("map-week");
  const date = document.getElementById("map-date");
  const WEEK_S = 7 * 86400, YEAR_S = 365 * 86400, MARGIN = 52, LABELS = 40, LINE = 16, MARKS = 600, EDGED = 3000, FADES = 4;
  const X = 0, Y = 1, FAMILY = 2, WORKSPACE = 3, LOADS = 4, CREATED = 5, UPDATED = 6, TITLE = 7, PATH = 8;
  let dots = [], workspaces = [], view = { scale: 1, x: 0, y: 0 }, size = { width: 1, height: 1 };
  let bounds = { left: 0, top: 0, width: 1, height: 1 }, least = 2.4;
  let until = Infinity, grid = new Map(), hovered = null, drawn = 0, playing = 0;
  const now = Date.now() / 1000;
  card.hidden = false;
  document.getElementById("map-needs").hidden = true;

  const colour = (selector, property) => getComputedStyle(document.querySelector(selector))[property];
  const families = [...card.querySelectorAll("[data-family]")].map((one) => one.dataset.family);
  const radius = (dot) => least + 1.6 * Math.log2(1 + dot[LOADS]);
  const fade = (dot) => Math.min(FADES - 1, Math.floor((FADES * (now - dot[UPDATED])) / YEAR_S * 4));
  const isShown = (dot) => dot[CREATED] <= until;

  function fit() {
    const { left, top, width, height } = bounds;
    const scale = Math.max(40, Math.min((size.width - 2 * MARGIN) / width, (size.height - 2 * MARGIN) / height));
    view = { scale, x: (size.width - scale * width) / 2 - left * scale, y: (size.height - scale * height) / 2 - top * scale };
    request();
  }

  function resize() {
    const box = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
    size = { width: box.width, height: box.height };
    canvas.width = Math.max(1, Math.round(box.width * ratio));
    canvas.height = Math.max(1, Math.round(box.height * ratio));
    fit();
  }

  const at = (dot) => [view.x + dot[X] * view.scale, view.y + dot[Y] * view.scale];

  // Pale tints, a golden angle apart, so that neighbours in the list differ.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const tint = (number, isEdge) => {
    const hue = (40 + number * 137.508) % 360;
    if (dark.matches) return `hsl(${hue} 26% ${isEdge ? 30 : 17}%)`;
    return `hsl(${hue} 42% ${isEdge ? 82 : 94}%)`;
  };

  function patches(context, shown) {
    const places = workspaces.map((text, number) => ({ number, text: text.slice(0, 40), x: 0, y: 0, own: [], path: new Path2D() }));
    const reach = Math.max(12, Math.min(48, (1.1 * view.scale * Math.sqrt(bounds.width * bounds.height)) / Math.sqrt(dots.length)));
    for (const dot of shown) {
      const [x, y] = at(dot), place = places[dot[WORKSPACE]];
      place.x += x; place.y += y; place.own.push([x, y]);
      place.path.moveTo(x + reach, y);
      place.path.arc(x, y, reach, 0, 7);
    }
    const named = places.filter((place) => place.own.length).sort((one, other) => other.own.length - one.own.length);
    context.lineWidth = 2;
    for (const { number, path } of named) {
      if (shown.length <= EDGED) { // the fill covers all but the outer edge
        context.strokeStyle = tint(number, true);
        context.stroke(path);
      }
      context.fillStyle = tint(number, false);
      context.fill(path, "nonzero");
    }
    return named.map(({ text, x, y, own }) => ({ text, ...innermost(own, x / own.length, y / own.length) }));
  }

  // The dot nearest to the middle: the middle itself may be outside of the patch.
  function innermost(own, x, y) {
    const far = ([a, b]) => (a - x) ** 2 + (b - y) ** 2;
    const [left, top] = own.reduce((best, one) => (far(one) < far(best) ? one : best));
    return { x: left, y: top };
  }

  // Each label is drawn at the first position nearby that covers no other label and the fewest dots; without one it is omitted.
  function write(context, texts, font, taken, marks) {
    context.font = `${font} ${colour("body", "fontFamily")}`;
    context.textAlign = "center";
    context.lineWidth = 4;
    context.lineJoin = "round";
    context.strokeStyle = colour(".card.map-card", "backgroundColor");
    context.fillStyle = colour("h1", "color");
    for (const { text, x, y, around } of texts.slice(0, LABELS)) {
      const half = context.measureText(text).width / 2 + 4;
      let best = null;
      for (const [dx, dy] of around) {
        const spot = { half, x: Math.max(half, Math.min(size.width - half, x + dx)), y: Math.max(LINE, Math.min(size.height - 6, y + dy)) };
        if (taken.some((one) => Math.abs(one.x - spot.x) < one.half + half && Math.abs(one.y - spot.y) < LINE)) continue;
        spot.covers = marks.reduce((sum, [a, b]) => sum + (Math.abs(a - spot.x) < half && b < spot.y + 6 && b > spot.y - 14), 0);
        if (!best || spot.covers < best.covers) best = spot;
        if (!best.covers) break;
      }
      if (!best) continue;
      taken.push(best);
      context.strokeText(text, best.x, best.y);
      context.fillText(text, best.x, best.y);
    }
  }

  const AROUND = [[0, -10], [0, 20]];
  for (const distance of [20, 40, 64]) for (let turn = 0; turn < 8; turn += 1)
    AROUND.push([1.6 * distance * Math.cos((turn * Math.PI) / 4), 4 + distance * Math.sin((turn * Math.PI) / 4)]);

  function label(context, places, shown, titled) {
    const taken = [], every = Math.ceil(shown.length / MARKS), marks = shown.filter((_, number) => number % every === 0).map(at);
    write(context, places.map((place) => ({ ...place, around: AROUND })), "600 12px", taken, marks);
    const largest = titled ? [...shown].sort((one, other) => other[LOADS] - one[LOADS] || other[UPDATED] - one[UPDATED]) : [];
    const titles = largest.slice(0, LABELS).map((dot) => ({ dot, at: at(dot), text: dot[TITLE].slice(0, 40) }));
    write(context, titles.map(({ dot, at: [x, y], text }) => ({ text, x, y, around: [[0, -radius(dot) - 4]] })), "11px", taken, []);
    canvas.dataset.labels = JSON.stringify(taken.map(({ x, y, half }) => [x, y, half].map(Math.round)));
  }

  function paint(context, { labelled, titled }) {
    const shown = dots.filter(isShown);
    context.clearRect(0, 0, size.width, size.height);
    const places = patches(context, shown);
    const paths = new Map();
    for (const dot of shown) {
      const [x, y] = at(dot), r = radius(dot), key = dot[FAMILY] * FADES + fade(dot);
      if (x < -9 || y < -9 || x > size.width + 9 || y > size.height + 9) continue;
      if (!paths.has(key)) paths.set(key, new Path2D());
      const path = paths.get(key);
      path.moveTo(x + r, y);
      path.arc(x, y, r, 0, 7);
    }
    for (const [key, path] of paths) {
      context.fillStyle = colour(`[data-family="${families[Math.floor(key / FADES)]}"]`, "backgroundColor");
      context.globalAlpha = 1 - 0.2 * (key % FADES);
      context.fill(path);
    }
    context.globalAlpha = 1;
    if (labelled) label(context, places, shown, titled);
    return shown.length;
  }

  function draw() {
    drawn = 0;
    const context = canvas.getContext("2d"), ratio = devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const count = paint(context, { labelled: true, titled: false });
    if (hovered && isShown(hovered)) {
      const [x, y] = at(hovered);
      context.strokeStyle = colour("h1", "color");
      context.lineWidth = 1.5;
      context.beginPath();
      context.arc(x, y, radius(hovered) + 2.5, 0, 7);
      context.stroke();
    }
    canvas.dataset.shown = count;
    canvas.dataset.view = [view.scale, view.x, view.y].join(" ");
  }

  function request() {
    if (!drawn) drawn = requestAnimationFrame(draw);
  }

  const CELLS = 100;
  const cell = (x, y) => Math.floor(x * CELLS) * 1000 + Math.floor(y * CELLS);

  function index() {
    grid = new Map();
    for (const dot of dots) {
      const key = cell(dot[X], dot[Y]);
      if (!grid.has(key)) grid.set(key, []);
      grid.get(key).push(dot);
    }
  }

  function nearest(left, top) {
    const x = (left - view.x) / view.scale, y = (top - view.y) / view.scale;
    const reach = Math.ceil((14 / view.scale) * CELLS);
    let best = null, closest = 8;
    for (let i = -reach; i <= reach; i += 1)
      for (let j = -reach; j <= reach; j += 1)
        for (const dot of grid.get(cell(x + i / CELLS, y + j / CELLS)) || []) {
          if (!isShown(dot)) continue;
          const [a, b] = at(dot), distance = Math.hypot(a - left, b - top) - radius(dot);
          if (distance < closest) { best = dot; closest = distance; }
        }
    return best;
  }

  function hover(event) {
    const box = canvas.getBoundingClientRect();
    const found = nearest(event.clientX - box.left, event.clientY - box.top);
    if (found === hovered) return;
    hovered = found;
    canvas.classList.toggle("over", Boolean(found));
    name.hidden = !found;
    if (found) {
      const [x, y] = at(found), loads = found[LOADS];
      const count = loads ? ` · ${loads} load${loads === 1 ? "" : "s"}` : "";
      name.textContent = `${found[TITLE]} · ${workspaces[found[WORKSPACE]]}${count}`;
      name.classList.toggle("left", x > size.width / 2);
      name.style.left = `${x}px`;
      name.style.top = `${y}px`;
    }
    request();
  }

  function zoom(factor, x = size.width / 2, y = size.height / 2) {
    const scale = Math.max(40, Math.min(view.scale * factor, 60000)), by = scale / view.scale;
    view = { scale, x: x - (x - view.x) * by, y: y - (y - view.y) * by };
    request();
  }

  const pointers = new Map();
  let moved = false;
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    moved = false;
    if (event.pointerType === "mouse") canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) { if (event.pointerType === "mouse") hover(event); return; }
    if (pointers.size === 2) {
      const [other] = [...pointers.values()].filter((one) => one.pointerId !== event.pointerId);
      const length = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      const box = canvas.getBoundingClientRect();
      const middle = [(event.clientX + other.clientX) / 2 - box.left, (event.clientY + other.clientY) / 2 - box.top];
      zoom(length(event) / Math.max(1, length(before)), ...middle);
      moved = true;
    } else if (event.pointerType === "mouse") {
      const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
      if (!moved && Math.hypot(dx, dy) < 4) return;
      moved = true;
      view = { ...view, x: view.x + dx, y: view.y + dy };
      request();
    }
    pointers.set(event.pointerId, event);
  });
  for (const ending of ["pointerup", "pointercancel"]) canvas.addEventListener(ending, (event) => pointers.delete(event.pointerId));
  canvas.addEventListener("pointerleave", () => { hovered = null; name.hidden = true; request(); });
  canvas.addEventListener("click", (event) => {
    if (moved) return;
    hover(event);
    if (hovered) location.assign(base + hovered[PATH]);
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 200), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  for (const button of card.querySelectorAll("[data-zoom]"))
    button.addEventListener("click", () => {
      if (button.dataset.zoom === "fit") fit();
      else zoom(button.dataset.zoom === "in" ? 1.5 : 1 / 1.5);
    });

  function week() {
    const first = Number(slider.dataset.first), last = Number(slider.value) === Number(slider.max);
    until = last ? Infinity : first + (Number(slider.value) + 1) * WEEK_S;
    date.textContent = last ? "now" : new Date(until * 1000).toLocaleDateString(undefined, { dateStyle: "medium" });
    slider.setAttribute("aria-valuetext", date.textContent);
    request();
  }
  slider.addEventListener("input", week);
  const play = document.getElementById("map-play");
  play.addEventListener("click", () => {
    clearInterval(playing);
    slider.value = 0;
    week();
    playing = setInterval(() => {
      slider.value = Number(slider.value) + 1;
      week();
      if (Number(slider.value) >= Number(slider.max)) clearInterval(playing);
    }, Math.max(60, Math.min(400, 6000 / (Number(slider.max) + 1))));
  });

  document.getElementById("map-png").addEventListener("click", () => {
    const picture = document.createElement("canvas"), ratio = 2;
    picture.width = size.width * ratio;
    picture.height = size.height * ratio;
    const context = picture.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const titled = document.getElementById("map-titles").checked;
    paint(context, { labelled: titled, titled });
    context.globalCompositeOperation = "destination-over";
    context.fillStyle = colour(".card.map-card", "backgroundColor");
    context.fillRect(0, 0, size.width, size.height);
    picture.toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = "moss-map.png";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
  });

  function take(found) {
    const only = card.dataset.workspace;
    workspaces = found.workspaces;
    dots = found.dots.filter((dot) => !only || workspaces[dot[WORKSPACE]] === only);
    measure();
    index();
    const how = found.placed_by === "meaning" ? "placed by meaning" : "placed by workspace and tag; with search by meaning they are placed by meaning";
    status.textContent = dots.length ? `${dots.length.toLocaleString()} dots, ${how}.` : "Nothing is stored yet.";
    const first = dots.reduce((least, dot) => Math.min(least, dot[CREATED]), now);
    slider.dataset.first = first;
    slider.max = Math.max(0, Math.ceil((now - first) / WEEK_S) - 1);
    slider.value = slider.max;
    canvas.dataset.state = "ready";
    canvas.dataset.dots = dots.length;
    week();
    resize();
  }

  function measure() {
    const [xs, ys] = [X, Y].map((axis) => dots.map((dot) => dot[axis]));
    const left = Math.min(...xs), top = Math.min(...ys);
    const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - top].map((side) => Math.max(side, 0.05));
    bounds = dots.length ? { left, top, width, height } : { left: 0, top: 0, width: 1, height: 1 };
    least = dots.length < 300 ? 4 : dots.length < 3000 ? 3 : 2.4;
  }

  async function load() {
    try {
      const answer = await fetch(`${base}/map/data`);
      const found = await answer.json();
      if (found.ready) { take(found); return; }
      setTimeout(load, 1000);
    } catch { status.textContent = "The map could not be loaded."; }
  }
  addEventListener("resize", resize);
  dark.addEventListener("change", request);
  resize();
  load();
})();
