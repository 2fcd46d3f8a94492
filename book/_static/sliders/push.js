// Which way noise on the neurons pushes a row: not by the sign of the kurtosis alone.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const {abs, max, floor, round} = Math, {sum, range, linspace, fourPoint, smallestSixth, push, turningDepth, generator, normals} = window.superposition;
  const {frame, slider, axes, shape, line, words, number} = window.superposition.drawing;

  frame("push", "Does this noise make encodings sparse?", panel => {
    const k = slider(panel, "excess kurtosis *k*", {low: -1.9, high: 2, value: -1, step: 0.1});
    const more = slider(panel, "sixth cumulant *κ_6*", {low: -18, high: 42, value: 28, step: 1});
    const depth = slider(panel, "depth *b* of the shut output", {low: 0.1, high: 3.4, value: 2.5, step: 0.05});
    const m = 8, uniform = generator(3), rows = range(24).map(() => normals(m, uniform)), depths = linspace(0, 3.5, 71);
    const known = new Map();
    return width => {
      const least = smallestSixth(k.value), kappa6 = max(more.value, least), law = fourPoint(k.value, kappa6), name = `${k.value} ${kappa6}`;
      if (!known.has(name)) {
        const each = rows.map(u => push(u, depths, law));
        known.set(name, depths.map((_, i) => sum(each, found => found[i]) / rows.length));
      }
      const found = known.get(name), size = max(...found.map(abs)) * 1.1 || 1, b = depth.value;
      const stacked = width < 560, left = stacked ? width : 0.32 * width, far = max(3, law.points[3] * 1.15);
      const shown = axes({left: 30, top: 26, width: left - 50, height: stacked ? 90 : 210, title: "the noise on one neuron",
        x: {limits: [-far, far], ticks: [-floor(far), 0, floor(far)], label: "*ξ* / *σ*"}, y: {limits: [0, 0.55], ticks: [], label: "probability", room: 12}});
      law.points.forEach((point, i) => shown.group.append(line(shown.toX(point), shown.toY(0), shown.toX(point),
        shown.toY(law.probabilities[i]), {stroke: "var(--blue)", "stroke-width": 4}),
        shape("circle", {cx: shown.toX(point), cy: shown.toY(law.probabilities[i]), r: 5, fill: "var(--blue)"})));
      const top = stacked ? 194 : 26, start = stacked ? 62 : left + 62, tick = Number((size / 1.5).toPrecision(1));
      const chart = axes({left: start, top, width: width - start - 14, height: 210, title: "what it does to a shut output’s row",
        x: {limits: [0, 3.5], ticks: [0, 1, 2, 3], label: "depth *b*"},
        y: {limits: [-size, size], ticks: [-tick, 0, tick], label: "push / *σ*²", room: 46}});
      const zero = chart.toY(0), band = (lower, fill) => shape("rect", {x: start, width: width - start - 14, y: lower ? zero : top, height: 105, fill, "fill-opacity": 0.13});
      chart.group.prepend(band(false, "var(--blue)"), band(true, "var(--orange)"));
      chart.line(depths.map((d, i) => [d, found[i]]), {stroke: "var(--ink)"});
      chart.group.append(line(start, zero, width - 14, zero), words("sparser", width - 18, top + 16, {anchor: "end"}),
        words("denser", width - 18, top + 202, {anchor: "end"}));
      const turn = turningDepth(m, k.value, kappa6), here = found[round(b / 0.05)];
      if (turn < 3.5) chart.group.append(line(chart.toX(turn), top, chart.toX(turn), top + 210, {"stroke-dasharray": "5 4"}));
      chart.group.append(shape("circle", {cx: chart.toX(b), cy: chart.toY(here), r: 6, fill: here > 0 ? "var(--blue)" : "var(--orange)", stroke: "var(--ink)"}));
      const way = value => value > 0 ? "sparser" : "denser", rule = k.value === 0 ? "neither way" : way(-k.value);
      const limited = more.value < least ? ` No law has a smaller <i>κ</i><sub>6</sub> at this <i>k</i> than ${number(least)}, which is shown.` : "";
      return {height: top + 258, parts: [shown.group, chart.group],
        label: `Push on the fourth norm against the depth of the output. At depth ${number(b)} the noise makes rows ${way(here)}; the sign of k alone says ${rule}.`,
        below: `<p>At this depth the noise makes rows <b>${way(here)}</b> (push ${number(here, 2)} <i>σ</i>²). The sign of <i>k</i> alone says: ` +
          `<b>${rule}</b>. ${turn > 0 ? `The first two orders turn at <i>b</i> = ${number(turn)} (dashed).` : "The first two orders turn nowhere."}${limited}</p>` +
          `<p>Four points, ±${number(law.points[3])} <i>σ</i> with probability ${number(law.probabilities[3], 2)} each and ` +
          `±${number(law.points[2])} <i>σ</i>; exact, mean of 24 random rows of ${m} neurons.</p>`};
    };
  });
});
