// How the sliders are drawn: small figures that answer at once, without a network and without a server.
//
// A page holds <div class="slider" data-slider="loss"> around a still picture. Without scripts the picture stays; with
// them it gives way to inputs, a drawing and read-outs.
(window.superposition ??= {}).drawing = (() => {
  "use strict";
  const {abs, min, max, log, log10, floor, round, hypot} = Math;
  const clip = (x, low, high) => min(max(x, low), high);
  const range = count => Array.from({length: count}, (_, i) => i);

  /** Text with *italic* symbols, as HTML or as SVG. */
  const html = text => text.replace(/\*(.+?)\*/g, "<i>$1</i>").replace(/_(.)/g, "<sub>$1</sub>");
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    made.append(...children);
    return made;
  };
  const shape = (tag, attributes = {}, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) {
      made.setAttribute(name, typeof value === "number" ? round(100 * value) / 100 : value);
    }
    made.append(...children);
    return made;
  };
  function words(text, x, y, {anchor = "middle", turn = 0, size = 13} = {}) {
    const parts = text.split("*").map((part, i) => i % 2 ? shape("tspan", {"font-style": "italic"}, part) : part);
    const at = {x, y, "text-anchor": anchor, "font-size": size, fill: "var(--ink)"};
    return shape("text", turn ? {...at, transform: `rotate(${turn} ${x} ${y})`} : at, ...parts);
  }
  const path = (points, attributes) =>
    shape("path", {d: points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(""),
      fill: "none", "stroke-width": 2, ...attributes});
  const line = (x1, y1, x2, y2, attributes) => shape("line", {x1, y1, x2, y2, stroke: "var(--ink)", ...attributes});

  /** A number with so many digits, as people write it. */
  function number(x, digits = 3) {
    if (!isFinite(x)) return "–";
    if (x !== 0 && (abs(x) < 1e-3 || abs(x) >= 1e5)) {
      const power = floor(log10(abs(x))), raised = String(power).replace(/./g, c => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
      return `${(x / 10 ** power).toFixed(digits - 1)}·10${raised}`.replace("-", "−");
    }
    return String(Number(x.toPrecision(digits))).replace("-", "−");
  }

  /** Axes in a box: a group to draw into, and functions from values to places. */
  function axes({left, top, width, height, x, y, title = ""}) {
    const place = (scale, from, length) => {
      const of = scale.log ? log : value => value, [low, high] = scale.limits.map(of);
      return value => from + length * clip((of(value) - low) / (high - low), -0.02, 1.02);
    };
    const toX = place(x, left, width), toY = place(y, top + height, -height), group = shape("g");
    group.append(line(left, top + height, left + width, top + height), line(left, top, left, top + height));
    for (const tick of x.ticks) {
      const at = toX(tick.at ?? tick);
      group.append(line(at, top + height, at, top + height + 4), words(tick.name ?? number(tick), at, top + height + 18, {size: 12}));
    }
    for (const tick of y.ticks) {
      const at = toY(tick.at ?? tick);
      group.append(line(left - 4, at, left, at), words(tick.name ?? number(tick), left - 7, at + 4, {anchor: "end", size: 12}));
    }
    group.append(words(x.label, left + width / 2, top + height + 36), words(title, left + width / 2, top - 8));
    if (y.label) group.append(words(y.label, left - (y.room ?? 44), top + height / 2, {turn: -90}));
    return {group, toX, toY, line: (points, attributes) => group.append(path(points.map(([u, v]) => [toX(u), toY(v)]), attributes))};
  }
  const decades = (low, high) => range(floor(log10(high) + 1e-9) - floor(log10(low)) + 1).map(i => {
    const power = floor(log10(low)) + i;
    return {at: 10 ** power, name: power > -3 ? number(10 ** power) : number(10 ** power, 1).replace("1·", "")};
  }).filter(({at}) => at >= low && at <= high);

  /** Colours of a matrix: blue below zero, red above, nothing at zero. */
  const tint = (value, limit) => ({fill: value < 0 ? "var(--blue)" : "var(--red)", "fill-opacity": min(abs(value) / limit, 1)});

  /** An arrow from the middle of a drawing. */
  function arrow(x, y, toX, toY, colour, width = 2) {
    const length = hypot(toX - x, toY - y);
    if (length < 1) return shape("g");
    const [dx, dy] = [(toX - x) / length, (toY - y) / length], head = min(9, length);
    const base = [toX - head * dx, toY - head * dy];
    return shape("g", {}, path([[x, y], base], {stroke: colour, "stroke-width": width}), path([[toX, toY],
      [base[0] - 4 * dy, base[1] + 4 * dx], [base[0] + 4 * dy, base[1] - 4 * dx]], {fill: colour, stroke: "none"}));
  }

  /**
   * A slider in every place of its name: inputs above, one drawing, a table or sentence below.
   *
   * `build` makes the inputs and returns a function of the width that gives {height, parts, label, below}. If that asks
   * for a second argument, it is told whether the reader still moves something, and called once more at rest.
   */
  const frame = (name, title, build) =>
    document.querySelectorAll(`[data-slider="${name}"]`).forEach(place => framed(place, title, build));
  const REST = 200;  // milliseconds
  function framed(place, title, build) {
    const inputs = element("div", {class: "inputs"}), drawing = shape("svg", {role: "img"});
    const below = element("div", {class: "below", "aria-live": "polite"});
    place.replaceChildren(element("p", {class: "title"}), inputs, drawing, below);
    place.firstChild.innerHTML = html(title);
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", title.replace(/[*_]/g, ""));
    let waiting = false, rest;
    const redraw = () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        const moving = draw.length > 1;
        show(moving);
        clearTimeout(rest);
        if (moving) rest = setTimeout(show, REST, false);
      });
    };
    const draw = build({place, inputs, drawing, redraw, add: (...made) => inputs.append(...made)});
    function show(moving) {
      const share = Number(getComputedStyle(place).getPropertyValue("--share")) || 1;  // words beside a drawing
      const width = clip(share * place.clientWidth - 2, 260, 720), found = draw(width, moving);
      drawing.setAttribute("viewBox", `0 0 ${width} ${found.height}`);
      drawing.setAttribute("width", width);
      drawing.setAttribute("height", found.height);
      drawing.setAttribute("aria-label", found.label);
      drawing.replaceChildren(...found.parts);
      if (below.innerHTML !== found.below) below.innerHTML = found.below;
    }
    show(false);
    let shown = place.clientWidth;
    new ResizeObserver(() => {
      if (place.clientWidth === shown) return;
      shown = place.clientWidth;
      redraw();
    }).observe(place);
  }
  let count = 0;
  /** A slider with its label and its value; `log` counts in equal factors. */
  function slider({add, redraw}, label, {low, high, value, step = 0, log: equalFactors = false, show = number}) {
    const id = `slider-${++count}`, steps = step ? round((high - low) / step) : 200;
    const from = equalFactors ? round(steps * log(value / low) / log(high / low)) : 0;  // where the first value stands
    const valueAt = t => equalFactors ? clip(value * (high / low) ** ((t - from) / steps), low, high) : low + (high - low) * t / steps;
    const positionOf = x => round(steps * (equalFactors ? log(x / low) / log(high / low) : (x - low) / (high - low)));
    const input = element("input", {type: "range", id, min: 0, max: steps, step: 1, value: positionOf(value)});
    const output = element("output", {for: id}), name = element("label", {for: id});
    name.innerHTML = html(label);
    const made = {input, get value() { return clean(valueAt(Number(input.value))); },
      set value(x) { input.value = positionOf(x); tell(); }};
    const clean = x => step ? round(x / step) * step : Number(x.toPrecision(equalFactors ? 3 : 6));
    function tell() {
      output.textContent = show(made.value);
      input.setAttribute("aria-valuetext", output.textContent);
    }
    input.addEventListener("input", () => { tell(); redraw(); });
    tell();
    add(element("div", {class: "input"}, name, input, output));
    return made;
  }
  function button({add}, text, act) {
    const made = element("button", {type: "button"}, text);
    made.addEventListener("click", act);
    add(made);
    return made;
  }
  const table = (head, rows) => `<table><thead><tr>${head.map(cell => `<th>${html(cell)}</th>`).join("")}</tr></thead><tbody>${
    rows.map(row => `<tr>${row.map(cell => `<td>${cell}</td>`).join("")}</tr>`).join("")}</tbody></table>`;
  const key = (colour, dash, dot) => `<svg class="key" width="${dot ? 10 : 26}" height="10" aria-hidden="true">${dot ?
    `<circle cx="5" cy="5" r="4" fill="${colour}"/>` :
    `<line x1="0" y1="5" x2="26" y2="5" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>`}</svg>`;

  return {frame, slider, button, axes, decades, shape, element, path, line, words, arrow, tint, table, key, number};
})();
