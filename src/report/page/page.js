"use strict";
// Pieces of every page: elements, numbers with units, tables, intervals, axes.
const byId = id => document.getElementById(id);
const data = JSON.parse(byId("data")?.textContent ?? "null"); // null: served, asked for as the reader goes
const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes, text) {
  const e = document.createElementNS(SVG, name);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (text !== undefined) e.textContent = text;
  return e;
}
function html(name, text, cls) {
  const e = document.createElement(name);
  if (text instanceof Node) e.append(text);
  else if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  return e;
}
function tip(e, text) { e.append(svg("title", {}, text)); return e; }
function picture(w, h, label) {
  return svg("svg", { viewBox: `0 0 ${w} ${h}`, width: w, height: h, role: "img", "aria-label": label });
}
function section(title, ...inside) {
  const s = html("section"), h = html("h2", title);
  s.append(h, ...inside);
  byId("main").append(s);
  return s;
}
const wide = (...inside) => { const d = html("div", undefined, "wide"); d.tabIndex = 0; d.append(...inside); return d; };
const list = (texts, cls) => { const ul = html("ul"); ul.append(...texts.map(t => html("li", t, cls))); return ul; };
const roomOf = e => Math.max(280, e.clientWidth || 700);
// What depends on the window's width is drawn again when that changes.
const drawn = [];
function drawing(host, draw) {
  const again = () => host.replaceChildren(...[draw(roomOf(host))].flat());
  drawn.push({ host, again, w: 0 });
  again();
  return again;
}
addEventListener("resize", () => { for (const d of drawn) if (d.host.clientWidth !== d.w) { d.w = d.host.clientWidth; d.again(); } });

const decimal = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "u"], [1e-9, "n"]];
const scales = { s: decimal.slice(5), J: decimal.slice(4), "J s": decimal.slice(4), W: decimal.slice(4, 7), g: decimal.slice(4), Hz: decimal,
  B: [[2 ** 40, "Ti"], [2 ** 30, "Gi"], [2 ** 20, "Mi"], [1024, "Ki"], [1, ""]],
  FLOP: decimal.slice(0, 6), "FLOP/s": decimal.slice(0, 6), "B/s": decimal.slice(0, 6), "FLOP/B": [[1, ""]], k: decimal.slice(0, 6) };
function shown(v, unit = "", digits = scales[unit] ? 3 : 4) {
  if (v === null || v === undefined || !isFinite(v)) return "-";
  if (unit === "%") return `${Number((100 * v).toPrecision(3))} %`;
  if (!unit && Number.isInteger(v)) return v.toLocaleString("en").replaceAll(",", "\u202f"); // counts are exact
  const known = scales[unit] || [[1, ""]];
  const scaled = f => Number((v / f).toPrecision(digits)); // 999.7 us is 1 ms
  const [factor, prefix] = v === 0 ? [1, ""] : known.find(([f]) => Math.abs(scaled(f)) >= 1) || known[known.length - 1];
  return `${scaled(factor)} ${prefix}${unit === "k" ? "" : unit}`.trim();
}
const percent = v => v === null || v === undefined ? "-" : `${(100 * v).toFixed(1)} %`;
// Estimates are records of value, low, high, unit and basis.
const isEstimate = e => e !== null && typeof e === "object" && "value" in e && "low" in e;
const between = e => e.low === null || e.low === undefined || e.low === e.high ? "" : `${shown(e.low, e.unit)} .. ${shown(e.high, e.unit)}`;
const estimateText = e => e.value === null ? "-" : shown(e.value, e.unit) + (between(e) ? ` (${between(e)})` : "");
// Of one scale for all: the largest, or what most of them stay below where a few are far above.
function mostOf(all) {
  const ends = all.filter(e => e && e.value !== null).map(e => e.high ?? e.value).sort((p, q) => p - q);
  const usual = ends.length > 8 ? 1.3 * ends[Math.floor(.8 * ends.length)] : 0, most = Math.max(0, ...ends);
  return usual > 0 && most > 3 * usual ? usual : most;
}

// The interval as a bar, the value as a line, from 0 to most.
function interval(e, most, w = 120) {
  const s = picture(w, 14, estimateText(e)), x = v => Math.min(1, Math.max(0, v / most)) * (w - 2);
  s.setAttribute("class", "cell");
  s.append(svg("line", { x1: 0, x2: w, y1: 7, y2: 7, class: "grid" }));
  if (e.low !== null && e.low !== undefined)
    s.append(svg("rect", { x: x(e.low), y: 3, width: Math.max(1, x(e.high) - x(e.low)), height: 8, class: "interval" }));
  s.append(svg("rect", { x: x(e.value), y: 1, width: 2, height: 12, class: "mark" }));
  return tip(s, estimateText(e));
}
function estimateCell(e, most, w) {
  if (!e || e.value === null || e.value === undefined) return html("span", "-");
  const span = html("span", shown(e.value, e.unit));
  if (most > 0 && e.low !== e.high) span.append(interval(e, most, w));
  return span;
}
function table(head, rows, classes, caption) {
  const t = html("table"), first = html("tr"), top = html("thead"), body = html("tbody");
  if (caption) t.append(html("caption", caption));
  head.forEach(h => { const th = h instanceof Node ? h : html("th", h); th.scope = "col"; first.append(th); });
  top.append(first);
  rows.forEach((r, i) => {
    const tr = html("tr", undefined, classes ? classes[i] : "");
    r.forEach(v => tr.append(v instanceof HTMLTableCellElement ? v : html("td", v)));
    body.append(tr);
  });
  t.append(top, body);
  return t;
}
// A command line, parted at its spaces alone.
function command(text) {
  const code = html("code");
  for (const w of text.split(" ")) code.append(html("span", w, "word"), " ");
  return code;
}
// A name that may take two lines: parted at the space next to its middle.
function twoLines(name) {
  const off = at => Math.abs(at - name.length / 2), [cut] = [...name.matchAll(/ /g)].map(m => m.index).sort((p, q) => off(p) - off(q));
  return cut ? [html("span", name.slice(0, cut)), " ", html("span", name.slice(cut + 1))] : [name];
}
// A table whose columns sort: columns of { name, of(row), cell(row) or text }, at most `most` rows at first; classOf(row)
// is the class of a row.
function sortable(columns, rows, most, caption, classOf = () => "") {
  const host = html("div");
  let by = null, falling = true, all = false;
  const draw = () => {
    const at = columns[by], sorted = at ? [...rows].sort((p, q) => {
      const a = at.of(p), b = at.of(q);
      return (a === null) - (b === null) || (a < b ? -1 : a > b ? 1 : 0) * (falling ? -1 : 1);
    }) : rows;
    const head = columns.map((c, i) => {
      const th = html("th", undefined, c.left ? "left" : ""), b = html("button");
      b.append(...twoLines(c.name));
      if (i === by) th.setAttribute("aria-sort", falling ? "descending" : "ascending");
      b.type = "button";
      b.addEventListener("click", () => { falling = by === i ? !falling : true; by = i; draw(); host.querySelectorAll("th button")[i].focus(); });
      th.append(b);
      return th;
    });
    const seen = all ? sorted : sorted.slice(0, most), cells = seen.map(r => columns.map(c => {
      const v = c.cell ? c.cell(r) : c.of(r);
      return html("td", v instanceof Node ? v : String(v ?? "-"), c.cls || (c.left ? "left" : ""));
    }));
    host.replaceChildren(wide(table(head, cells, seen.map(classOf), caption)));
    if (sorted.length > most && !all) {
      const b = html("button", `all ${sorted.length}`);
      b.type = "button";
      b.addEventListener("click", () => { all = true; draw(); });
      host.append(b);
    }
  };
  draw();
  return host;
}
function choose(label, values, chosen, onChange) {
  const l = html("label", `${label} `), s = html("select");
  values.forEach((v, i) => s.append(new Option(v, i)));
  s.value = chosen;
  s.addEventListener("change", () => onChange(Number(s.value)));
  l.append(s);
  return l;
}
// One of several buttons is pressed.
function buttons(label, names, chosen, onChange) {
  const group = html("div", undefined, "bars");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", label);
  names.forEach((n, i) => {
    const b = html("button", n);
    b.type = "button";
    b.setAttribute("aria-pressed", i === chosen);
    b.addEventListener("click", () => {
      [...group.children].forEach((o, k) => o.setAttribute("aria-pressed", k === i));
      onChange(i);
    });
    group.append(b);
  });
  return group;
}
function keys(entries) {
  const ul = html("ul", undefined, "keys");
  for (const [cls, text] of entries) {
    const li = html("li"), i = html("i");
    i.style.background = `var(--${cls})`;
    li.append(i, text);
    ul.append(li);
  }
  return ul;
}

// ---- axes: from values to places, with round ticks ----
function axis(lo, hi, from, to, log, unit) {
  if (!(hi > lo)) [lo, hi] = log ? [lo / 2, lo * 2] : [Math.min(0, lo), lo > 0 ? lo * 1.1 : 1];
  const f = log ? Math.log10 : v => v, a = f(lo), b = f(hi);
  const at = v => from + (f(v) - a) / (b - a) * (to - from);
  const ticks = [];
  if (log) {
    const decades = Math.floor(b + 1e-9) - Math.ceil(a - 1e-9), each = Math.max(1, Math.ceil(decades / 7));
    for (let k = decades < 2 ? Math.floor(a) : Math.ceil(a - 1e-9); k <= b + 1e-9; k += each)
      for (const m of decades < 2 ? [1, 2, 5] : [1])
        if (m * 10 ** k <= hi * 1.0001 && m * 10 ** k >= lo * .9999) ticks.push(m * 10 ** k);
  } else {
    const base = unit === "B" ? 2 : 10, p = base ** Math.floor(Math.log((b - a) / 6) / Math.log(base));
    const step = [1, 2, 5, 10].map(m => m * p).find(s => (b - a) / s <= 6);
    for (let k = Math.ceil(a / step - 1e-9); k * step <= b + step * 1e-6; k++) ticks.push(k * step + 0); // 0, not -0
  }
  return { at, ticks, lo, hi };
}
// As many digits as tell ticks from each other.
const digitsOf = ({ ticks: [a, b], hi }) => Math.max(3, b > a ? Math.ceil(Math.log10(Math.abs(hi) / (b - a)) + 1) : 0);
// Lines and numbers of two axes; x.at and y.at place within the frame.
function frame(s, x, y, box, unitX, unitY, titleX, titleY) {
  const digitsX = digitsOf(x), digitsY = digitsOf(y);
  for (const v of y.ticks)
    s.append(svg("line", { x1: box.l, x2: box.r, y1: y.at(v), y2: y.at(v), class: "grid" }),
      svg("text", { x: box.l - 6, y: y.at(v) + 4, "text-anchor": "end", class: "faint" }, shown(v, unitY, digitsY)));
  let last = -Infinity;
  for (const v of x.ticks) {
    s.append(svg("line", { x1: x.at(v), x2: x.at(v), y1: box.t, y2: box.b, class: "grid" }));
    if (x.at(v) - last < 52) continue;
    last = x.at(v);
    s.append(svg("text", { x: last, y: box.b + 16, "text-anchor": "middle", class: "faint" }, shown(v, unitX, digitsX)));
  }
  s.append(svg("text", { x: box.r, y: box.b + 32, "text-anchor": "end" }, titleX), svg("text", { x: 4, y: 12 }, titleY));
}
// Where a name fits beside its point: [x, y, anchor], clear of other names and points; undefined: nowhere.
function placeOfName(name, px, py, r, taken, box) {
  const w = 6.4 * name.length;
  for (const dy of [-6, 4, 14, -18, 26, -30, 38, -42])
    for (const right of px + r + w + 4 < box.r ? [true, false] : [false]) {
      const x = right ? px + r + 3 : px - r - 3, at = { l: right ? x : x - w, r: right ? x + w : x, t: py + dy - 11, b: py + dy + 2 };
      if (at.l < box.l || at.t < 0 || at.b > box.b + 4 || taken.some(o => o.l < at.r && at.l < o.r && o.t < at.b && at.t < o.b)) continue;
      taken.push(at);
      return [x, py + dy, right ? "start" : "end"];
    }
}
// Points { x, y (estimates), name, front; r: radius, kept: of what is compared with } with their intervals, on axes that
// are logarithmic where values span much.
function scatter(w, points, nameX, nameY) {
  const h = 340, box = { l: 74, r: w - 20, t: 24, b: h - 44 };
  const make = (k, from, to) => {
    const lo = Math.min(...points.map(p => p[k].low > 0 ? p[k].low : p[k].value)), hi = Math.max(...points.map(p => p[k].high ?? p[k].value));
    const log = lo > 0 && hi / lo > 8, unit = points[0][k].unit;
    return log ? axis(lo / 1.15, hi * 1.15, from, to, true) : axis(Math.min(0, lo), hi * 1.05, from, to, false, unit);
  };
  const x = make("x", box.l, box.r), y = make("y", box.b, box.t), radius = p => p.r || 4.5;
  const s = picture(w, h, `${nameY} against ${nameX} of ${points.length}`);
  frame(s, x, y, box, points[0].x.unit, points[0].y.unit, nameX, nameY);
  for (const p of points) {
    const px = x.at(p.x.value), py = y.at(p.y.value), cls = p.kept ? " kept" : p.front ? " front" : "";
    if (p.x.low > 0) s.append(svg("line", { x1: x.at(p.x.low), x2: x.at(p.x.high), y1: py, y2: py, class: "range" + cls }));
    if (p.y.low > 0) s.append(svg("line", { x1: px, x2: px, y1: y.at(p.y.low), y2: y.at(p.y.high), class: "range" + cls }));
    s.append(tip(svg("circle", { cx: px, cy: py, r: radius(p), class: "dot" + cls }),
      `${p.name}\n${nameX}: ${estimateText(p.x)}\n${nameY}: ${estimateText(p.y)}`));
  }
  const at = p => [x.at(p.x.value), y.at(p.y.value)];
  const taken = points.map(p => { const [px, py] = at(p), r = radius(p); return { l: px - r, r: px + r, t: py - r, b: py + r }; });
  for (const p of [...points].filter(q => !q.kept).sort((p, q) => q.front - p.front).slice(0, 24)) {
    const place = placeOfName(p.name, ...at(p), radius(p), taken, box);
    if (place) s.append(svg("text", { x: place[0], y: place[1], "text-anchor": place[2], class: "over" }, p.name));
  }
  return s;
}
// Which fit, and are not worse in both than another that fits.
function markFront(points) {
  for (const p of points)
    p.front = p.fits !== "no" && !points.some(q => q.fits !== "no" && q.x.value <= p.x.value && q.y.value <= p.y.value &&
      (q.x.value < p.x.value || q.y.value < p.y.value));
  return points;
}
