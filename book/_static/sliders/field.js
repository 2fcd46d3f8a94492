// The best receptive field of one neuron, computed from data.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const {min, round} = Math, {range, criticalGain, nlgpSample, fieldTask, bestField, nIpr, generator, normals} = window.superposition;
  const {frame, slider, axes, shape, line, number} = window.superposition.drawing;

  frame("field", "When does a receptive field localize?", panel => {
    const gain = slider(panel, "gain *g*", {low: 0.05, high: 10, value: 1, log: true});
    const xi1 = slider(panel, "length *ξ*₁ (label 1), pixels", {low: 1, high: 3.6, value: 2, step: 0.1});
    const xi2 = slider(panel, "length *ξ*₂ (label 0), pixels", {low: 0.4, high: 3.2, value: 1, step: 0.1});
    const n = 40, uniform = generator(1), white = range(200).map(() => normals(n, uniform)), known = new Map();
    const search = (at, moving) =>  // while something moves: fewer places, one start, few steps
      (moving ? bestField(fieldTask(n, ...at, white, 4), [1.5], 15) : bestField(fieldTask(n, ...at, white))).field;
    return (width, moving) => {
      const [g, one, zero] = [gain.value, xi1.value, min(xi2.value, round(9 * xi1.value) / 10)], name = `${g} ${one} ${zero}`;
      if (!moving && !known.has(name)) known.set(name, search([one, zero, g], false));
      const field = known.get(name) ?? search([one, zero, g], true), ipr = nIpr(field), about = known.has(name) ? "= " : "≈ ";
      const stacked = width < 560, left = stacked ? width : 0.4 * width, group = shape("g");
      [["label 1", one], ["label 0", zero]].forEach(([text, xi], i) => {
        const input = axes({left: 24, top: 26 + i * 96, width: left - 44, height: 60, title: `an input with ${text}`,
          x: {limits: [0, n - 1], ticks: i ? [0, 20, 39] : [], label: i ? "pixel" : ""}, y: {limits: [-2.6, 2.6], ticks: [], label: "*x*", room: 10}});
        input.line(nlgpSample(n, xi, g, [white[7]]).x[0].map((value, pixel) => [pixel, value]), {stroke: "var(--ink)", "stroke-width": 1.5});
        group.append(input.group);
      });
      const top = stacked ? 262 : 26, start = stacked ? 46 : left + 46;
      const chart = axes({left: start, top, width: width - start - 12, height: 190, title: "the best receptive field",
        x: {limits: [-20, 20], ticks: [-20, -10, 0, 10, 20], label: "pixels from the peak"},
        y: {limits: [-0.4, 1.05], ticks: [0, 0.5, 1], label: "weight / peak", room: 34}});
      chart.line(range(41).map(i => [i - 20, field[(i + 20) % n]]), {stroke: "var(--blue)"});
      chart.group.append(line(start, chart.toY(0), width - 12, chart.toY(0)));
      const critical = criticalGain(n, one, zero), side = g > critical ? "above" : "below";
      const threshold = isFinite(critical) ? `The critical gain is <i>g</i><sub>c</sub> = ${number(critical)}: you are <b>${side}</b> it.` :
        "To first order there is no critical gain at these lengths.";
      const limited = zero < xi2.value ? ` <i>ξ</i>₂ is kept at ${number(zero)}, below <i>ξ</i>₁.` : "";
      return {height: top + 240, parts: [group, chart.group],
        label: `Best receptive field of one neuron on a ring of 40 pixels at gain ${number(g)}: n IPR is ${number(ipr)}.`,
        below: `<p><i>n</i> IPR ${about}<b>${number(ipr, known.has(name) ? 3 : 2)}</b>; a flat field has 1, a single pixel ${n}. ${threshold}${limited}</p>`};
    };
  });
});
