// What partners that meet, or never do, change.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const {linspace, optimum, linearLoss} = window.superposition;
  const {frame, slider, axes, shape, line, words, table, key, number} = window.superposition.drawing;

  // Groups of four features, each on with probability 0.05, in a quarter as many dimensions.
  const [p, r, G, STEP] = [0.05, 0.25, 4, 0.025];
  // superposition.correlated.grouped_rug at s = 0, STEP, 2 STEP, ... 1: a search too long for a slider.
  const GROUPED = {
    loss: [
      0.005224909, 0.005375004, 0.005523547, 0.005671272, 0.005724779, 0.0056757, 0.005619702, 0.005557811,
      0.005490692, 0.005418832, 0.00534262, 0.005262378, 0.005178384, 0.005090885, 0.0050001, 0.004906228,
      0.004809454, 0.004709946, 0.004607861, 0.004503344, 0.004396534, 0.004287557, 0.004176537, 0.004063586,
      0.003948814, 0.003832323, 0.003714213, 0.003594576, 0.003473501, 0.003351075, 0.003227379, 0.00310249,
      0.002976486, 0.002849436, 0.00272141, 0.002592474, 0.002462689, 0.002332115, 0.002200805, 0.00206881,
      0.001936173,
    ],
    own: [
      1.253, 1.2596, 1.2668, 1.2742, 1.2386, 1.2269, 1.2143, 1.2011, 1.1875, 1.1738, 1.1599, 1.1461, 1.1322, 1.1183,
      1.1046, 1.0909, 1.0774, 1.064, 1.0508, 1.0377, 1.0248, 1.012, 0.99939, 0.98696, 0.9747, 0.96259, 0.95065,
      0.93886, 0.92722, 0.91572, 0.90436, 0.89312, 0.88199, 0.87097, 0.86005, 0.84919, 0.8384, 0.82764, 0.81689,
      0.80613, 0.79531,
    ],
    partner: [
      -0.41766, -0.41986, -0.42227, -0.42473, 0.14081, 0.1586, 0.17097, 0.18022, 0.18745, 0.19326, 0.19803, 0.20201,
      0.20537, 0.20821, 0.21064, 0.21271, 0.21449, 0.21601, 0.21731, 0.21841, 0.21933, 0.22011, 0.22074, 0.22126,
      0.22166, 0.22196, 0.22217, 0.22229, 0.22234, 0.22231, 0.22222, 0.22207, 0.22186, 0.22159, 0.22128, 0.22091,
      0.2205, 0.22004, 0.21954, 0.219, 0.21841,
    ],
  };
  // Mean loss of five trained networks of 64 features each, of the run together-loss, by s.
  const TRAINED = [[0, 0.003360003], [0.025, 0.003603158], [0.05, 0.003716418], [0.1, 0.003695895], [0.2, 0.003590136], [0.5, 0.002990694], [1, 0.001301117]];

  const rug = optimum(p, r).loss, near = (one, other) => Math.abs(one - other) < STEP / 2;
  /** Loss of the best linear code, as superposition.correlated.linear_loss. */
  function linear(s) {
    const rho = (s - p) / (4 / 3 - p), V = linearLoss(p, 0), levels = [V * (1 + (G - 1) * rho), V * (1 - rho)];
    const share = rho > 0 ? 1 / G : 1 - 1 / G;  // of the larger one
    return Math.max(...levels) * Math.max(share - r, 0) + Math.min(...levels) * Math.min(1 - r, 1 - share);
  }
  window.superposition.together = {p, r, G, STEP, GROUPED, TRAINED, linear};

  frame("together", "What do partners change?", panel => {
    const s = slider(panel, "*s*: how often a partner is on with you", {low: 0, high: 1, value: 0.2, step: STEP});
    return width => {
      const at = s.value, i = Math.round(at / STEP), [loss, own, partner] = ["loss", "own", "partner"].map(name => GROUPED[name][i]);
      const trained = TRAINED.find(([there]) => near(there, at))?.[1];
      const chart = axes({left: 56, top: 12, width: width - 70, height: 250,
        x: {limits: [0, 1], ticks: [0, 0.2, 0.4, 0.6, 0.8, 1], label: "*s*"},
        y: {limits: [0, 2.2], ticks: [0, 0.5, 1, 1.5, 2], label: "loss / rug", room: 36}});
      const drawn = (x, y, fill, size) => shape("circle", {cx: chart.toX(x), cy: chart.toY(y / rug), r: size, fill, stroke: "var(--paper)"});
      chart.line(linspace(0, 1, 81).map(x => [x, linear(x) / rug]), {stroke: "var(--ink)", "stroke-dasharray": "2 4"});
      chart.line([[0, 1], [1, 1]], {stroke: "var(--blue)"});
      chart.line(GROUPED.loss.map((value, k) => [k * STEP, value / rug]), {stroke: "var(--green)", "stroke-dasharray": "7 4"});
      chart.group.append(line(chart.toX(p), 12, chart.toX(p), 262, {"stroke-dasharray": "1 3"}),
        words("independent", chart.toX(p) + 5, 255, {anchor: "start", size: 12}),
        line(chart.toX(at), 12, chart.toX(at), 262, {stroke: "var(--line)"}),
        ...TRAINED.map(([x, value]) => drawn(x, value, "var(--vermilion)", 4)),
        drawn(at, linear(at), "var(--ink)", 5), drawn(at, rug, "var(--blue)", 5), drawn(at, loss, "var(--green)", 6));
      const row = (mark, name, value, ...weights) => [mark + name, number(value), number(value / rug), ...weights, ...["", ""].slice(weights.length)];
      return {height: 312, parts: [chart.group],
        label: `Loss over the rug's against s, at p = ${p} and r = ${r}. At s = ${number(at)} the best linear code has ` +
          `${number(linear(at) / rug)} and the grouped rug ${number(loss / rug)}.`,
        below: table(["", "loss", "/ rug", "own", "partner"], [
          row(key("var(--ink)", "2 4"), "best linear", linear(at)), row(key("var(--blue)", ""), "rug", rug),
          row(key("var(--green)", "7 4"), "grouped rug", loss, number(own), number(partner)),
          trained ? row(key("var(--vermilion)", "", true), "trained", trained) :
            [`${key("var(--vermilion)", "", true)}trained`, "not at this <i>s</i>", "", "", ""]]) +
          `<p>Partners ${partner < 0 ? "<b>point away</b> from each other" : "<b>add</b>"} (own and partner: weights). Groups of ${G}, <i>p</i> = ${p}, ` +
          `<i>r</i> = ¼. Lines are for many features; trained are five networks of 64.</p>`};
    };
  });
});
