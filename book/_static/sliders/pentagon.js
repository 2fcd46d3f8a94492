// Five features in two dimensions, trained before the reader's eyes.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const {sqrt, max, hypot} = Math, {sum, range, variance, generator, toyModel, toyStep, toyLoss, column, overlaps} = window.superposition;
  const {frame, slider, button, axes, shape, line, words, arrow, tint, number} = window.superposition.drawing;

  frame("pentagon", "Five features, two dimensions: train it", panel => {
    const LAST = 3000, n = 5;
    let seed = 1, model = toyModel(n, seed), running = 0, history = [];
    const start = button(panel, "Train", () => {
      if (!running && model.step >= LAST) renew();
      running = running ? 0 : requestAnimationFrame(go);
      start.textContent = running ? "Pause" : "Train";
    });
    const renew = () => {
      model = toyModel(n, ++seed);
      history = [];
      panel.redraw();
    };
    button(panel, "New weights", renew);
    const S = slider(panel, "sparsity *S*", {low: 0, high: 0.97, value: 0.9, step: 0.01});
    const decay = slider(panel, "importance *I_i* = decay to the power *i*", {low: 0.5, high: 1, value: 0.9, step: 0.05});
    const importance = () => range(n).map(i => decay.value ** i);
    const test = range(3000).map((uniform => () => range(n).map(uniform))(generator(9)));
    const measure = () => {
      const p = 1 - S.value, vectors = test.map(u => u.map(x => max(0, (x - S.value) / p)));
      return toyLoss(model.weights, vectors, importance())[0] / (variance(p) * sum(importance().slice(2)));
    };
    function go() {
      for (let i = 0; i < 4; i++) toyStep(model, S.value, importance());
      history.push([model.step, measure()]);
      running = running && model.step < LAST ? requestAnimationFrame(go) : 0;
      if (!running) start.textContent = "Train";
      panel.redraw();
    }
    return width => {
      const W = overlaps(model.weights), value = measure(), stacked = width < 560, side = stacked ? width / 2 : width / 3.3;
      const radius = side * 0.33, [cx, cy] = [side / 2, side / 2 + 8], scale = max(1, ...range(n).map(i => sqrt(W[i][i]) / 1.35));
      const group = shape("g", {}, shape("circle", {cx, cy, r: radius / scale, fill: "none", stroke: "var(--line)"}));
      range(n).forEach(i => {
        const [x, y] = column(model.weights, i).map(w => w * radius / scale), length = hypot(x, y) || 1;
        group.append(arrow(cx, cy, cx + x, cy - y, "var(--blue)"));
        if (length > 0.3 * radius) group.append(words(String(i + 1), cx + x * (1 + 11 / length), cy - y * (1 + 11 / length) + 4, {size: 12}));
      });
      const cell = side * 0.72 / n, left = side + side * 0.16, top = side * 0.14 + 8, matrix = shape("g", {stroke: "var(--line)", "stroke-width": 0.5});
      W.forEach((row, j) => row.forEach((value, i) => matrix.append(
        shape("rect", {x: left + i * cell, y: top + j * cell, width: cell, height: cell, ...tint(value, 1.2)}))));
      const names = shape("g", {}, words("directions *W*ᵢ", cx, side + 16), words("overlaps *W*ⱼ · *W*ᵢ", left + 2.5 * cell, side + 16));
      const far = max(1000, model.step), high = stacked ? 130 : side - 24, chart = axes({left: stacked ? 52 : 2 * side + 56, top: stacked ? side + 40 : 20, height: high,
        width: stacked ? width - 74 : width - 2 * side - 76, x: {limits: [0, far], ticks: [0, 500, 1000, 2000, 3000].filter(tick => tick <= far && (tick !== 500 || far < 1500)), label: "training step"},
        y: {limits: [0, 1.5], ticks: [0, 0.5, 1, 1.5], label: "loss / linear", room: 34}});
      chart.group.append(line(chart.toX(0), chart.toY(1), chart.toX(far), chart.toY(1), {"stroke-dasharray": "2 4"}));
      if (history.length) chart.line(history, {stroke: "var(--vermilion)"});
      const kept = range(n).filter(i => W[i][i] > 0.25).length;
      return {height: stacked ? side + 220 : side + 44, parts: [group, matrix, names, chart.group],
        label: `Five features in two dimensions at sparsity ${number(S.value)}, after ${model.step} steps: ${kept} are kept.`,
        below: `<p>After ${model.step} steps: ${model.step ? `<b>${kept} of 5</b> features kept` : "random weights"}, loss ` +
          `<b>${number(value)}</b> of that of the best linear model, which keeps two. Move <i>S</i> while it trains.</p>`};
    };
  });
});
