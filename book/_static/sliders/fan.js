// Loud features hide quiet ones; at a small ratio of loudness quiet ones disturb the loud.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const {log10, sin, cos, min, max, floor} = Math, {range, optimum, fanLoss, fan, fanAngles, answers, codeLoss} = window.superposition;
  const {frame, slider, axes, shape, element, words, arrow, key, number} = window.superposition.drawing;

  frame("fan", "How loud must the loud be?", panel => {
    const B = slider(panel, "features *B*", {low: 4, high: 12, value: 10, step: 1});
    const ratio = slider(panel, "loudness of each over the next", {low: 1, high: 1000, value: 100, log: true});
    const switches = element("div", {class: "switches", role: "group", "aria-label": "features that are on"});
    const on = new Set([2, 5]);
    panel.add(switches);
    const setUp = () => switches.replaceChildren("on:", ...range(B.value).map(t => {
      const made = element("button", {type: "button", "aria-pressed": on.has(t)}, String(t + 1));
      made.setAttribute("aria-label", `feature ${t + 1}`);
      made.addEventListener("click", () => {
        if (!on.delete(t)) on.add(t);
        made.setAttribute("aria-pressed", on.has(t));
        panel.redraw();
      });
      return made;
    }));
    B.input.addEventListener("input", setUp);
    setUp();
    const p = 0.05, losses = new Map();
    return width => {
      const size = B.value, W = fan(size, ratio.value), x = range(size).map(t => on.has(t) ? 0.8 : 0), y = answers(W, x);
      const stacked = width < 560, side = stacked ? width : width / 2 - 10, radius = min(side * 0.4, 120);
      const [cx, cy] = [side / 2, radius + 22], group = shape("g");
      fanAngles(size).forEach((angle, t) => {
        const length = radius / (1 + 0.16 * t * log10(ratio.value)), [dx, dy] = [cos(angle), -sin(angle)];
        const colour = on.has(t) ? "var(--vermilion)" : "var(--blue)";
        group.append(arrow(cx, cy, cx + length * dx, cy + length * dy, colour),
          words(String(t + 1), cx + (length + 11) * dx, cy + (length + 11) * dy + 4));
      });
      const top = stacked ? 2 * radius + 62 : 24, height = stacked ? 150 : 2 * radius - 22, limit = max(1, ...y) * 1.05;
      const chart = axes({left: (stacked ? 0 : side + 20) + 46, top, width: side - 56, height,
        title: "input (wide) and answer", x: {limits: [0.4, size + 0.6], ticks: range(size).map(t => t + 1), label: "feature, the loudest first"},
        y: {limits: [0, limit], ticks: limit > 1.6 ? [0, 1, floor(limit)] : [0, 0.5, 1], label: "", room: 32}});
      const step = chart.toX(2) - chart.toX(1), bars = (values, share, fill) => values.forEach((value, t) =>
        chart.group.append(shape("rect", {x: chart.toX(t + 1) - share * step / 2, y: chart.toY(value),
          width: share * step, height: top + height - chart.toY(value), fill})));
      bars(x, 0.8, "var(--shade)");
      bars(y, 0.36, "var(--vermilion)");
      const at = `${size} ${ratio.value}`, rug = optimum(p, 2 / size).loss;
      if (!losses.has(at)) losses.set(at, codeLoss(W, p));
      const silent = range(size).filter(t => on.has(t) && y[t] < 0.01), false_ = range(size).filter(t => !on.has(t) && y[t] > 0.02);
      const names = list => list.length ? list.map(t => t + 1).join(", ") : "none";
      return {height: top + height + 46, parts: [group, chart.group],
        label: `A fan of ${size} features, each ${number(ratio.value)} times as loud as the next. Hidden: ${names(silent)}. ` +
          `False answers: ${names(false_)}.`,
        below: `<p>${key("var(--shade)", "", true)} input <i>x</i> ${key("var(--vermilion)", "", true)} answer <i>f</i>(<i>x</i>). ` +
          `Hidden by a louder one: <b>${names(silent)}</b>. Off, and answers more than 0.02 nevertheless: <b>${names(false_)}</b>.</p>` +
          `<p>At <i>p</i> = 0.05 and without a bias the fan has <b>${number(losses.get(at) / rug, 3)}</b> times the loss of the Persian rug ` +
          `with the same <i>r</i> = ${number(2 / size, 2)}; if the loud were infinitely louder, ${number(fanLoss(p, size) / rug, 3)} times.</p>`};
    };
  });
});
