// The graph of a branch as SVG: laid out by dagre, drawn with classes and attributes only, panned, zoomed and filtered.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 196, PAD = 12, LINE = 16, MOST_LINES = 3, READABLE = 0.75, FARTHEST = 0.05, LARGEST = 2.5, MARGIN = 24, GAP = 18;
  const SIGNS = { added: "+", changed: "~", removed: "\u2212", elsewhere: "\u2212" };
  const KNOWN = ["question", "hypothesis", "evidence", "decision", "test", "update", "frame", "note", "task"];

  function made(name, attributes, parent, text) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent?.append(element);
    return element;
  }

  const pen = document.createElement("canvas").getContext("2d");
  function lines(text, room, size = 12, most = MOST_LINES) {
    pen.font = `560 ${size}px ${getComputedStyle(document.body).fontFamily}`;
    const fits = (part) => pen.measureText(part).width <= room;
    const found = [];
    let line = "";
    for (let word of text.split(/\s+/)) {
      while (!fits(word) && word.length > 1) {
        let cut = word.length - 1;
        while (cut > 1 && !fits(word.slice(0, cut))) cut--;
        if (line) found.push(line);
        found.push(word.slice(0, cut));
        line = "";
        word = word.slice(cut);
      }
      const longer = line ? `${line} ${word}` : word;
      if (fits(longer)) line = longer;
      else {
        found.push(line);
        line = word;
      }
    }
    if (line) found.push(line);
    if (found.length > most) {
      found.length = most;
      let last = found[most - 1];
      while (last && !fits(`${last}\u2026`)) last = last.slice(0, -1);
      found[most - 1] = `${last}\u2026`;
    }
    return found;
  }

  // A curve through dagre's points: straight at the ends, rounded where it bends.
  function curve(points) {
    let path = `M${points[0].x},${points[0].y}`;
    for (let place = 1; place < points.length - 1; place++) {
      const here = points[place], next = points[place + 1];
      const end = place === points.length - 2 ? next : { x: (here.x + next.x) / 2, y: (here.y + next.y) / 2 };
      path += `Q${here.x},${here.y} ${end.x},${end.y}`;
    }
    if (points.length === 2) path += `L${points[1].x},${points[1].y}`;
    return path;
  }

  // The position of a card without a link has no meaning: such cards are in rows below the others, as wide as the canvas.
  function inRows(cards, { width, height }, seen) {
    const most = Math.max(Math.floor((Math.max(width, seen) - 2 * MARGIN + GAP) / (WIDTH + GAP)), 1);
    let top = height ? height - MARGIN + 2 * GAP : MARGIN;
    for (let at = 0; at < cards.length; at += most) {
      const row = cards.slice(at, at + most);
      const tallest = Math.max(...row.map((card) => card.height));
      row.forEach((card, place) => {
        card.x = MARGIN + WIDTH / 2 + place * (WIDTH + GAP);
        card.y = top + card.height / 2;
      });
      top += tallest + GAP;
    }
    const wide = 2 * MARGIN + Math.min(most, cards.length) * (WIDTH + GAP) - GAP;
    return cards.length ? { width: Math.max(width, wide), height: top - GAP + MARGIN } : { width, height };
  }

  class Picture {
    constructor(root) {
      this.root = root;
      this.canvas = root.querySelector("[data-canvas]");
      this.data = JSON.parse(root.querySelector("[data-nodes]").textContent);
      this.types = new Set();
      this.status = "";
      this.listen();
      this.draw();
      this.fit();
      if (this.data.chosen) this.choose(this.data.chosen, true);
    }

    shown() {
      const { nodes, edges } = this.data;
      const kept = nodes.filter((node) => (!this.types.size || this.types.has(node.type)) && (!this.status || node.status === this.status));
      const ids = new Set(kept.map((node) => node.id));
      return { nodes: kept, edges: edges.filter((edge) => ids.has(edge.from) && ids.has(edge.to)) };
    }

    // Lay the graph out in both directions and take the one with the larger picture.
    laidOut() {
      const { width, height } = this.canvas.getBoundingClientRect();
      const upwards = this.layout("BT");
      const seen = ({ size }) => Math.min(width / size.width, height / size.height);
      if (seen(upwards) >= READABLE || upwards.cards.length > 80) return upwards;
      const sideways = this.layout("RL");
      return seen(sideways) > seen(upwards) ? sideways : upwards;
    }

    layout(rankdir) {
      const { nodes, edges } = this.shown();
      const graph = new dagre.graphlib.Graph({ multigraph: true });
      graph.setGraph({ rankdir, nodesep: GAP, ranksep: 56, marginx: MARGIN, marginy: MARGIN });
      graph.setDefaultEdgeLabel(() => ({}));
      const linked = new Set(edges.filter((edge) => edge.from !== edge.to).flatMap((edge) => [edge.from, edge.to]));
      const alone = [];
      nodes.forEach((node, place) => {
        const text = lines(node.title, WIDTH - 2 * PAD);
        const card = { node, text, width: WIDTH, height: 36 + text.length * LINE };
        if (linked.has(node.id)) graph.setNode(`n${place}`, card);
        else alone.push(card);
      });
      const place = new Map(nodes.map((node, at) => [node.id, `n${at}`]));
      edges.forEach((edge, at) => {
        const start = place.get(edge.from), end = place.get(edge.to);
        if (start !== end) graph.setEdge(start, end, { edge, width: 10, height: 12, labelpos: "c" }, `e${at}`);
      });
      if (linked.size) dagre.layout(graph);
      const links = graph.edges().map((key) => graph.edge(key));
      const cards = [...graph.nodes().map((key) => graph.node(key)), ...alone];
      return { links, cards, size: inRows(alone, linked.size ? graph.graph() : { width: 0, height: 0 }, this.canvas.clientWidth) };
    }

    draw() {
      const { links, cards, size } = this.laidOut();
      this.size = { width: Math.max(size.width, WIDTH), height: Math.max(size.height, 60) };
      this.svg = made("svg", { tabindex: "0", role: "group", "aria-label": "Graph: arrow keys move it, plus and minus zoom" });
      this.letters = 0;
      this.world = made("g", {}, this.svg);
      this.places = new Map();
      for (const link of links) this.drawEdge(link);
      for (const card of cards) this.drawNode(card);
      this.canvas.replaceChildren(this.svg);
    }

    drawEdge({ edge, points, x, y }) {
      const group = made("g", { class: `g-edge ${edge.mark}` }, this.world);
      made("path", { d: curve(points) }, group);
      const end = points[points.length - 1], before = points[points.length - 2];
      const turn = (Math.atan2(end.y - before.y, end.x - before.x) * 180) / Math.PI;
      made("path", { class: "head", d: "M0,0L-7,-3.6L-7,3.6Z", transform: `translate(${end.x},${end.y}) rotate(${turn})` }, group);
      if (edge.rel) made("text", { x, y: y + 4, "text-anchor": "middle" }, group, edge.rel.length > 24 ? `${edge.rel.slice(0, 23)}\u2026` : edge.rel);
    }

    drawNode({ node, text, x, y, width, height }) {
      const left = x - width / 2, top = y - height / 2;
      const known = KNOWN.includes(node.type) ? node.type : "";
      const label = [node.type, node.status, node.mark].filter(Boolean).join(", ");
      const group = made("g", {
        class: `g-node ${known} ${node.mark} ${node.status === "rejected" ? "rejected" : ""}`,
        transform: `translate(${left},${top})`, tabindex: "0", role: "button", "aria-label": `${label}: ${node.title}`,
      }, this.world);
      made("rect", { class: "ground", width, height, rx: 7 }, group);
      made("rect", { class: "square", x: PAD, y: 10, width: 8, height: 8, rx: 2 }, group);
      const type = node.type.length > 14 ? `${node.type.slice(0, 13)}\u2026` : node.type;
      made("text", { class: "small", x: PAD + 13, y: 18 }, group, type);
      if (node.status) made("text", { class: "small", x: width - PAD, y: 18, "text-anchor": "end" }, group, node.status.length > 14 ? `${node.status.slice(0, 13)}\u2026` : node.status);
      const title = made("g", {}, group);
      text.forEach((line, at) => made("text", { class: "title", x: PAD, y: 37 + at * LINE, "font-size": 12 }, title, line));
      if (node.mark) {
        const badge = made("g", { class: "g-badge", transform: `translate(${width - 12},-7)` }, group);
        made("rect", { width: 17, height: 17, rx: 4 }, badge);
        made("text", { x: 8.5, y: 12.5, "text-anchor": "middle" }, badge, SIGNS[node.mark]);
      }
      const chosen = () => {
        this.choose(node.id, false);
        this.open(node.id);
      };
      group.addEventListener("click", chosen);
      group.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          chosen();
        }
      });
      group.addEventListener("focus", () => this.keepInView(x, y));
      this.places.set(node.id, { group, x, y, node, text, title, height });
    }

    // If letters would be smaller than nine pixels, only titles are shown, as large as the card allows.
    retitle() {
      const size = this.scale < READABLE ? Math.min(Math.ceil(9 / this.scale), 22) : 12;
      if (size === this.letters) return;
      this.letters = size;
      this.svg.classList.toggle("far", size > 12);
      for (const place of this.places.values()) {
        const far = size > 12;
        const most = Math.max(Math.floor((place.height - 8) / (size * 1.2)), 1);
        const text = far ? lines(place.node.title, WIDTH - PAD, size, most) : place.text;
        place.title.replaceChildren();
        text.forEach((line, at) => {
          const y = far ? (place.height - text.length * size * 1.2) / 2 + size + at * size * 1.2 : 37 + at * LINE;
          made("text", { class: "title", x: far ? PAD / 2 : PAD, y, "font-size": size }, place.title, line);
        });
      }
    }

    // The visible part: the scale, and the point of the picture at the middle of the canvas, which stays inside the picture.
    move() {
      this.x = Math.min(Math.max(this.x, 0), this.size.width);
      this.y = Math.min(Math.max(this.y, 0), this.size.height);
      this.retitle();
      const { width, height } = this.canvas.getBoundingClientRect();
      this.world.setAttribute("transform", `translate(${width / 2 - this.x * this.scale},${height / 2 - this.y * this.scale}) scale(${this.scale})`);
    }

    fit() {
      const { width, height } = this.canvas.getBoundingClientRect();
      this.scale = Math.max(Math.min(width / this.size.width, height / this.size.height, 1), FARTHEST);
      this.x = this.size.width / 2;
      this.y = Math.min(this.size.height / 2, height / 2 / this.scale);
      this.move();
    }

    zoom(factor) {
      this.scale = Math.min(Math.max(this.scale * factor, FARTHEST), LARGEST);
      this.move();
    }

    keepInView(x, y) {
      const { width, height } = this.canvas.getBoundingClientRect();
      if (Math.abs(x - this.x) * this.scale > width / 2 - 60 || Math.abs(y - this.y) * this.scale > height / 2 - 40) {
        this.x = x;
        this.y = y;
        this.move();
      }
    }

    choose(id, centre) {
      for (const place of this.places.values()) place.group.classList.toggle("chosen", place.node.id === id);
      const place = this.places.get(id);
      if (place && centre) this.keepInView(place.x, place.y);
      for (const button of this.root.querySelectorAll("[data-node]")) {
        const own = button.dataset.node === id;
        button.toggleAttribute("aria-current", own);
        if (own && !centre) button.scrollIntoView({ block: "nearest" });
      }
    }

    // Show the full text of a node instead of the list; the address of the link shows it as a page.
    async open(id) {
      const drawer = this.root.querySelector("[data-drawer]");
      const own = [...this.root.querySelectorAll("a[data-node]")].find((one) => one.dataset.node === id);
      const address = own ? own.href : `${this.root.dataset.page}&id=${encodeURIComponent(id)}`;
      const answer = await fetch(address);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.getElementById("node") || page.querySelector("main");
      drawer.querySelector("[data-open]").href = address;
      drawer.querySelector("[data-text]").replaceChildren(document.importNode(found, true));
      drawer.hidden = false;
      document.dispatchEvent(new Event("moss:shown"));
    }

    // Restore the view and the filters.
    again(keep) {
      this.letters = 0;
      const { x, y, scale } = this;
      this.draw();
      if (keep) {
        Object.assign(this, { x, y, scale });
        this.move();
        for (const chip of this.root.querySelectorAll("[data-type]")) chip.setAttribute("aria-pressed", String(this.types.has(chip.dataset.type)));
        const status = this.root.querySelector("[data-status]");
        if (status) status.value = this.status;
      } else this.fit();
    }

    listen() {
      this.root.addEventListener("click", (event) => {
        const button = event.target.closest("button, a[data-node]");
        if (!button || event.ctrlKey || event.metaKey || event.shiftKey) return;
        if (button.dataset.zoom === "fit") this.fit();
        else if (button.dataset.zoom) this.zoom(button.dataset.zoom === "in" ? 1.25 : 0.8);
        else if (button.dataset.close !== undefined) this.root.querySelector("[data-drawer]").hidden = true;
        else if (button.dataset.node) {
          event.preventDefault();
          this.choose(button.dataset.node, true);
          this.open(button.dataset.node);
        }
        else if (button.dataset.type !== undefined) {
          const on = button.getAttribute("aria-pressed") !== "true";
          button.setAttribute("aria-pressed", String(on));
          if (on) this.types.add(button.dataset.type);
          else this.types.delete(button.dataset.type);
          this.again();
        }
      });
      this.root.querySelector("[data-status]")?.addEventListener("change", (event) => {
        this.status = event.target.value;
        this.again();
      });
      this.canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey) return; // the wheel scrolls the page
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 1.1 : 0.9);
      }, { passive: false });
      this.canvas.addEventListener("touchmove", (event) => this.pinch(event), { passive: false });
      this.canvas.addEventListener("touchend", () => (this.fingers = null));
      this.canvas.addEventListener("keydown", (event) => this.key(event));
      this.canvas.addEventListener("pointerdown", (event) => this.drag(event));
      new ResizeObserver(() => this.world && this.scale && this.move()).observe(this.canvas);
    }

    pan(x, y) {
      this.x += x / this.scale;
      this.y += y / this.scale;
      this.move();
    }

    key(event) {
      const steps = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] };
      if (steps[event.key]) this.pan(...steps[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1.25);
      else if (event.key === "-") this.zoom(0.8);
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
    }

    // Two fingers zoom and move the picture, one finger scrolls the page.
    pinch(event) {
      if (event.touches.length !== 2) return;
      event.preventDefault();
      const [one, two] = event.touches;
      const now = { x: (one.clientX + two.clientX) / 2, y: (one.clientY + two.clientY) / 2, apart: Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY) };
      if (this.fingers) {
        this.pan(this.fingers.x - now.x, this.fingers.y - now.y);
        if (this.fingers.apart) this.zoom(now.apart / this.fingers.apart);
      }
      this.fingers = now;
    }

    drag(event) {
      if (event.button || event.pointerType === "touch") return;
      let { clientX, clientY } = event;
      const move = (next) => {
        this.pan(clientX - next.clientX, clientY - next.clientY);
        ({ clientX, clientY } = next);
      };
      const end = () => {
        removeEventListener("pointermove", move);
        removeEventListener("pointerup", end);
        removeEventListener("pointercancel", end);
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", end);
      addEventListener("pointercancel", end);
    }
  }

  let picture = null;
  let shownText = "";
  function show() {
    const root = document.querySelector("[data-graph]");
    const text = root?.querySelector("[data-nodes]").textContent;
    if (!root || (picture?.root === root && text === shownText)) return;
    shownText = text;
    if (picture?.root === root) {
      picture.data = JSON.parse(text);
      picture.again(true);
    } else picture = new Picture(root);
  }
  show();
  document.addEventListener("htmx:after:swap", show);
})();
