// Networks measured whole, the sums of their operations, and predictions; how measuring went.
const QUANTITY_UNITS = { time: "s", energy: "J", memory: "B" }, WHICH = ["measured", "sum", "predicted"];
const WHICH_COLOURS = { measured: "c7", sum: "c0", predicted: "c1" };
const networks = data.networks, first = networks[0];
const known = f => f && f.value !== null && f.value !== undefined;
const setOf = n => `${n.device}, ${n.engine}, ${n.setting}`;
const several = new Set(networks.map(setOf)).size > 1;
const nameOf = n => several ? `${n.model}, ${setOf(n)}` : n.model;
const errorOf = (q, which) => known(q[which]) && known(q.measured) ? q[which].value / q.measured.value - 1 : null;
const signed = v => v === null ? "-" : `${v < 0 ? "" : "+"}${(100 * v).toFixed(1)} %`;
// Value and one sigma on each side, as an estimate.
const withSigma = (f, unit) => known(f) ? { value: f.value, unit,
  low: f.sigma > 0 ? f.value - f.sigma : null, high: f.sigma > 0 ? f.value + f.sigma : null } : null;

byId("title").textContent = document.title = "Summed, measured, predicted";
byId("lead").textContent = `${networks.length} ${several ? "measurements" : networks.length === 1 ? "network" : "networks"}, ` +
  `${first.mode === "training" ? "one training step" : "one forward pass"}${several ? "" : `, ${first.engine} ${first.engine_version}, ${first.setting}, ${first.device}`}`;

function drawSummary() {
  const rows = data.summary.filter(s => s.errors.n > 0), e = k => ({ name: k.name, of: s => s.errors[k.key], cell: s => k.text(s.errors[k.key]) });
  section("How far off", sortable([{ name: "against measured", left: true, of: s => `${s.quantity}, ${s.estimate}` },
    { name: "networks", of: s => s.errors.n }, ...[["MAPE", "mape", percent], ["median", "median_ape", percent], ["max", "max_ape", percent],
      ["bias", "bias", signed], ["R2", "r2", v => shown(v)]].map(([name, key, text]) => e({ name, key, text }))], rows, 20));
}

// A group of bars a network, in units of what was measured; lines are one sigma.
function drawBars(quantity) {
  return w => {
    const rows = networks.filter(n => known(n[quantity].measured) && n[quantity].measured.value > 0), unit = QUANTITY_UNITS[quantity];
    const left = Math.min(200, w * .3), bar = 13, group = 3 * bar + 18, top = 30, right = 120;
    const ends = rows.flatMap(n => WHICH.filter(k => known(n[quantity][k])).map(k =>
      (n[quantity][k].value + (n[quantity][k].sigma || 0)) / n[quantity].measured.value));
    const x = axis(0, Math.min(3, Math.max(1, ...ends)), left, w - right), h = top + rows.length * group + 6;
    const s = picture(w, h, `${quantity} of ${rows.length} networks: measured whole, operations summed, predicted, in units of what was measured`);
    for (const v of x.ticks)
      s.append(svg("line", { x1: x.at(v), x2: x.at(v), y1: top - 8, y2: h, class: Math.abs(v - 1) < 1e-9 ? "limit" : "grid" }),
        svg("text", { x: x.at(v), y: top - 12, "text-anchor": "middle", class: "faint" }, shown(v)));
    rows.forEach((n, i) => {
      const q = n[quantity], y0 = top + i * group, fit = Math.floor(left / 6.6), name = nameOf(n);
      [n.model, ...several ? [n.device, n.setting] : []].forEach((part, k) =>
        s.append(tip(svg("text", { x: left - 8, y: y0 + (several ? k + 1 : 2) * bar - 3, "text-anchor": "end", class: k ? "faint" : "" },
          part.length > fit ? `\u2026${part.slice(1 - fit)}` : part), name)));
      WHICH.forEach((k, j) => {
        if (!known(q[k])) return;
        const ratio = q[k].value / q.measured.value, y = y0 + j * bar, sigma = (q[k].sigma || 0) / q.measured.value;
        const r = svg("rect", { x: x.at(0), y, width: Math.max(1, x.at(Math.min(ratio, x.hi)) - x.at(0)), height: bar - 2, class: k });
        r.style.fill = `var(--${WHICH_COLOURS[k]})`;
        s.append(tip(r, `${name}, ${k}: ${shown(q[k].value, unit)}, ${ratio.toFixed(3)} of what was measured`));
        const low = x.at(Math.min(x.hi, Math.max(0, ratio - sigma))), high = x.at(Math.min(x.hi, ratio + sigma));
        if (sigma > 0) s.append(svg("path", { d: `M${low} ${y + 2}v${bar - 6}M${low} ${y + bar / 2 - 1}H${high}M${high} ${y + 2}v${bar - 6}`,
          stroke: "var(--ink)", fill: "none" }));
        s.append(svg("text", { x: Math.max(x.at(Math.min(ratio, x.hi)), high) + 6, y: y + bar - 3, class: "faint" },
          shown(q[k].value, unit) + (j ? `, ${signed(ratio - 1)}` : "")));
      });
    });
    return s;
  };
}
const legend = () => keys(WHICH.filter(k => networks.some(n => known(n.time[k]))).map(k => [WHICH_COLOURS[k],
  { measured: "measured whole", sum: "operations summed", predicted: "predicted" }[k]]));
function drawAllBars() {
  for (const quantity of Object.keys(QUANTITY_UNITS)) {
    if (!networks.some(n => known(n[quantity].measured) && n[quantity].measured.value > 0)) continue;
    const host = html("div");
    section(`${quantity[0].toUpperCase()}${quantity.slice(1)} in units of what was measured`, legend(), host);
    drawing(host, w => drawBars(quantity)(Math.min(w, 900)));
  }
}

// The same network at several clocks.
const clockOf = n => Number((n.setting.match(/\bclock=([0-9.]+)MHz/) || [])[1]) || null;
function drawClocks() {
  const groups = {};
  for (const n of networks) if (clockOf(n)) (groups[`${n.model}, ${n.device}, ${n.engine}`] ||= []).push(n);
  const all = Object.entries(groups).filter(([, v]) => v.length > 1);
  if (!all.length) return;
  const s = section("By clock", legend()), two = html("div", undefined, "two");
  s.append(two);
  for (const [name, v] of all) for (const quantity of ["time", "energy"]) {
    if (!known(v[0][quantity].measured)) continue;
    const figure = html("div"), host = html("div");
    figure.append(html("h3", `${name}: ${quantity}`), host);
    two.append(figure);
    v.sort((p, q) => clockOf(p) - clockOf(q));
    drawing(host, w => {
      const h = 240, box = { l: 70, r: w - 16, t: 24, b: h - 40 };
      const ends = v.flatMap(n => WHICH.filter(k => known(n[quantity][k])).map(k => n[quantity][k].value + (n[quantity][k].sigma || 0)));
      const x = axis(clockOf(v[0]), clockOf(v[v.length - 1]), box.l + 10, box.r - 10), y = axis(0, Math.max(...ends), box.b, box.t);
      const p = picture(w, h, `${quantity} of ${name} at ${v.length} core clocks`);
      frame(p, x, y, box, "", QUANTITY_UNITS[quantity], "core clock in MHz", quantity);
      for (const k of WHICH) {
        const there = v.filter(n => known(n[quantity][k])), at = n => [x.at(clockOf(n)), y.at(n[quantity][k].value)];
        p.append(svg("path", { d: there.map((n, i) => `${i ? "L" : "M"}${at(n)}`).join(""), fill: "none", stroke: `var(--${WHICH_COLOURS[k]})` }));
        for (const n of there) {
          const f = n[quantity][k], c = svg("circle", { cx: at(n)[0], cy: at(n)[1], r: k === "measured" ? 4.5 : 2.5 });
          c.style.fill = `var(--${WHICH_COLOURS[k]})`;
          if (f.sigma > 0) p.append(svg("line", { x1: at(n)[0], x2: at(n)[0], y1: y.at(f.value - f.sigma), y2: y.at(f.value + f.sigma), stroke: "var(--ink)" }));
          p.append(tip(c, `${k}: ${shown(f.value, QUANTITY_UNITS[quantity])}`));
        }
      }
      return p;
    });
  }
}

function drawTables() {
  const rows = networks.flatMap(n => Object.entries(QUANTITY_UNITS).filter(([q]) => known(n[q].measured) || known(n[q].sum))
    .map(([q, unit]) => ({ n, q, unit, ...n[q] })));
  section("Networks", sortable([{ name: "network", left: true, of: r => nameOf(r.n) }, { name: "quantity", left: true, of: r => r.q },
    { name: "measured", of: r => r.measured?.value ?? null, cell: r => shown(r.measured?.value, r.unit) },
    ...["sum", "predicted"].flatMap(k => [{ name: k, of: r => r[k]?.value ?? null, cell: r => shown(r[k]?.value, r.unit) },
      { name: `${k}: error`, of: r => errorOf(r, k), cell: r => signed(errorOf(r, k)) }]),
    { name: "operations priced", of: r => r.n.priced, cell: r => r.q === "time" ? `${r.n.priced} of ${r.n.operations}` : "" }], rows, 40));
  const fitted = data.kinds.length && data.kinds[0].factor !== null;
  section("Kinds", html("p", fitted ? "Which kinds explain the difference: how long each takes in the networks over how long it takes alone " +
    "(non-negative least squares, held at 1 where the networks say nothing), and what that adds." :
    "Shares of the sum. Which kinds explain the difference is computed from three networks on."),
  sortable([{ name: "kind", left: true, of: k => `${k.kind}${k.phase === "forward" ? "" : ` ${k.phase}`}` }, { name: "networks", of: k => k.networks },
    { name: "share of sum", of: k => k.share, cell: k => percent(k.share) },
    ...fitted ? [{ name: "in the network/alone", of: k => k.factor, cell: k => shown(k.factor) },
      { name: "adds to the difference", of: k => k.effect, cell: k => signed(k.effect) }] : []], data.kinds, 20));
  const unpriced = networks.flatMap(n => n.unpriced.map(u => ({ n, ...u })));
  if (unpriced.length)
    section("Not in the sums", sortable([{ name: "operation", left: true, cls: "spec", of: u => u.spec, cell: u => html("code", u.spec) },
      { name: "count", of: u => u.count }, { name: "network", left: true, of: u => u.n.model }, { name: "why", left: true, cls: "spec", of: u => u.why }], unpriced, 20));
}

// ---- how measuring went ----
// Points (x, y), hollow where they leave the picture.
function points(s, all, x, y, text) {
  for (const [px, py, cls, out] of all)
    s.append(tip(svg("circle", { cx: x.at(px), cy: y.at(Math.min(y.hi, Math.max(y.lo, py))), r: 3, class: `dot ${cls}`,
      ...out ? { style: "fill: none; stroke: var(--dot)" } : {} }), text(py)));
}
function drawLine() {
  const l = data.line, s = section("Proportionality");
  if (!l) { s.append(html("p", `Not measured: ${data.no_line}.`, "note")); return; }
  const host = html("div"), band = 5 * Math.max(l.sigma, .002), most = Math.max(.01, 3 * band);
  s.append(host, html("p", `Batches of ${data.spec}: how far their duration is from a line fitted to the long ones (${shown(l.slope_s, "s")} an ` +
    "iteration). The band is five sigma about the line; hollow points lie outside of the picture. Batches are never measured shorter than the dashed line.", "note"));
  drawing(host, width => {
    const w = Math.min(width, 760), h = 260, box = { l: 74, r: w - 16, t: 24, b: h - 40 };
    const x = axis(l.duration_s[0], l.duration_s[l.n - 1], box.l, box.r, true), y = axis(-most, most, box.b, box.t);
    const p = picture(w, h, `deviation of ${l.n} batches from proportionality; from ${shown(l.floor_s, "s")} on all are within five sigma`);
    p.append(svg("rect", { x: box.l, width: box.r - box.l, y: y.at(band), height: y.at(-band) - y.at(band), style: "fill: var(--range); fill-opacity: .35" }));
    frame(p, x, y, box, "s", "%", "duration of a batch", "deviation");
    p.append(svg("line", { x1: x.at(l.floor_s), x2: x.at(l.floor_s), y1: box.t, y2: box.b, class: "limit" }),
      svg("text", { x: x.at(l.floor_s) + 5, y: box.t + 12, class: "over" }, `proportional from ${shown(l.floor_s, "s")} on`));
    points(p, l.duration_s.map((d, i) => [d, l.deviation[i], "measured", Math.abs(l.deviation[i]) > most]), x, y, signed);
    return p;
  });
}
// Mean and scatter; of those within three sigma of the first pass.
function moments(values, centre, limit) {
  const kept = values.filter(v => Math.abs(v - centre) <= limit), mean = kept.reduce((p, v) => p + v, 0) / kept.length;
  return { mean, std: kept.length > 1 ? Math.sqrt(kept.reduce((p, v) => p + (v - mean) ** 2, 0) / (kept.length - 1)) : 0 };
}
function drawPower() {
  const all = networks.filter(n => n.power.length > 1), s = section("Power over time");
  if (!all.length) { s.append(html("p", "No readings of power in the store for these networks.", "note")); return; }
  for (const n of all) {
    const host = html("div"), values = n.power.map(r => r[1]), whole = moments(values, 0, Infinity), used = moments(values, whole.mean, 3 * whole.std);
    s.append(html("h3", nameOf(n)), host);
    drawing(host, width => {
      const w = Math.min(width, 760), h = 220, box = { l: 74, r: w - 16, t: 24, b: h - 40 }, high = whole.mean + 3 * whole.std;
      const x = axis(n.power[0][0], n.power[n.power.length - 1][0], box.l, box.r), y = axis(0, Math.max(high, ...values), box.b, box.t);
      const p = picture(w, h, `power over time: ${n.power.length} readings, mean ${shown(used.mean, "W")}, scatter ${shown(used.std, "W")}`);
      p.append(svg("rect", { x: box.l, width: box.r - box.l, y: y.at(high), height: y.at(Math.max(0, whole.mean - 3 * whole.std)) - y.at(high),
        style: "fill: var(--range); fill-opacity: .35" }));
      frame(p, x, y, box, "s", "W", "time since measuring began", "power");
      p.append(svg("line", { x1: box.l, x2: box.r, y1: y.at(used.mean), y2: y.at(used.mean), class: "limit" }),
        svg("text", { x: box.r - 4, y: 14, "text-anchor": "end" }, `mean ${shown(used.mean, "W")}, scatter ${shown(used.std, "W")}`));
      points(p, n.power.map(([t, v]) => { const out = Math.abs(v - whole.mean) > 3 * whole.std; return [t, v, out ? "measured beyond" : "measured", out]; }), x, y, v => shown(v, "W"));
      return p;
    });
  }
  s.append(html("p", "The channel is three sigma about the mean; readings outside of it (hollow) are start-up and outliers.", "note"));
}
function drawRounds() {
  const all = networks.filter(n => n.batches.length && n.time.measured.value > 0);
  if (!all.length) return;
  const s = section("Runs laid over each other"), two = html("div", undefined, "two");
  s.append(html("p", "Every batch of every round, relative to the median of all; between the rounds operations were measured.", "note"), two);
  for (const n of all) {
    const figure = html("div"), host = html("div"), one = n.time.measured.value;
    figure.append(html("h3", nameOf(n)), host);
    two.append(figure);
    drawing(host, w => {
      const h = 230, box = { l: 60, r: w - 12, t: 26, b: h - 40 }, ratio = b => b[1] / one - 1;
      const flat = n.batches.flat(), x = axis(0, Math.max(...flat.map(b => b[0])), box.l, box.r);
      const y = axis(Math.min(-.01, ...flat.map(ratio)), Math.min(.25, Math.max(.01, ...flat.map(ratio))), box.b, box.t);
      const p = picture(w, h, `time of a pass in ${n.batches.length} rounds laid over each other, relative to their median ${shown(one, "s")}`);
      frame(p, x, y, box, "s", "%", "since the round began", "");
      n.batches.forEach((round, k) => {
        p.append(svg("path", { d: round.map((b, i) => `${i ? "L" : "M"}${x.at(b[0]).toFixed(1)} ${y.at(Math.min(y.hi, ratio(b))).toFixed(1)}`).join(""),
          class: "round", fill: "none", stroke: `var(--c${k % 7})` }));
        if (k < 6) p.append(svg("text", { x: box.l + 4 + 56 * k, y: 12, style: `fill: var(--c${k % 7})` }, `round ${k + 1}`));
      });
      return p;
    });
  }
}
drawSummary();
drawAllBars();
drawClocks();
drawTables();
drawLine();
drawPower();
drawRounds();
