// An exploration: fronts, what decides, parallel coordinates, correlations, transfer, points.
byId("main").insertAdjacentHTML("beforeend", `<style>
.dot.off { fill-opacity: .1; } .path { fill: none; stroke: var(--dot); stroke-opacity: .5; }
.path.front { stroke: var(--front); stroke-opacity: .9; stroke-width: 1.6; } .path.off { stroke-opacity: .05; }
.range.off { stroke-opacity: .1; } .brush { fill: var(--front); fill-opacity: .15; stroke: var(--front); }
.hit { fill: transparent; cursor: crosshair; } svg text { paint-order: stroke; stroke: var(--card); stroke-width: 3px; stroke-linejoin: round; }
#transfer th { white-space: normal; vertical-align: bottom; } table { width: 100%; }
.two svg { min-width: 27rem; }
</style>
<section><h2>In short</h2><ul id="short"></ul></section>
<nav><label>workload <select id="workload"></select></label>
<label>across <select id="x"></select></label><label>up <select id="y"></select></label></nav>
<div class="two">
<section><h2>Every point, and the front</h2><div id="scatter" class="wide" tabindex="0"></div>
<p class="note" id="volume"></p><p class="note" id="unknown"></p></section>
<section><h2 id="effects-title"></h2><div id="effects" class="wide" tabindex="0"></div>
<p class="note">Shares of the variance over the space: functional ANOVA of a forest. What is missing to 100&#8239;%
needs more than two parameters at once, or is noise.</p></section>
</div>
<section><h2>Parallel coordinates</h2><div id="parallel" class="wide" tabindex="0"></div>
<p class="note">Drag along an axis to keep what passes there, in all charts; click it to let go. By keyboard: arrow up and down keep a
quarter of the axis, Escape lets go.</p></section>
<div class="two">
<section><h2>Spearman's correlations</h2><div id="heat" class="wide" tabindex="0"></div>
<p class="note" id="coding"></p></section>
<section><h2>Does the best carry over?</h2><div id="transfer" class="wide" tabindex="0"></div></section>
</div>
<section><h2>Points</h2><div id="points"></div></section>`);
const kept = {}; // axis -> [from, to], in the axis's own scale 0..1
const objective = name => data.objectives.find(o => o.name === name);
const trials = () => data.trials.filter(t => t.workload === byId("workload").value);
const pointText = t => Object.entries(t.point).map(([k, v]) => `${k}=${v}`).join(" ");
function tipOf(t) {
  return [pointText(t), ...data.objectives.map(o => `${o.name}: ${withRange(t, o)}`),
    t.failure || ""].join("\n").trim();
}

const HALF = 1.96; // half a 95 % interval, in standard errors
const errorOf = (t, key) => objective(key) && t.errors[key] > 0 ? HALF * t.errors[key] : 0;
function withRange(t, o) {
  const range = errorOf(t, o.name), v = t.values[o.name];
  return shown(v, o.unit) + (range ? ` \u00b1 ${(100 * Math.abs(range / v)).toFixed(1)} %` : "");
}

// Whole numbers from lo to hi, both among them: all of a few, otherwise five.
function wholeTicks(lo, hi, at) {
  const n = hi - lo <= 7 ? hi - lo : 4, all = new Set();
  for (let i = 0; i <= n; i++) all.add(n < hi - lo ? Math.round(at(i / n)) : lo + i);
  return [...all];
}

// Where a trial lies on an axis, 0..1; null: nowhere.
function axisOf(key) {
  const p = data.parameters.find(q => q.name === key), o = objective(key);
  if (p && p.values) return { key, at: t => key in t.point ?
      (p.values.length < 2 ? .5 : p.values.indexOf(t.point[key]) / (p.values.length - 1)) : null,
    ticks: p.values.map((v, i) => [p.values.length < 2 ? .5 : i / (p.values.length - 1), v]) };
  const value = p ? t => t.point[key] : t => t.values[key];
  const all = trials().map(value).filter(v => v !== null && v !== undefined);
  let lo = Math.min(...all), hi = Math.max(...all);
  if (!all.length) return { key, place: () => 0, at: () => null, ticks: [] };
  if (o) for (const t of trials()) {
    const v = value(t), range = errorOf(t, key);
    if (v === null || !range) continue;
    lo = Math.min(lo, v - range > 0 || lo <= 0 ? v - range : lo);
    hi = Math.max(hi, v + range);
  }
  const whole = p && p.type === "integer";
  if (lo === hi && o) // one value: a byte more or less says nothing
    return { key, place: () => .5, at: t => value(t) === null || value(t) === undefined ? null : .5, ticks: [[.5, shown(lo, o.unit, 3)]] };
  if (lo === hi) [lo, hi] = [lo - 1, hi + 1];
  const log = p ? p.log : lo > 0 && hi / lo > 20;
  const f = log ? Math.log : v => v;
  const back = log ? Math.exp : v => v;
  const place = v => (f(v) - f(lo)) / (f(hi) - f(lo));
  if (whole) return { key, place, at: t => key in t.point ? place(t.point[key]) : null,
    ticks: wholeTicks(lo, hi, q => back(f(lo) + q * (f(hi) - f(lo)))).map(v => [place(v), String(v)]) };
  const round = axis(lo, hi, 0, 1, log, o && o.unit), digits = Math.max(4, digitsOf(round));
  const text = v => o ? shown(v, o.unit, digits) : String(Number(v.toPrecision(digits)));
  return { key, place: v => log && v <= 0 ? 0 : Math.max(0, place(v)), at: t => { const v = value(t);
      return v === null || v === undefined ? null : (f(v) - f(lo)) / (f(hi) - f(lo)); },
    ticks: round.ticks.map(v => [place(v), text(v)]) };
}
function isKept(t) {
  return Object.entries(kept).every(([key, [a, b]]) => {
    const s = axisOf(key).at(t);
    return s !== null && s >= a - 1e-9 && s <= b + 1e-9;
  });
}
const cls = (name, t) => `${name}${t.front ? " front" : ""}${isKept(t) ? "" : " off"}`;

function drawScatter() {
  const w = Math.max(300, Math.min(560, byId("scatter").clientWidth || 560)), h = 380, l = 70, b = 40, x = axisOf(byId("x").value), y = axisOf(byId("y").value);
  const s = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": "every point and the front", style: "min-width: 0" });
  const px = v => l + v * (w - l - 36), py = v => h - b - v * (h - b - 26);
  for (const [v, text] of x.ticks.filter((_, i) => i % (w < 450 && x.ticks.length > 4 ? 2 : 1) === 0)) {
    s.append(svg("line", { x1: px(v), x2: px(v), y1: py(0), y2: py(1), class: "grid" }),
      svg("text", { x: px(v), y: h - b + 16, "text-anchor": "middle", class: "faint" }, text));
  }
  for (const [v, text] of y.ticks)
    s.append(svg("line", { x1: px(0), x2: px(1), y1: py(v), y2: py(v), class: "grid" }),
      svg("text", { x: l - 6, y: py(v) + 4, "text-anchor": "end", class: "faint" }, text));
  s.append(svg("text", { x: w - 36, y: h - 6, "text-anchor": "end" }, x.key),
    svg("text", { x: 4, y: 12 }, y.key));
  const all = trials().filter(t => x.at(t) !== null && y.at(t) !== null);
  all.sort((p, q) => p.front - q.front);
  for (const t of all) {
    const rx = errorOf(t, x.key), ry = errorOf(t, y.key), vx = t.values[x.key], vy = t.values[y.key];
    if (rx) s.append(svg("line", { x1: px(x.place(vx - rx)), x2: px(x.place(vx + rx)), y1: py(y.at(t)),
      y2: py(y.at(t)), class: cls("range", t) }));
    if (ry) s.append(svg("line", { y1: py(y.place(vy - ry)), y2: py(y.place(vy + ry)), x1: px(x.at(t)),
      x2: px(x.at(t)), class: cls("range", t) }));
  }
  for (const t of all)
    s.append(tip(svg("circle", { cx: px(x.at(t)), cy: py(y.at(t)), r: t.front ? 4.5 : 3.2,
      class: cls("dot", t) }), tipOf(t)));
  byId("scatter").replaceChildren(s);
  const f = data.fronts.find(v => v.workload === byId("workload").value);
  byId("volume").textContent = "Orange: the Pareto front." + (f && f.hypervolume !== null ?
    ` Hypervolume ${f.hypervolume.toFixed(3)} of the box between the best and the worst of every objective.` : "");
  if (data.trials.some(t => [x.key, y.key].some(k => errorOf(t, k))))
    byId("volume").textContent += " Lines: 95 % intervals.";
  byId("unknown").textContent = data.unknown.filter(u => u.workload === byId("workload").value).map(u =>
    u.known ? `Not compared, because ${u.objective} is not known: ${u.points} points, ${u.which}.` :
    `${u.objective} is known of no point: the front is of the other objectives.`).join(" ");
}

function drawEffects() {
  const name = byId("y").value in (data.trials[0] || { values: {} }).values ? byId("y").value :
    data.objectives[0].name;
  const a = data.aspects.find(v => v.workload === byId("workload").value && v.objective === name);
  byId("effects-title").textContent = `What decides ${name}`;
  if (!a || !a.influence) {
    byId("effects").replaceChildren(html("p", "Too few points, or all alike.", "note"));
    return;
  }
  const rows = [...Object.entries(a.influence.main).map(([k, v]) => [k, v]),
    ...a.influence.pairs.map(p => [`${p.a} with ${p.b}`, p.share])]
    .filter(r => r[1] >= .005).sort((p, q) => q[1] - p[1]).slice(0, 12);
  const w = 560, step = 26, s = svg("svg", { viewBox: `0 0 ${w} ${rows.length * step}`, role: "img", "aria-label": "what decides the objective" });
  rows.forEach(([text, v], i) => s.append(
    svg("text", { x: 200, y: i * step + 17, "text-anchor": "end" }, text),
    svg("rect", { x: 208, y: i * step + 4, width: Math.max(1, v * 280), height: step - 8, rx: 3,
      class: a.influence.r2 > 0 ? "bar" : "bar weak" }),
    svg("text", { x: 214 + v * 280, y: i * step + 17, class: "faint" }, `${(100 * v).toFixed(1)} %`)));
  byId("effects").replaceChildren(s, html("p",
    `R2 of the forest ${(a.influence.r2 ?? NaN).toFixed(2)}, out of fold` +
    (a.influence.r2 > 0 ? "." : ": worse than the mean, do not rely on it."), "note"));
}

function drawParallel() {
  const keys = [...data.parameters.map(p => p.name), ...data.objectives.map(o => o.name)];
  const step = 130, h = 320, top = 34, bottom = 24, w = 60 + step * keys.length;
  const s = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "group", "aria-label": "parallel coordinates", style: `min-width:${w * .8}px; max-width:${w * 1.3}px` });
  const axes = keys.map(axisOf), px = i => 50 + i * step, py = v => h - bottom - v * (h - top - bottom);
  const all = trials().filter(t => !t.failure);
  all.sort((p, q) => p.front - q.front);
  for (const t of all) {
    let d = "";
    axes.forEach((a, i) => {
      const v = a.at(t);
      if (v !== null) d += `${d ? "L" : "M"}${px(i)} ${py(v)}`;
    });
    s.append(tip(svg("path", { d, class: cls("path", t) }), tipOf(t)));
  }
  axes.forEach((a, i) => {
    s.append(svg("line", { x1: px(i), x2: px(i), y1: py(0), y2: py(1), class: "axis" }),
      svg("text", { x: px(i), y: 16, "text-anchor": "middle" }, a.key));
    const each = Math.ceil(12 * a.ticks.length / (h - top - bottom)); // of many values every second, third, ...
    a.ticks.filter((_, k) => k % each === 0).forEach(([v, text]) =>
      s.append(svg("text", { x: px(i) + 5, y: py(v) + 4, class: "faint" }, text)));
    if (kept[a.key]) {
      const [from, to] = kept[a.key];
      s.append(svg("rect", { x: px(i) - 8, width: 16, y: py(to) - 4,
        height: py(from) - py(to) + 8, class: "brush" }));
    }
    const hit = svg("rect", { x: px(i) - 14, width: 28, y: top - 10, height: h - top - bottom + 20, class: "hit", tabindex: 0, role: "button",
      "aria-label": `keep a part of ${a.key}: arrow up and down choose a quarter, Escape lets go` });
    let from = null;
    const scale = event => {
      const box = s.getBoundingClientRect(), y = (event.clientY - box.top) * h / box.height;
      return Math.min(1, Math.max(0, (h - bottom - y) / (h - top - bottom)));
    };
    hit.addEventListener("pointerdown", e => { from = scale(e); hit.setPointerCapture(e.pointerId); });
    hit.addEventListener("pointerup", e => {
      const to = scale(e);
      if (from === null) return;
      if (Math.abs(to - from) < .02) delete kept[a.key];
      else kept[a.key] = [Math.min(from, to), Math.max(from, to)];
      drawAll();
    });
    hit.addEventListener("keydown", e => {
      const step = { ArrowUp: .25, ArrowDown: -.25 }[e.key], [low] = kept[a.key] || [step > 0 ? -.25 : 1];
      if (e.key === "Escape") delete kept[a.key];
      else if (step) kept[a.key] = [Math.min(.75, Math.max(0, low + step)), Math.min(1, Math.max(.25, low + step + .25))];
      else return;
      e.preventDefault();
      drawAll();
      byId("parallel").querySelectorAll(".hit")[i].focus();
    });
    s.append(hit);
  });
  byId("parallel").replaceChildren(s);
}

function drawHeat() {
  const all = data.correlations.filter(c => c.workload === byId("workload").value && c.spearman.r !== null);
  const rows = [...new Set(all.map(c => c.a))], columns = [...new Set(all.map(c => c.b))];
  if (!all.length) {
    byId("heat").replaceChildren(html("p", "Nothing in order that varies.", "note"));
    return;
  }
  const cell = 64, left = 130, top = 26, w = left + cell * columns.length + 10;
  const s = svg("svg", { viewBox: `0 0 ${Math.max(w, 420)} ${top + 30 * rows.length + 8}`, role: "img", "aria-label": "correlations by Spearman" });
  columns.forEach((c, i) => s.append(svg("text", { x: left + (i + .5) * cell, y: 16, "text-anchor": "middle" }, c)));
  rows.forEach((r, j) => {
    s.append(svg("text", { x: left - 8, y: top + j * 30 + 19, "text-anchor": "end" }, r));
    columns.forEach((c, i) => {
      const one = all.find(v => v.a === r && v.b === c);
      if (!one) return;
      const v = one.spearman.r;
      s.append(tip(svg("rect", { x: left + i * cell + 2, y: top + j * 30 + 2, width: cell - 4, height: 26, rx: 3,
        style: `fill: var(--${v > 0 ? "up" : "down"}); fill-opacity: ${Math.abs(v) * .8}` }),
        `${r}, ${c}\nSpearman ${v.toFixed(2)} (${one.spearman.low.toFixed(2)} to ${one.spearman.high.toFixed(2)})`),
        svg("text", { x: left + (i + .5) * cell, y: top + j * 30 + 19, "text-anchor": "middle",
          "pointer-events": "none" }, v.toFixed(2)));
    });
  });
  byId("heat").replaceChildren(s);
}
function drawCoding() {
  const categories = data.parameters.filter(p => p.type === "categorical");
  const two = categories.filter(p => p.values.length === 2).map(p => `${p.name}: ${p.values[0]} as 0, ${p.values[1]} as 1`);
  const more = categories.filter(p => p.values.length > 2).map(p => p.name);
  byId("coding").textContent = [two.length ? `Categories of two values count as numbers (${two.join("; ")}).` : "",
    more.length ? `Categories of more values have no order and are left out (${more.join(", ")}).` : "",
    data.parameters.some(p => p.type === "ordinal") ? "Ordered values count by their place." : ""].join(" ").trim();
}

function drawTransfer() {
  const name = objective(byId("y").value) ? byId("y").value : data.objectives[0].name;
  const all = data.transfers.filter(t => t.objective === name);
  if (!all.length) {
    byId("transfer").replaceChildren(html("p", "There is one workload only.", "note"));
    return;
  }
  const cost = t => t.same_point ? "the same point" : percent(t.regret) +
    (t.regret_error > 0 ? ` \u00b1 ${(100 * HALF * t.regret_error).toFixed(1)} %` : "");
  byId("transfer").replaceChildren(table(["best of", "used for", "ranks correlate",
    `worse in ${name} than its own best`, "learned from few", "with the other's"],
    all.map(t => [t.from, t.to, t.rank.r === null ? "-" : t.rank.r.toFixed(2), cost(t),
      percent(t.error_without), percent(t.error_with)])),
    html("p", `Learned from few: median error of the rest, learned from ${all[0].few} points of the workload at random; ` +
      "then with all points of the other one as well.", "note"));
}

function drawPoints() {
  const rows = trials().filter(isKept).sort((p, q) => q.front - p.front);
  byId("points").replaceChildren(sortable([{ name: "point", left: true, cls: "spec left", of: pointText },
    ...data.objectives.map(o => ({ name: o.name, of: t => t.values[o.name] ?? null, cell: t => t.failure ? "failed" : withRange(t, o) }))],
  rows, 40, "", t => t.front ? "front" : ""));
}

function drawAll() { drawScatter(); drawEffects(); drawParallel(); drawHeat(); drawTransfer(); drawPoints(); }
function fill(id, values, chosen) {
  byId(id).replaceChildren(...values.map(v => new Option(v, v)));
  byId(id).value = chosen;
  byId(id).addEventListener("change", drawAll);
}
byId("title").textContent = document.title = data.name;
byId("lead").textContent = data.predicted ?
  `${data.predicted} points predicted, none was run` +
    (data.points < data.predicted ? `; here are the front and others drawn at random, ${data.points} in all` : "") :
  `${data.points} results (points and workloads), ${data.runs} good runs, ${data.failed} failed`;
const workloads = [...new Set(data.trials.map(t => t.workload))];
const axes = [...data.objectives.map(o => o.name), ...data.parameters.map(p => p.name)];
fill("workload", workloads, workloads[0]);
byId("workload").parentElement.hidden = workloads.length < 2;
fill("x", axes, axes[1]);
fill("y", axes, axes[0]);
byId("short").replaceChildren(...data.warnings.map(v => html("li", `Warning: ${v}.`, "warning")),
  ...data.in_short.map(v => html("li", v)));
drawCoding();
drawAll();
