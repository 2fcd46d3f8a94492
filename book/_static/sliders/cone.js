// A cone in space, turned by mouse, finger or keys: the reader of one feature cuts it off from all others.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const {abs, sin, cos, PI, min, floor, round} = Math, {clip, range, linspace, cone} = window.superposition;
  const {frame, slider, axes, shape, path, line, words, arrow, number} = window.superposition.drawing;

  frame("cone", "One plane cuts one arrow off", panel => {
    const B = slider(panel, "features *B*", {low: 5, high: 16, value: 9, step: 1});
    const read = slider(panel, "the one that is read", {low: 1, high: 16, value: 1, step: 1});
    const turn = slider(panel, "turn", {low: -180, high: 180, value: -32, step: 2, show: x => `${number(x)}°`});
    const tilt = slider(panel, "tilt", {low: -10, high: 90, value: 30, step: 2, show: x => `${number(x)}°`});
    B.input.addEventListener("input", () => {
      read.input.max = B.value - 1;
      read.value = min(read.value, B.value);
    });
    read.input.max = B.value - 1;
    let from = null;
    panel.drawing.classList.add("turned");
    panel.drawing.addEventListener("pointerdown", event => {
      from = [event.clientX, event.clientY, turn.value, tilt.value];
      panel.drawing.setPointerCapture(event.pointerId);
    });
    panel.drawing.addEventListener("pointermove", event => {
      if (!from) return;
      turn.value = (from[2] - (event.clientX - from[0]) * 0.8 + 540) % 360 - 180;
      tilt.value = clip(from[3] + (event.clientY - from[1]) * 0.5, -10, 90);
      panel.redraw();
    });
    ["pointerup", "pointercancel"].forEach(name => panel.drawing.addEventListener(name, () => { from = null; }));
    const project = (radius, cx, cy) => ([x, y, z]) => {
      const [azimuth, height] = [turn.value * PI / 180, tilt.value * PI / 180];
      const right = -x * sin(azimuth) + y * cos(azimuth), near = x * cos(azimuth) + y * sin(azimuth);
      return [cx + radius * right, cy - radius * ((z - 0.55) * cos(height) - near * sin(height)), near * cos(height) + z * sin(height)];
    };
    return width => {
      const size = B.value, j = read.value - 1, row = cone(size)[j];
      const stacked = width < 560, side = stacked ? width : width / 2 - 10, radius = min(side * 0.36, 110);
      const at = project(radius, side / 2, radius * 1.25 + 8), angle = i => 2 * PI * i / size;
      const tip = (i, far = 1) => [far * cos(angle(i)), far * sin(angle(i)), far], middle = at([0, 0, 0]);
      const neighbours = [j - 1, j + 1].map(i => at(tip(i, 1.25))), circle = linspace(0, 2 * PI, 90);
      const group = shape("g", {}, path(circle.map(t => at([cos(t), sin(t), 1])), {stroke: "var(--line)", "stroke-width": 1}));
      const items = range(size).map(i => [at(tip(i))[2], i]).sort((one, other) => one[0] - other[0]);
      const plane = path([middle, ...neighbours], {fill: "var(--orange)", "fill-opacity": 0.35, stroke: "none"});
      items.forEach(([, i]) => {
        const [x, y] = at(tip(i)), [labelX, labelY] = at(tip(i, 1.13)), chosen = i === j;
        if (chosen) group.append(plane);
        group.append(arrow(...middle.slice(0, 2), x, y, chosen ? "var(--vermilion)" : "var(--blue)", chosen ? 3 : 1.8),
          words(String(i + 1), labelX, labelY + 4, {size: 12}));
      });
      const top = stacked ? 2.5 * radius + 40 : 26, height = stacked ? 150 : 2.5 * radius - 52, low = floor(min(...row));
      const ticks = range(5).map(i => round(low + i * (1 - low) / 4)).filter((tick, i, all) => all.indexOf(tick) === i && tick !== 0);
      const chart = axes({left: (stacked ? 0 : side + 20) + 52, top, width: side - 62, height,
        x: {limits: [0.4, size + 0.6], ticks: range(size).map(i => i + 1), label: "feature *i* that is on"},
        y: {limits: [low, 1.2], ticks: [...ticks, 0], label: `what reader ${j + 1} sees`, room: 38}});
      const step = chart.toX(2) - chart.toX(1), zero = chart.toY(0);
      row.forEach((value, i) => chart.group.append(shape("rect", {x: chart.toX(i + 1) - 0.35 * step, width: 0.7 * step,
        y: min(zero, chart.toY(value)), height: abs(zero - chart.toY(value)), fill: i === j ? "var(--vermilion)" : "var(--blue)"})));
      chart.group.append(line(chart.toX(0.4), zero, chart.toX(size + 0.6), zero));
      return {height: top + height + 46, parts: [group, chart.group],
        label: `A cone of ${size} features. Reader ${j + 1} sees 1 of its own feature, 0 of its two neighbours, and negative values of all others.`,
        below: `<p>The plane where reader ${j + 1} sees nothing passes through the two neighbours of its feature. Its own feature is above ` +
          `(<i>W</i> = 1), all others are below (<i>W</i> down to ${number(min(...row))}), and the ReLU silences them. Drag the picture to turn it.</p>`};
    };
  });
});
