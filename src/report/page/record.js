// Any record as the command prints it with --json: texts, estimates, tables of rows, the same inside each other.
// Names of members as a reader has them; others lose their unit, which stands beside the value, and "n_".
const WORDS = { ttft: "time to first token", tpot: "time of an output token", itl: "time between tokens", e2e: "time of a request",
  edp: "energy x time", mape: "MAPE", median_ape: "median APE", p90_ape: "90 % of APE below", max_ape: "largest APE", within_10: "within 10 %",
  r2: "R2", adjusted_r2: "adjusted R2", mae: "mean error", median_ae: "median error", max_error: "largest error", co2: "CO2", tp: "GPUs of a replica",
  family: "predictor", covered: "intervals that hold", width: "width of intervals, high / low", regret: "expected regret", tied: "at the first place",
  chance: "chance to be the best", cost: "cost of a million", corrected_by: "measurements of the device", no_hardware: "no hardware for this type", level: "not distinguishable from the best", level_why: "why not", risky: "may be over the limit",
  concurrency: "requests at once", ipc: "instructions per cycle", descriptor_bytes: "bytes of descriptors", on: "threads that are on",
  warp: "warp instructions", flops: "FLOPs", global_bytes: "global memory", different: "unique launches", exact: "counted exactly", because: "why not exact" };
const label = name => WORDS[name] || name.replace(/^n_/, "").replace(/(?<!per)_(s|j|w|hz|bytes)$/, "").replaceAll("_", " ");
const isRow = v => v !== null && typeof v === "object" && !Array.isArray(v);
const heading = name => label(name).replace(/^./, c => c.toUpperCase());
const unitOf = name => name === "memory_limit" ? "bytes" : /_per_/.test(name) ? undefined : (name.match(/_(s|j|w|hz|bytes)$/) || [])[1];
const UNITS = { s: "s", j: "J", w: "W", hz: "Hz", bytes: "B" };
const SHARES = /^(mape|bias|median_ape|p90_ape|within_10|max_ape|share|(?!ratio_).*_error|error|regret|covered|chance|occupancy|cache_peak)$/;
// Records whose numbers have a unit that their names do not say.
const IN_UNITS = [[/^(weights|activations|cache_per_token|device)$/, "memory", "B"], [/./, "terms", "s"]];
function givenUnit(v, name) {
  const out = { ...v };
  for (const [members, record, unit] of IN_UNITS)
    for (const k of record === name ? Object.keys(v) : [])
      if (members.test(k) && typeof v[k] === "number") out[k] = { value: v[k], low: null, high: null, unit, basis: "" };
  return out;
}
function textOf(name, v) {
  if (name === "family") v = v.split("/").pop();
  if (v === null || v === undefined) return "-";
  if (typeof v === "boolean") return v ? "yes" : "no";
  if (typeof v === "number") return SHARES.test(name) ? percent(v) : /^(mae|median_ae|max_error)$/.test(name) ? shown(v, errorUnit) :
    shown(v, UNITS[unitOf(name)] || "");
  if (Array.isArray(v)) return v.length > 8 ? `${v.slice(0, 8).map(x => textOf(name, x)).join(", ")}, ... (${v.length})` : v.map(x => textOf(name, x)).join(", ");
  if (isEstimate(v)) return estimateText(v);
  if (isRow(v)) return Object.entries(v).map(([k, x]) => `${label(k)} ${textOf(k, x)}`).join("; ");
  return String(v);
}
// An item or a pass costs next to nothing.
for (const choice of data.choices || []) {
  const { cost } = choice.values;
  for (const k of ["value", "low", "high"]) cost[k] = cost[k] && 1e6 * cost[k];
  choice.cost_per_item = null;
}
const errorUnit = { time: "s", energy: "J", power: "W", memory: "B" }[data.metric] || "";
// Numbers of a record with a unit; what was measured with an error gets its 95 % interval.
const COUNTS = ["n", "iterations", "runs", "outliers"];
function withUnit(row) {
  if ("start_s" in row && typeof row.value === "number")
    return { ...row, value: { value: row.value, low: null, high: null, unit: "s", basis: "" } };
  if (typeof row.unit !== "string" || isEstimate(row)) return row;
  const all = {};
  for (const [k, v] of Object.entries(row)) {
    const half = (k === "value" || k === "median") && row.error > 0 ? 1.96 * row.error : null;
    if (typeof v === "number" && !COUNTS.includes(k))
      all[k] = { value: v, low: half && v - half, high: half && v + half, unit: row.unit, basis: half ? "measured" : "" };
    else if (k !== "unit") all[k] = v;
  }
  return all;
}
// A row's members, those of records inside it beside them.
function flat(row, before = "") {
  const all = {};
  for (const [k, v] of Object.entries(withUnit(row)))
    if (isRow(v) && !isEstimate(v)) Object.assign(all, flat(givenUnit(v, k), k === "values" ? before : `${before}${label(k)} `));
    else all[before + k] = v;
  return all;
}
const isSeries = v => Array.isArray(v) && v.length > 8 && v.every(x => typeof x === "number" || x === null);
const isTexts = v => Array.isArray(v) && v.length > 0 && v.every(x => typeof x === "string");
const isNested = v => Array.isArray(v) && (!v.length || v.some(isRow));
const same = (p, q) => JSON.stringify(p) === JSON.stringify(q);
// What a model that is served is ordered by, as its rows name it.
const SERVED_BY = { cost: "cost_per_million_tokens", energy: "joules_per_token", "tokens-per-user": "tokens_per_s_per_user", "tokens-per-device": "tokens_per_s_per_device" };
const ordersBy = n => data.by && [data.by, `served ${SERVED_BY[data.by] || `${label(data.by)} mean`}`].includes(n);
// A column a member, the place first; what is the same in all rows is said once below, but for zeros. Of baselines beside what was learned the mean error alone.
const SETTINGS = ["batch", "clock_hz", "tp", "concurrency", "precision"], VERDICTS = ["state", "limit", "why", "level_why"];
const BASELINES = /^(constant|physics) (?!mape)/;
function rowsTable(rows) {
  const flats = rows.map(r => flat(r)), all = [...new Set(flats.flatMap(Object.keys))]
    .filter(n => n !== "verify" && !BASELINES.test(n) && flats.some(r => r[n] !== null && r[n] !== undefined && !(isEstimate(r[n]) && r[n].value === null) && r[n] !== "" && !isNested(r[n]) && !isSeries(r[n]) && !isTexts(r[n])));
  const constant = all.filter(n => n !== "name" && rows.length > (n.endsWith("why") ? 1 : 2) && flats.every(r => same(r[n], flats[0][n])));
  const repeats = n => flats.every(r => typeof r[n] === "string") && all.slice(0, all.indexOf(n)).some(o => flats.every(r => same(r[o], r[n])));
  const rank = n => n === "place" ? -1 : ordersBy(n) ? .5 : SETTINGS.includes(n) ? 0 : VERDICTS.includes(n) ? 5 : flats.some(r => isEstimate(r[n]) && r[n].unit) ? 1 : flats.some(r => isEstimate(r[n])) ? 3 : flats.some(r => typeof r[n] === "number") ? 2 : flats.some(r => typeof r[n] === "boolean") ? 4 : 0;
  const names = all.filter(n => !constant.includes(n) && !repeats(n) && !(n.endsWith("known_as") && all.includes("device"))).sort((p, q) => rank(p) - rank(q));
  const last = n => n.split(" ").pop(), named = n => n.slice(0, n.length - last(n).length) + label(last(n));
  // The end of a name, as far as it takes to tell it from the others.
  const short = n => { const parts = n.split(" ");
    for (let k = 1; k < parts.length; k++) {
      const end = parts.slice(-k).join(" ");
      if (!names.some(o => o !== n && (o === end || o.endsWith(` ${end}`)))) return end;
    }
    return n; };
  const columns = names.map(n => {
    const values = flats.map(r => r[n]), most = mostOf(values.filter(e => isEstimate(e) && e.low !== null));
    const number = values.some(v => typeof v === "number" || isEstimate(v)), long = values.some(v => typeof v === "string" && v.length > 40);
    const errors = SHARES.test(last(n)) && values.every(v => typeof v !== "number" || v >= 0);
    const top = errors ? Math.max(...values.map(v => v || 0)) : 0;
    return { name: named(short(n)), left: !number, cls: long ? "spec left" : number ? "" : "left",
      of: r => isEstimate(r[n]) ? r[n].value : r[n] ?? null,
      cell: r => isEstimate(r[n]) ? estimateCell(r[n], most, names.length > 10 ? 50 : 90) : top > 0 && typeof r[n] === "number" ?
        shareCell(r[n], top) : textOf(last(n), r[n]) };
  });
  const host = html("div");
  host.append(sortable(columns, flats, 40));
  const said = constant.filter(n => flats[0][n] !== 0 && flats[0][n] !== false);
  if (said.length) host.append(html("p", `The same in all rows: ${said.map(n => `${named(n)} ${textOf(last(n), flats[0][n])}`).join("; ")}.`, "note"));
  return host;
}
function shareCell(v, top) {
  const span = html("span", percent(v)), s = picture(70, 10, percent(v));
  s.setAttribute("class", "cell");
  s.append(svg("rect", { x: 0, y: 1, width: Math.max(1, v / top * 68), height: 8, class: "bar" }));
  span.append(s);
  return span;
}
// Numbers one behind the other, with their median.
function seriesOf(name, v, w) {
  const known = v.filter(x => x !== null), sorted = [...known].sort((p, q) => p - q), median = sorted[sorted.length >> 1];
  const h = 200, box = { l: 74, r: w - 16, t: 24, b: h - 40 }, unit = UNITS[unitOf(name)] || "";
  const lo = sorted[0], hi = Math.min(sorted[sorted.length - 1], median > 0 ? 3 * median : Infinity);
  const x = axis(0, v.length - 1, box.l, box.r), y = axis(lo - (hi - lo) * .1, hi + (hi - lo) * .1, box.b, box.t);
  const s = picture(w, h, `${label(name)}: ${v.length} readings, median ${shown(median, unit)}`);
  frame(s, x, y, box, "", unit, "reading", label(name));
  s.append(svg("line", { x1: box.l, x2: box.r, y1: y.at(median), y2: y.at(median), class: "limit" }));
  v.forEach((p, i) => { if (p !== null) s.append(tip(svg("circle", { cx: x.at(i), cy: y.at(Math.min(p, y.hi)), r: 2.5, class: "dot", ...p > y.hi ? { style: "fill: none; stroke: var(--dot)" } : {} }), shown(p, unit))); });
  if (known.some(p => p > y.hi)) s.append(svg("text", { x: box.r, y: 12, "text-anchor": "end", class: "faint" }, "hollow: beyond the picture"));
  return s;
}
// Two quantities that are known of several rows, against each other.
function pairsOf(rows) {
  const names = Object.keys(rows[0]).filter(n => ["time", "energy", "cost", "memory"].includes(n) &&
    rows.filter(r => isEstimate(r[n]) && r[n].value > 0).length > 1);
  return names.length > 1 ? [names[0], names[1]] : null;
}
const nameOf = r => [r.device, r.command, r.name, r.network, r.batch ? `batch ${r.batch}` : "", r.setting].filter(v => typeof v === "string" && v).slice(0, 3).join(", ");

// What of readings or runs one would look at in their order.
const ORDERED = ["wall_s", "value_s", "value", "watts"];
const orderedOf = rows => rows.length > 7 && ORDERED.find(n => rows.every(r => typeof r[n] === "number"));

function put(name, v) {
  if (v === null || v === undefined || (Array.isArray(v) && !v.length)) return;
  if (isSeries(v)) {
    const host = html("div");
    section(heading(name), host);
    drawing(host, w => seriesOf(name, v, Math.min(w, 760)));
  } else if (Array.isArray(v) && v.every(x => typeof x === "string")) {
    section(heading(name), list(v, name === "warnings" ? "warning" : undefined));
  } else if (Array.isArray(v) && v.every(isRow)) {
    const flats = v.map(r => flat(r)), s = section(heading(name)), pair = pairsOf(flats), ordered = orderedOf(v);
    if (pair) {
      const host = html("div"), points = flats.filter(r => pair.every(n => r[n] && r[n].value > 0))
        .map(r => ({ name: nameOf(r), x: r[pair[0]], y: r[pair[1]] }));
      s.append(host, html("p", "Lines are intervals; orange: Pareto-optimal.", "note"));
      drawing(host, w => scatter(Math.min(w, 760), markFront(points), ...pair));
    }
    // Sentences of rows, each once, with the rows that it is about.
    const about = (k, t, of = v.filter(r => r[k]?.includes(t))) => of.length < v.length ? `${t} (${of.map(nameOf).join("; ")})` : t;
    for (const k of new Set(v.flatMap(r => Object.keys(r).filter(n => isTexts(r[n])))))
      s.append(html("h3", heading(k)), list([...new Set(v.flatMap(r => r[k] || []))].map(t => about(k, t)), k === "warnings" ? "warning" : undefined));
    if (ordered) {
      const host = html("div");
      s.append(host);
      const name = ordered === "value" && "start_s" in v[0] ? "value_s" : ordered;
      drawing(host, w => seriesOf(name, v.map(r => r[ordered]), Math.min(w, 760)));
    }
    s.append(rowsTable(v));
    for (const r of v.filter(r => r.verify)) s.append(html("p", `verify on ${nameOf(r)}`, "note"), command(r.verify));
    for (const r of v) for (const [k, x] of Object.entries(r))
      if (Array.isArray(x) && x.length && (x.every(isRow) || isSeries(x)) && v.length <= 12) put(`${nameOf(r) || r.spec || ""} ${k}`.trim(), x);
  } else if (isRow(v) && !isEstimate(v)) fillRow(section(heading(name)), v, name);
}
// Members that have the same members of their own, two or more: rows of one table each.
function alike(rows) {
  const groups = new Map();
  for (const [k, x] of rows) {
    const members = Object.keys(x).join();
    groups.set(members, [...groups.get(members) || [], { name: label(k), ...x }]);
  }
  return [...groups.values()].filter(g => g.length > 1);
}
function fillRow(s, record, name) {
  const v = givenUnit(withUnit(record), name), rows = Object.entries(v).filter(([, x]) => isRow(x) && !isEstimate(x)), groups = alike(rows);
  const estimates = Object.entries(v).filter(([, x]) => isEstimate(x)), sure = estimates.every(([, e]) => !between(e));
  const texts = Object.entries(v).filter(([, x]) => x !== null && x !== "" && !isRow(x) && !isNested(x) && !isSeries(x));
  if (estimates.length) s.append(wide(table(sure ? ["quantity", "value"] : ["quantity", "value", "interval", "basis"],
    estimates.map(([k, e]) => [label(k), estimateCell(e, between(e) ? mostOf([e]) : 0), between(e), e.basis || ""].slice(0, sure ? 2 : 4)))));
  if (texts.length) {
    const d = html("dl");
    for (const [k, x] of texts) d.append(html("dt", label(k)), html("dd", k === "verify" ? command(x) : textOf(k, x)));
    s.append(d);
  }
  groups.forEach(g => s.append(rowsTable(g)));
  for (const [k, x] of rows) if (!groups.some(g => g.some(r => r.name === label(k)))) { s.append(html("h3", heading(k))); fillRow(s, x, k); }
  for (const [k, x] of Object.entries(v)) if (isSeries(x) || (isNested(x) && x.length)) put(`${name} ${k}`, x);
}

const { page, ...record } = data;
const DONE = { rank: `${record.networks ? "Networks" : "devices"} ordered by ${record.by}`, predict: "served", measure: record.model ? "measured" : "Commands measured", evaluate: "How accurate predictions are",
  ptx: "Kernels from PTX" };
byId("title").textContent = document.title = [(record.model || record.devices?.[0]?.model)?.split("/").pop(), DONE[page.title.split(" ").pop()]].filter(Boolean).join(": ");
byId("lead").append(command(page.lead.replace(/ (--html[= ]\S+|-q)(?= |$)/g, "")));
const FIRST = ["assumptions", "warnings", "bounded"], simple = {}, rest = [];
for (const [k, v] of Object.entries(record))
  if (FIRST.includes(k)) put(k, v);
  else if (Array.isArray(v) && v.length || isRow(v) && !isEstimate(v)) rest.push([k, v]);
  else if (!Array.isArray(v) && v !== null && v !== "" && k !== "line") simple[k] = v;
if (record.best && isRow(record.choices?.[0])) simple.best = nameOf(record.choices[0]);
if (Object.keys(simple).length) put("in short", simple);
// Estimates by mean and percentiles: one table of all latencies.
const latencies = rest.filter(([, v]) => isRow(v) && Object.values(v).every(isEstimate));
if (latencies.length > 1) section("Latencies", rowsTable(latencies.map(([k, v]) => ({ name: label(k), ...v }))));
rest.filter(r => latencies.length < 2 || !latencies.includes(r)).forEach(([k, v]) => put(k, v));
