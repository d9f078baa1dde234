// One network on one device or several: the data of ft__prediction_page().
const QUANTITIES = ["time", "energy", "power", "memory"];
let answers = [], one = null, bases = [], shownAnswer = null;

function drawTop() {
  const s = section("Before the figures"), d = html("dl");
  const put = (name, value) => { if (value) d.append(html("dt", name), html("dd", value)); };
  const BASES = ["measured", "learned", "scaled", "roofline"], free = a => a.n_ops - BASES.reduce((n, k) => n + a[`n_${k}`], 0);
  const basis = a => `${a.time.basis}${a.predictor ? `, ${a.predictor}` : ""}${a.lower_bound ? ": a lower bound, not an expectation" : ""}; ` +
    `${a.n_ops} unique operations: ${BASES.filter(k => a[`n_${k}`]).map(k => `${a[`n_${k}`]} ${k}`).join(", ")}${free(a) ? ", the others take no time" : ""}`;
  const uniq = key => [...new Set(answers.flatMap(a => a[key]))];
  // Of some of several devices with their names behind it.
  const said = key => uniq(key).map(text => {
    const of = new Set(answers.filter(a => a[key].includes(text)).map(a => a.device));
    return answers.every(a => of.has(a.device)) ? text : `${text} (${[...of].join(", ")})`;
  });
  put("assumed", list(said("assumptions")));
  if (answers.length > 1) put("basis", list(answers.slice(0, 12).map(a => `${a.label}: ${basis(a)}`)));
  else put("basis", basis(one));
  put("intervals", "low .. high is a 90 % interval, drawn as a bar; the line in it is the estimate");
  if (answers.length === 1 && one.energy.value === null) put("energy", `unavailable: ${one.energy.why}`);
  put("verify", one.verify ? command(one.verify) : one.unverified.replace(/^to verify it:? /, ""));
  s.append(d);
  if (uniq("warnings").length) s.append(list(said("warnings").map(w => `Warning: ${w}`), "warning"));
  if (uniq("bounded").length) s.append(html("p", `Lower bounds, for want of a rule: ${uniq("bounded").join("; ")}`, "note"));
}

function drawCompared() {
  const most = {};
  for (const q of QUANTITIES) most[q] = mostOf(answers.map(a => a[q]));
  const fits = a => a.limit === null || a.memory.value === null ? "-" : a.memory.value <= a.limit ? "yes" : "no";
  const columns = [{ name: "device", left: true, of: a => a.label },
    ...QUANTITIES.map(q => ({ name: q, of: a => a[q].value, cell: a => estimateCell(a[q], most[q]) })),
    { name: "fits", of: fits }, { name: "basis", left: true, of: a => a.time.basis }];
  const s = section(answers.length > 1 ? "Compared" : "The answer", sortable(columns, answers, 60));
  if (answers.length === 1)
    s.append(wide(table(["quantity", "estimate", "low", "high"], QUANTITIES.filter(q => one[q].value !== null).map(q =>
      [q, shown(one[q].value, one[q].unit), shown(one[q].low, one[q].unit), shown(one[q].high, one[q].unit)]))));
  if (one.host_s !== null && answers.length === 1)
    s.append(html("p", `The host issues everything in ${shown(one.host_s, "s")}, the device executes it in ` +
      `${shown(one.busy_s, "s")}: ${one.host_s > one.busy_s ? "the host" : "the device"} sets the time.`, "note"));
  const points = answers.filter(a => a.time.value > 0 && a.energy.value > 0).map(a => ({ name: a.label, x: a.time, y: a.energy, fits: fits(a) }));
  if (points.length < 2) return;
  const host = html("div");
  s.append(html("h3", "Time and energy"), host,
    html("p", "Lines are 90 % intervals; orange: Pareto-optimal of what fits.", "note"));
  drawing(host, w => scatter(Math.min(w, 760), markFront(points), "time", "energy"));
}

// ---- operations by module ----
const MEASURES = [["time", "s"], ["energy", "J"], ["memory traffic", "B"]];
let measure = 0, root = 0;
const kindOf = op => op[0].split(" ", 1)[0];
const phaseOf = op => (op[0].match(/ phase=(\w+)/) || [, "forward"])[1];
const valueOf = (a, op) => [op[2], op[5], op[8]][measure] || 0;

// Colours of the kinds that take most time.
function colours(a) {
  const sum = {};
  for (const op of a.ops) sum[kindOf(op)] = (sum[kindOf(op)] || 0) + op[1] * (op[2] || 0);
  const order = Object.keys(sum).sort((p, q) => sum[q] - sum[p]), of = {};
  order.forEach((k, i) => { of[k] = `c${Math.min(i, 7)}`; });
  return { of, order };
}
function treeOf(a) {
  const nodes = a.modules.map(([name, parent], i) => ({ name, parent, i, value: 0, inside: [], leaves: new Map() }));
  for (const n of nodes) if (n.parent !== null) nodes[n.parent].inside.push(n);
  for (const [op, module, repeat] of a.nodes) {
    const v = repeat * valueOf(a, a.ops[op]), m = nodes[module];
    if (!v) continue;
    m.leaves.set(op, (m.leaves.get(op) || 0) + v);
    for (let k = module; k !== null; k = nodes[k].parent) nodes[k].value += v;
  }
  return nodes;
}
function drawModules(w) {
  const a = shownAnswer, nodes = treeOf(a), row = 24, unit = MEASURES[measure][1], colour = colours(a);
  const all = nodes[root].value, boxes = [];
  let deepest = 1;
  const place = (m, x, width, depth) => {
    deepest = Math.max(deepest, depth + 1);
    let at = x;
    for (const c of m.inside) {
      const cw = c.value / m.value * width;
      if (cw >= .7) { boxes.push([c, at, cw, depth]); place(c, at, cw, depth + 1); }
      at += cw;
    }
    for (const [op, v] of m.leaves) {
      const lw = v / m.value * width;
      if (lw >= .7) boxes.push([{ op, value: v }, at, lw, depth]);
      at += lw;
    }
  };
  if (!all) return html("p", "Not known.", "note");
  boxes.push([nodes[root], 0, w, 0]);
  place(nodes[root], 0, w, 1);
  const s = svg("svg", { viewBox: `0 0 ${w} ${deepest * row}`, width: w, height: deepest * row, role: "group",
    "aria-label": `${MEASURES[measure][0]} of operations by module` });
  for (const [m, x, width, depth] of boxes) {
    const leaf = m.op !== undefined, op = leaf ? a.ops[m.op] : null, up = m === nodes[root] && root > 0;
    const name = leaf ? kindOf(op) : m.name, zoom = !leaf && (up || m !== nodes[root]);
    const text = `${leaf ? op[0] : pathOf(a, m.i)}\n${shown(m.value, unit)}, ${percent(m.value / nodes[0].value)}`;
    const g = svg("g", zoom ? { tabindex: 0, role: "button", "aria-label": text.replace("\n", ": ") } : {});
    const r = svg("rect", { x, y: depth * row, width, height: row - 1, class: zoom ? "box zoom" : "box" });
    r.style.fill = leaf ? `var(--${colour.of[kindOf(op)]})` : "var(--line)";
    if (leaf) r.style.fillOpacity = phaseOf(op) === "forward" ? .55 : .3;
    g.append(tip(r, text));
    const fit = Math.floor((width - 6) / 6.4);
    if (fit > 2) g.append(svg("text", { x: x + 4, y: depth * row + 16, "pointer-events": "none" },
      name.length > fit ? `${name.slice(0, fit - 1)}\u2026` : name));
    if (zoom) {
      const go = () => { root = up ? a.modules[root][1] : m.i; redrawModules(); byId("modules").querySelector("[tabindex]")?.focus(); };
      g.addEventListener("click", go);
      g.addEventListener("keydown", e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); go(); } });
    }
    s.append(g);
  }
  const shownKinds = colour.order.slice(0, 7).map((k, i) => [`c${i}`, k]);
  if (colour.order.length > 7) shownKinds.push(["c7", `${colour.order.length - 7} other kinds`]);
  return [html("p", root ? `${pathOf(a, root)}: ${shown(all, unit)}; its own bar leads out` : `${shown(all, unit)} in all`, "note"),
    s, keys(shownKinds)];
}
function pathOf(a, i) {
  const parts = [];
  for (let k = i; k !== null; k = a.modules[k][1]) parts.unshift(a.modules[k][0]);
  return parts.length > 1 ? parts.slice(1).join(".") : parts[0];
}
let redrawModules = () => {};
function drawBar() {
  const host = html("div"), s = section("Operations by module");
  host.id = "modules";
  s.append(buttons("by", MEASURES.map(m => m[0]), measure, i => { measure = i; redrawModules(); }), host,
    html("p", "Each module is as wide as what its operations take on the device; below it what it is made of. Click or press " +
      "Enter to look inside. Pale: backward and optimizer. Gaps in which the device waits for the host are not in it.", "note"),
    sortable([{ name: "module", left: true, of: m => m.path, cell: m => html("span", `${"\u2003".repeat(m.depth)}${m.name}`) },
      { name: "time", of: m => m.time.value, cell: m => estimateCell(m.time, m.most, 90) },
      { name: "share", of: m => m.share, cell: m => percent(m.share) },
      { name: "energy", of: m => m.energy.value, cell: m => estimateCell(m.energy, 0) },
      { name: "memory at most", of: m => m.peak, cell: m => shown(m.peak, "B") },
      { name: "FLOPs", of: m => m.flops, cell: m => shown(m.flops, "FLOP") },
      { name: "parameters", of: m => m.parameters, cell: m => shown(m.parameters, "k") }], moduleRows(shownAnswer), 25));
  redrawModules = drawing(host, drawModules);
}
function moduleRows(a) {
  const depth = [], e = (v, unit) => ({ value: v[0], low: v[1], high: v[2], unit });
  return a.modules.map(([name, parent, time, energy, flops, parameters, peak], i) => {
    depth.push(parent === null ? 0 : depth[parent] + 1);
    return { name, path: pathOf(a, i), depth: depth[i], time: e(time, "s"), energy: e(energy, "J"), flops, parameters, peak,
      share: time[0] / a.time.value, most: a.modules[0][2][2] ?? a.modules[0][2][0] };
  });
}

// ---- memory ----
const PARTS = ["weights", "inputs", "gradients", "state", "saved", "activations", "workspace"];
function drawMemory(w) {
  const a = shownAnswer, m = a.memory_over, h = 300, box = { l: 74, r: w - 16, t: 24, b: h - 44 };
  const parts = PARTS.map((name, k) => ({ name, k })).filter(p => m.some(row => row[1][p.k] > 0));
  const context = a.context || 0, most = Math.max(a.memory.value || 0, a.limit && a.limit < 1.5 * a.memory.value ? a.limit : 0);
  const end = a.time.value, x = axis(0, end, box.l, box.r), y = axis(0, most * 1.05, box.b, box.t, false, "B");
  const s = picture(w, h, `memory by part over ${one.step}, at most ${shown(a.memory.value, "B")}`);
  frame(s, x, y, box, "s", "B", "time", "alive");
  const base = m.map(() => context);
  if (context) s.append(tip(svg("rect", { x: box.l, width: box.r - box.l, y: y.at(context), height: box.b - y.at(context),
    style: "fill: var(--c7); fill-opacity: .5" }), `process: ${shown(context, "B")}`));
  for (const p of parts) {
    let top = "", under = "";
    m.forEach(([from, bytes], i) => {
      const to = i + 1 < m.length ? m[i + 1][0] : end, low = base[i], high = low + (bytes[p.k] || 0);
      top += `${top ? "L" : "M"}${x.at(from).toFixed(1)} ${y.at(high).toFixed(1)}H${x.at(to).toFixed(1)}`;
      under = `L${x.at(to).toFixed(1)} ${y.at(low).toFixed(1)}H${x.at(from).toFixed(1)}` + under;
      base[i] = high;
    });
    s.append(tip(svg("path", { d: `${top}${under}Z`, style: `fill: var(--c${p.k}); fill-opacity: .75` }), p.name));
  }
  const line = (v, text, up) => s.append(svg("line", { x1: box.l, x2: box.r, y1: y.at(v), y2: y.at(v), class: "limit" }),
    svg("text", { x: box.r - 4, y: y.at(v) + (up ? -4 : 13), "text-anchor": "end", class: "over" }, text));
  line(a.memory.value, `peak ${shown(a.memory.value, "B")}`, false);
  if (a.limit && a.limit <= y.hi) line(a.limit, `the device's ${shown(a.limit, "B")}`, true);
  const at = name => name === "process" ? context : a.parts[name];
  const entries = [...parts.map(p => [`c${p.k}`, p.name]), ...context ? [["c7", "process"]] : []];
  return [s, keys(entries.map(([c, n]) => [c, `${n} ${shown(at(n), "B")}`])),
    html("p", "Figures beside the colours: at the peak." + (a.memory_planned ?
      " The peak is that of memory planned ahead, what is alive may be less." : ""), "note")];
}

// ---- roofline ----
function drawRoofline(w) {
  const a = shownAnswer, h = 380, box = { l: 84, r: w - 20, t: 24, b: h - 44 };
  const points = a.ops.map(op => ({ op, n: op[1] * op[2], x: op[7] / op[8], y: op[7] / op[2] })).filter(p => p.x > 0 && isFinite(p.y));
  if (!points.length) return html("p", "No operation computes and takes time.", "note");
  const roofs = a.roofs.filter(r => r[1] > 0), top = Math.max(...points.map(p => p.y), ...roofs.map(r => r[1]));
  const xs = points.map(p => p.x), lo = Math.min(...xs, 1) / 1.5;
  const hi = Math.max(...xs, ...a.bandwidth ? roofs.map(r => 3 * r[1] / a.bandwidth) : []) * 1.5;
  const x = axis(lo, hi, box.l, box.r, true), y = axis(Math.min(...points.map(p => p.y)) / 2, top * 1.5, box.b, box.t, true);
  const s = picture(w, h, `FLOP/s of ${points.length} operations against FLOP per byte, with the device's limits`);
  frame(s, x, y, box, "", "FLOP/s", "FLOP per byte read or written", "FLOP/s");
  for (const [name, peak] of roofs) {
    const bend = a.bandwidth ? Math.max(lo, peak / a.bandwidth) : lo, from = Math.max(lo, y.lo / a.bandwidth);
    s.append(svg("path", { d: a.bandwidth ? `M${x.at(from)} ${y.at(from * a.bandwidth)}L${x.at(bend)} ${y.at(peak)}H${box.r}` :
      `M${box.l} ${y.at(peak)}H${box.r}`, class: "roof" }),
    svg("text", { x: box.r - 4, y: y.at(peak) - 4, "text-anchor": "end", class: "over" }, `${name} ${shown(peak, "FLOP/s")}`));
  }
  const sum = a.time.value, colour = colours(a);
  for (const p of points.sort((q, r) => r.n - q.n)) {
    const c = svg("circle", { cx: x.at(p.x).toFixed(1), cy: y.at(p.y).toFixed(1), r: (2.5 + 14 * Math.sqrt(p.n / sum)).toFixed(1) });
    c.style.fill = `var(--${colour.of[kindOf(p.op)]})`;
    c.style.fillOpacity = .6;
    s.append(tip(c, `${p.op[0]}\n${shown(p.y, "FLOP/s")} at ${shown(p.x)} FLOP/B; ${percent(p.n / sum)} of the time`));
  }
  const without = a.ops.filter(op => op[2] > 0).length - points.length;
  return [s, keys(colour.order.slice(0, 7).map((k, i) => [`c${i}`, k])),
    html("p", "A circle an operation, its area the share of the time; bytes count each operand once, so that caches can lift a point above the " +
      `slope. ${without ? `${without} that compute nothing are not drawn.` : ""} ${roofs.length ? "" : "The device's limits are not known."}`, "note")];
}

function drawOps() {
  const a = shownAnswer, e = op => ({ value: op[2], low: op[3], high: op[4], unit: "s" });
  const rows = [...a.ops].sort((p, q) => q[1] * (q[2] || 0) - p[1] * (p[2] || 0)), most = mostOf(rows.map(e));
  section("Operations", sortable([{ name: "operation", left: true, cls: "spec", of: op => op[0], cell: op => html("code", op[0]) },
    { name: "count", of: op => op[1] },
    { name: "share", of: op => op[1] * (op[2] || 0), cell: op => percent(op[1] * op[2] / a.time.value) },
    { name: "each", of: op => op[2], cell: op => estimateCell(e(op), most, 90) },
    { name: "energy", of: op => op[5], cell: op => shown(op[5], "J") },
    { name: "FLOPs", of: op => op[7], cell: op => shown(op[7], "FLOP") },
    { name: "bytes", of: op => op[8], cell: op => shown(op[8], "B") },
    { name: "basis", left: true, of: op => bases[op[6]] }], rows, 30,
  "Each: on the device, without its launch; share of the network's time."));
}

// The sections of one answer, in place of those of another.
let firstDrawn = 0;
function drawDetail() {
  byId("main").querySelectorAll("section[data-of]").forEach(s => s.remove());
  drawn.length = firstDrawn;
  root = 0;
  const before = byId("main").children.length;
  drawBar();
  const memory = html("div"), roofline = html("div");
  if (shownAnswer.memory_over.length) { section("Memory over the step", memory); drawing(memory, drawMemory); }
  section("Roofline", roofline);
  drawing(roofline, drawRoofline);
  drawOps();
  [...byId("main").children].slice(before).forEach(s => { s.dataset.of = shownAnswer.label; });
}
function takeAnswers(page) {
  ({ answers, bases } = page);
  one = answers[0];
  shownAnswer = answers.find(a => a.ops);
}
function drawReport() {
  const detailed = answers.filter(a => a.ops);
  byId("title").textContent = document.title = `${one.model} on ${answers.length > 1 ? `${answers.length} devices or settings` : one.known_as}`;
  byId("lead").textContent = [one.step, one.batch ? `batch ${one.batch}` : "", one.dtype, one.run_mode,
    answers.length > 1 ? "" : one.setting].filter(Boolean).join(", ");
  drawTop();
  drawCompared();
  firstDrawn = drawn.length;
  if (detailed.length > 1)
    section("In detail", choose("of", detailed.map(a => a.label), 0, i => { shownAnswer = detailed[i]; drawDetail(); }),
      html("p", detailed.length < answers.length ? `Of the first ${detailed.length}; the others as they are compared above.` : "", "note"));
  // What stands on top is painted first; a tab that is not seen has no frames.
  let waits = Boolean(shownAnswer);
  const drawRest = () => {
    if (waits) drawDetail();
    waits = false;
  };
  requestAnimationFrame(() => setTimeout(drawRest));
  setTimeout(drawRest, 300);
}
if (data) {
  takeAnswers(data);
  drawReport();
}
