"use strict";
// The page of foretell serve: its controls are arguments of /v1/rank, and stand in the address.
const form = document.getElementById("asked");
const said = document.getElementById("said");
const counts = ["batch", "prompt", "generate"];
let last = 0;
let kept = ""; // the controls of what is compared with, as they stand in an address

function text(v, unit) {
  if (v === null || v === undefined) return "-";
  for (const [size, prefix] of [[1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "u"], [1e-9, "n"]])
    if (Math.abs(v) >= size || size === 1e-9) return (v / size).toPrecision(3) + " " + prefix + unit;
}

async function call(path, options = {}) {
  const token = document.getElementById("token").value;
  const headers = {...options.headers, ...(token ? {Authorization: "Bearer " + token} : {})};
  const reply = await fetch(path, {...options, headers});
  const value = await reply.json();
  if (!reply.ok) throw new Error(value.message);
  return value;
}

// The record of what controls say.
function rank(controls) {
  const out = {};
  for (const [name, value] of controls)
    if (value !== "") out[name] = counts.includes(name) ? Number(value) : name === "price" ? value.split(/\s+/) : value;
  if (out.prompt || out.generate || out.concurrency) for (const k of ["batch", "dtype", "mode"]) delete out[k];
  return call("/v1/rank", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(out)});
}

// One form for what is run once and what is served.
function points(record) {
  if (record.choices)
    return record.choices.map(c => ({name: c.device, state: c.state, front: c.pareto, time: c.values.time.value, low: c.values.time.low,
      high: c.values.time.high, energy: c.values.energy.value, cost: c.cost_per_item && 1e6 * c.cost_per_item, memory: c.values.memory.value}));
  return [...record.placed, ...record.others].map(c => ({name: `${c.device} x ${c.tp}`, state: c.state, front: c.pareto,
    time: 1 / c.served?.tokens_per_s_per_user.value || null, low: null, high: null, energy: c.served?.joules_per_token.value ?? null,
    cost: c.served?.cost_per_million_tokens.value ?? null, memory: null}));
}

function element(name, attributes, content) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (content !== undefined) e.textContent = content;
  return e;
}

function axis(values, from, to) {
  const low = Math.log10(Math.min(...values)) - 0.1, high = Math.log10(Math.max(...values)) + 0.1;
  const at = v => from + (Math.log10(v) - low) / (high - low) * (to - from);
  const ticks = [];
  for (let e = Math.floor(low); e <= high; e++)
    for (const m of [1, 2, 5]) if (Math.log10(m) + e >= low && Math.log10(m) + e <= high) ticks.push(m * 10 ** e);
  return {at, ticks};
}

function plot(all) {
  const svg = document.getElementById("plot"), width = Math.max(svg.clientWidth, 280), names = [];
  const known = all.filter(p => p.time > 0 && p.energy > 0);
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} 360`);
  if (!known.length) return;
  const x = axis(known.map(p => p.time), 60, width - 20), y = axis(known.map(p => p.energy), 320, 15);
  const most = Math.max(...known.map(p => p.cost || 0));
  for (const t of x.ticks) svg.append(element("line", {x1: x.at(t), x2: x.at(t), y1: 15, y2: 320}),
    element("text", {x: x.at(t), y: 336, "text-anchor": "middle"}, text(t, "s")));
  for (const t of y.ticks) svg.append(element("line", {x1: 60, x2: width - 20, y1: y.at(t), y2: y.at(t)}),
    element("text", {x: 56, y: y.at(t) + 4, "text-anchor": "end"}, text(t, "J")));
  for (const p of known) {
    const dot = element("circle", {cx: x.at(p.time), cy: y.at(p.energy), r: most && p.cost ? 4 + 10 * Math.sqrt(p.cost / most) : 6,
      class: p.kept ? "kept" : p.front ? "front" : ""});
    dot.append(element("title", {}, `${p.name}: ${text(p.time, "s")}, ${text(p.energy, "J")}`));
    svg.append(dot);
    if (p.kept) continue;
    // Beside its circle, on the side where there is room, above or below what is named already.
    const right = x.at(p.time) + 9 + 7 * p.name.length < width, name = {x: x.at(p.time) + (right ? 9 : -9), y: y.at(p.energy) - 7};
    while (names.some(n => Math.abs(n.y - name.y) < 13 && Math.abs(n.x - name.x) < 80)) name.y += 13;
    names.push(name);
    svg.append(element("text", {...name, "text-anchor": right ? "start" : "end"}, p.name));
  }
  svg.append(element("text", {x: width / 2, y: 354, "text-anchor": "middle"}, "time (a token's, where served); green: nothing is better"));
}

function table(all, before) {
  const t = document.getElementById("table");
  const row = (kind, cells, front) => {
    const r = document.createElement("tr");
    for (const c of cells) {
      const d = document.createElement(kind);
      d.textContent = c;
      if (kind === "th") d.scope = "col";
      r.append(d);
    }
    if (front) r.className = "front";
    return r;
  };
  const share = (v, of) => v > 0 && of > 0 ? `${(100 * v / of).toFixed(0)} %` : "-";
  t.replaceChildren(row("th", ["device", "time", "low", "high", "energy", ...(before ? ["time before", "of it", "energy before", "of it"] : []),
    "cost of a million", "memory", ""]));
  for (const p of all) {
    const b = before && (before.find(q => q.name === p.name) || {});
    t.append(row("td", [p.name, text(p.time, "s"), text(p.low, "s"), text(p.high, "s"), text(p.energy, "J"),
      ...(b ? [text(b.time, "s"), share(p.time, b.time), text(b.energy, "J"), share(p.energy, b.energy)] : []),
      p.cost == null ? "-" : p.cost.toPrecision(3), p.memory == null ? "-" : (p.memory / 2 ** 30).toFixed(2) + " GiB",
      p.state === "placed" ? "" : p.state.replace("_", " ")], p.front));
  }
}

// In which controls what is shown differs from what it is compared with.
function difference(now) {
  const before = new URLSearchParams(kept);
  return [...now].filter(([name, value]) => (before.get(name) || "") !== value)
    .map(([name, value]) => `${name} ${value || "-"} (before: ${before.get(name) || "-"})`).join(", ") || "the same";
}

async function ask() {
  const mine = ++last, now = new URLSearchParams(new FormData(form)), button = document.getElementById("keep");
  history.replaceState(null, "", "#" + now + (kept ? "&beside=" + encodeURIComponent(kept) : ""));
  button.setAttribute("aria-pressed", kept !== "");
  button.textContent = kept ? "Compare no more" : "Compare with this";
  if (!now.get("model")) return;
  said.textContent = "...";
  try {
    const [record, other] = await Promise.all([rank(now), kept && rank(new URLSearchParams(kept))]);
    if (mine !== last) return;
    const all = points(record), before = other && points(other);
    plot([...(before || []).map(p => ({...p, kept: true})), ...all]);
    table(all, before);
    document.getElementById("notes").replaceChildren(...[...(record.assumptions || []), ...(record.warnings || [])].map(n => {
      const li = document.createElement("li");
      li.textContent = n;
      return li;
    }));
    said.textContent = `${record.model}: ${all.length} choices, low .. high is a 90 % interval` +
      (before ? `; compared (dashed): ${difference(now)}` : "");
  } catch (e) {
    if (mine === last) said.textContent = e.message;
  }
}

function offer(name) {
  const option = document.createElement("option");
  option.textContent = name;
  form.elements.model.append(option);
}

async function upload(file) {
  said.textContent = "reading " + file.name;
  try {
    const reply = await call("/v1/models?name=" + encodeURIComponent(file.name),
      {method: "POST", headers: {"Content-Type": "application/octet-stream"}, body: file});
    offer(reply.model);
    form.elements.model.value = reply.model;
    ask();
  } catch (e) {
    said.textContent = e.message;
  }
}

async function begin() {
  try {
    for (const name of await call("/v1/models")) offer(name);
  } catch (e) {
    said.textContent = e.message;
  }
  const address = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of address) if (form.elements[name]) form.elements[name].value = value;
  kept = address.get("beside") || "";
  ask();
}

const drop = document.getElementById("drop");
drop.addEventListener("dragover", e => { e.preventDefault(); drop.classList.add("over"); });
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
drop.addEventListener("drop", e => {
  e.preventDefault();
  drop.classList.remove("over");
  if (e.dataTransfer.files[0]) upload(e.dataTransfer.files[0]);
});
document.getElementById("file").addEventListener("change", e => e.target.files[0] && upload(e.target.files[0]));
document.getElementById("token").addEventListener("change", begin);
document.getElementById("keep").addEventListener("click", () => {
  kept = kept ? "" : String(new URLSearchParams(new FormData(form)));
  ask();
});
form.addEventListener("change", e => e.target.name && ask());
form.addEventListener("submit", e => e.preventDefault());
begin();
