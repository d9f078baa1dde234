// The page of foretell serve: its controls are arguments of /v1/rank, and stand in the address; one device in detail is
// what predict --html draws (src/report/page).
const form = byId("asked"), said = byId("said");
const SERVED = ["prompt", "generate", "concurrency", "precision"], RUN = ["batch", "dtype", "mode"];
let last = 0;
let kept = ""; // the controls of what is compared with, as they stand in an address

async function call(path, options = {}) {
  const token = byId("token").value;
  const reply = await fetch(path, { ...options, headers: { ...options.headers, ...token && { Authorization: `Bearer ${token}` } } });
  const value = await reply.json();
  if (reply.status === 401) byId("locked").hidden = false;
  if (!reply.ok) throw new Error(value.message);
  return value;
}
const isServed = controls => SERVED.some(name => controls.get(name));
// A tool's answer to what the controls say, without those that it does not take.
function ask(tool, controls, without, more) {
  const out = { ...more };
  for (const [name, value] of controls)
    if (value && !without.includes(name)) out[name] = name === "price" ? value.split(/[\s,]+/).filter(Boolean) : value;
  return call(`/v1/${tool}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(out) });
}
const rank = controls => ask("rank", controls, isServed(controls) ? RUN : [...SERVED, "tp"]);

// ---- devices compared ----
const plain = (value, unit = "") => ({ value, low: null, high: null, unit });
// One form for what runs once and what is served: estimates x and y, then further columns.
function pointsOf(record) {
  const state = c => c.state === "placed" ? "" : [label(c.state), c.limit, c.why?.replace(/^it does not fit: /, "")].filter(Boolean).join(": ");
  if (record.choices)
    return record.choices.map(c => ({ name: c.device, device: c.device, front: c.pareto, state: state(c), x: c.values.time, y: c.values.energy,
      cost: plain(c.cost_per_item && 1e6 * c.cost_per_item), more: [c.values.power, c.values.memory] }));
  const all = [...record.placed, ...record.others], several = new Set(all.map(c => c.concurrency)).size > 1;
  return all.map(c => ({ front: c.pareto, state: state(c),
    name: `${c.device}${c.tp > 1 ? ` x ${c.tp}` : ""}${several ? `, ${c.concurrency} at once` : ""}${c.precision ? `, ${c.precision}` : ""}`,
    x: c.served?.tpot.mean ?? plain(null), y: c.served?.joules_per_token ?? plain(null), cost: c.served?.cost_per_million_tokens ?? plain(null),
    more: [c.served?.ttft.mean, c.served?.tokens_per_s] }));
}
const label = name => name.replaceAll("_", " ");
function columnsOf(all, before, served) {
  const estimates = (name, of) => {
    const most = mostOf(all.map(of));
    return { name, of: p => of(p)?.value ?? null, cell: p => estimateCell(of(p), most, 80) };
  };
  const ratio = (name, of) => ({ name, of: p => of(p), cell: p => percent(of(p)) });
  const other = p => before.find(q => q.name === p.name);
  const share = k => p => other(p)?.[k].value > 0 && p[k].value > 0 ? p[k].value / other(p)[k].value : null;
  const [x, y, ...more] = served ? ["a token", "energy of a token", "first token", "tokens a second"] : ["time", "energy", "power", "memory"];
  return [{ name: "device", left: true, of: p => p.name, cell: p => html("span", p.name, p.front ? "best" : "") },
    estimates(x, p => p.x), ...before ? [ratio(`${x}, of the one kept`, share("x"))] : [],
    estimates(y, p => p.y), ...before ? [ratio(`${y}, of the one kept`, share("y"))] : [],
    ...all.some(p => p.cost.value > 0) ? [estimates(served ? "cost of a million tokens" : "cost of a million items", p => p.cost)] : [],
    ...more.map((name, k) => estimates(name, p => p.more[k])),
    ...all.some(p => p.state) ? [{ name: "", left: true, of: p => p.state, cls: "spec left" }] : []];
}
function showCompared(record, before, served) {
  const all = pointsOf(record), most = Math.max(0, ...all.map(p => p.cost.value || 0));
  const points = [...(before || []).map(p => ({ ...p, kept: true })), ...all].filter(p => p.x.value > 0 && p.y.value > 0)
    .map(p => ({ ...p, r: most && p.cost.value > 0 ? 3 + 9 * Math.sqrt(p.cost.value / most) : undefined }));
  drawn.length = 0;
  byId("compared").hidden = false;
  byId("plot").replaceChildren();
  if (points.length)
    drawing(byId("plot"), w => scatter(Math.min(w, 820), points, served ? "time of a token" : "time", served ? "energy of a token" : "energy"));
  byId("plotted").textContent = "Lines and bars: 90 % intervals. Orange: nothing is better in time, energy and cost at once." +
    (most ? " Larger circles cost more." : "") + (before ? " Dashed: what was kept." : "");
  byId("table").replaceChildren(sortable(columnsOf(all, before, served), all, 40));
  byId("notes").replaceChildren(...[["assumptions", ""], ["warnings", "warning"]].filter(([k]) => record[k]?.length)
    .map(([k, cls]) => list(record[k], cls)));
  return all;
}
// In which controls what is shown differs from what was kept.
function difference(now) {
  const before = new URLSearchParams(kept);
  return [...now].filter(([name, value]) => (before.get(name) || "") !== value)
    .map(([name, value]) => `${name} ${value || "-"} (kept: ${before.get(name) || "-"})`).join(", ") || "nothing";
}

// ---- one device in detail ----
async function showDetail(mine) {
  const controls = new URLSearchParams(new FormData(form)), device = byId("of").value;
  const page = await ask("report", controls, [...SERVED, "tp", "devices", "price"], { device });
  if (mine !== last) return;
  drawn.length = Math.min(drawn.length, 1); // the plot
  byId("main").replaceChildren();
  takeAnswers(page);
  drawTop();
  drawCompared();
  firstDrawn = drawn.length;
  drawDetail();
}
function offerDetail(all) {
  const names = [...new Set(all.filter(p => p.device && p.x.value > 0).map(p => p.device))], chosen = byId("of").value;
  byId("of").replaceChildren(...names.map(n => new Option(n)));
  if (names.includes(chosen)) byId("of").value = chosen;
  byId("detail").hidden = !names.length;
  byId("main").replaceChildren();
  return names.length > 0;
}

// Complaints go where people look; of what was asked meanwhile only the newest counts.
async function tell(mine, work) {
  try {
    await work();
  } catch (e) {
    if (mine === last) said.textContent = e.message;
  }
}
function show() {
  const mine = ++last, now = new URLSearchParams(new FormData(form)), served = isServed(now), keep = byId("keep");
  history.replaceState(null, "", `#${now}${kept ? `&beside=${encodeURIComponent(kept)}` : ""}`);
  keep.setAttribute("aria-pressed", kept !== "");
  keep.textContent = kept ? "Drop what was kept" : "Keep this, to compare it with what comes next";
  if (!now.get("model")) return;
  said.textContent = "...";
  tell(mine, async () => {
    const [record, other] = await Promise.all([rank(now), kept && rank(new URLSearchParams(kept))]);
    if (mine !== last) return;
    const all = showCompared(record, other && pointsOf(other), served);
    said.textContent = `${nameOf(now.get("model"))}: ${served ? "a token of each user" : record.step} on ${all.length} devices or settings` +
      (other ? `; other than what was kept: ${difference(now)}` : "");
    if (offerDetail(all)) await showDetail(mine);
  });
}

// ---- models ----
const nameOf = model => model.replace(/^upload-[0-9a-f]{32}-/, "");
async function upload(file) {
  said.textContent = `reading ${file.name}`;
  tell(++last, async () => {
    const reply = await call(`/v1/models?name=${encodeURIComponent(file.name)}`,
      { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
    form.elements.model.append(new Option(nameOf(reply.model), reply.model));
    form.elements.model.value = reply.model;
    show();
  });
}
async function begin() {
  await tell(last, async () => {
    form.elements.model.replaceChildren(...(await call("/v1/models")).map(name => new Option(nameOf(name), name)));
    const devices = await ask("devices", [], []);
    byId("known").replaceChildren(...devices.map(d => new Option(d.title, d.name)));
    const address = new URLSearchParams(location.hash.slice(1));
    for (const [name, value] of address) if (form.elements[name]) form.elements[name].value = value;
    kept = address.get("beside") || "";
    show();
  });
}

const drop = byId("drop");
drop.addEventListener("dragover", e => { e.preventDefault(); drop.classList.add("over"); });
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
drop.addEventListener("drop", e => {
  e.preventDefault();
  drop.classList.remove("over");
  if (e.dataTransfer.files[0]) upload(e.dataTransfer.files[0]);
});
byId("file").addEventListener("change", e => e.target.files[0] && upload(e.target.files[0]));
byId("token").addEventListener("change", begin);
byId("of").addEventListener("change", () => tell(++last, () => showDetail(last)));
byId("add").addEventListener("change", e => {
  const names = form.elements.devices.value.split(",").map(n => n.trim()).filter(Boolean);
  form.elements.devices.value = [...new Set([...names, e.target.value.trim()])].filter(Boolean).join(",");
  e.target.value = "";
  show();
});
byId("keep").addEventListener("click", () => {
  kept = kept ? "" : String(new URLSearchParams(new FormData(form)));
  show();
});
form.addEventListener("change", e => e.target.name && show());
form.addEventListener("submit", e => e.preventDefault());
begin();
