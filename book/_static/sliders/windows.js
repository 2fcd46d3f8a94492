// Which words are in a window: losses of three readers, predicted and measured.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const {frame, slider, axes, shape, line, words, key, number} = window.superposition.drawing;

  // Network, text, tokens of a window, vectors; losses over the variance, means over the draws of the run real-windows:
  // linear reader, predicted; one ReLU, predicted by Gaussian interference and with both corrections; and, of the run
  // real-vectors, the patient reader.
  const CASES = [
    ["minilm", "django", 64, "random", .502, .502, .132, .12, .141, .000362],
    ["minilm", "django", 64, "dealt", .533, .534, .189, .149, .196],
    ["minilm", "django", 64, "own", .518, .536, .395, .15, .388, .000386],
    ["minilm", "sqlalchemy", 64, "random", .468, .469, .122, .112, .127],
    ["minilm", "sqlalchemy", 64, "dealt", .499, .5, .171, .14, .176],
    ["minilm", "sqlalchemy", 64, "own", .493, .502, .191, .141, .179],
    ["minilm", "kjv", 64, "random", .491, .491, .127, .123, .131, .000362],
    ["minilm", "kjv", 64, "dealt", .533, .534, .18, .162, .182],
    ["minilm", "kjv", 64, "own", .522, .536, .195, .163, .184, .000407],
    ["minilm", "django", 16, "random", .398, .399, .0271, .0236, .0298, .00148],
    ["minilm", "django", 16, "dealt", .431, .432, .068, .0363, .07],
    ["minilm", "django", 16, "own", .424, .43, .123, .0335, .11, .0018],
    ["minilm", "kjv", 16, "random", .375, .377, .0246, .0235, .0269, .00151],
    ["minilm", "kjv", 16, "dealt", .421, .423, .0565, .0414, .0598],
    ["minilm", "kjv", 16, "own", .415, .422, .0634, .0388, .0586, .00189],
    ["smollm2", "django", 64, "random", .416, .415, .064, .0608, .0662, .00045],
    ["smollm2", "django", 64, "dealt", .448, .448, .16, .0886, .161],
    ["smollm2", "django", 64, "own", .429, .451, .25, .0903, .171, .000611],
    ["smollm2", "sqlalchemy", 64, "random", .406, .405, .0664, .0635, .0674],
    ["smollm2", "sqlalchemy", 64, "dealt", .435, .433, .15, .0904, .149],
    ["smollm2", "sqlalchemy", 64, "own", .419, .433, .196, .0889, .153],
    ["smollm2", "kjv", 64, "random", .394, .393, .0555, .0538, .0571, .000515],
    ["smollm2", "kjv", 64, "dealt", .423, .422, .113, .0771, .113],
    ["smollm2", "kjv", 64, "own", .41, .425, .143, .0777, .117, .000645],
    ["smollm2", "django", 16, "random", .329, .329, .0129, .0119, .0137, .00261],
    ["smollm2", "django", 16, "dealt", .362, .361, .102, .0192, .101],
    ["smollm2", "django", 16, "own", .353, .361, .128, .0188, .105, .00331],
    ["smollm2", "kjv", 16, "random", .294, .296, .011, .0105, .0119, .00392],
    ["smollm2", "kjv", 16, "dealt", .322, .323, .0578, .0167, .0573],
    ["smollm2", "kjv", 16, "own", .317, .323, .0653, .0163, .0585, .00494],
  ];
  window.superposition.windows = {CASES};

  const LENGTHS = [[16], [64], [16, 64]], READERS = ["linear", "one ReLU", "patient"];
  const COLOURS = {random: "var(--green)", dealt: "var(--blue)", own: "var(--orange)"};
  const NAMES = {random: "random vectors", dealt: "the network’s, dealt to other tokens", own: "the network’s own vectors"};
  const TICKS = [0.001, 0.01, 0.1, 1];

  frame("windows", "Which words are in this window?", panel => {
    const length = slider(panel, "tokens in a window", {low: 0, high: 2, value: 1, step: 1, show: i => LENGTHS[i].join(" and ")});
    const reader = slider(panel, "reader", {low: 0, high: 2, value: 1, step: 1, show: i => READERS[i]});
    return width => {
      const shown = CASES.filter(([, , tokens]) => LENGTHS[length.value].includes(tokens)), patient = reader.value === 2;
      const limits = [patient ? 2e-4 : 0.012, 1], ticks = patient ? TICKS : [0.02, 0.05, 0.1, 0.2, 0.5, 1];
      const chart = axes({left: 56, top: 12, width: width - 70, height: 250,
        x: {limits, log: true, ticks, label: "measured loss / variance"},
        y: {limits, log: true, ticks, label: "predicted", room: 42}});
      const at = (x, y) => [chart.toX(x), chart.toY(y)], worst = {};
      const dot = ([cx, cy], vectors, fill) => shape("circle", {cx, cy, r: 4.5, fill, stroke: COLOURS[vectors], "stroke-width": 1.8});
      chart.line([[limits[0], limits[0]], [1, 1]], {stroke: "var(--ink)", "stroke-dasharray": "2 4"});
      for (const [, , , vectors, linear, predicted, relu, gaussian, both, coded] of shown) {
        if (patient && coded === undefined) continue;
        const [measured, last] = [[linear, predicted], [relu, both], [coded, limits[0] * 1.3]][reader.value];
        if (reader.value === 1) {
          chart.group.append(line(...at(measured, gaussian), ...at(measured, last), {stroke: "var(--line)"}),
            dot(at(measured, gaussian), vectors, "var(--paper)"));
        }
        chart.group.append(dot(at(measured, last), vectors, COLOURS[vectors]));
        (worst[vectors] ??= []).push(patient ? measured : last / measured);
      }
      if (patient) chart.group.append(words("no prediction: only measured", chart.toX(limits[0]) + 8, 30, {anchor: "start", size: 12}));
      const range = list => [Math.min(...list), Math.max(...list)].map(one => number(one, 2)).join(" to ");
      const said = Object.entries(worst).map(([vectors, list]) => `${key(COLOURS[vectors], "", true)} ${NAMES[vectors]}: ${range(list)}`);
      const what = ["predicted / measured loss", "predicted / measured loss, with both corrections", "measured loss / variance"][reader.value];
      return {height: 312, parts: [chart.group],
        label: `Predicted against measured loss of the ${READERS[reader.value]} reader. ${said.map(one => one.replace(/<.*?>/g, "").trim()).join("; ")}.`,
        below: `<p>${what}: ${said.join("; ")}.</p><p>Two networks, up to three texts.${reader.value === 1 ?
          " Open: from vectors and frequencies alone; filled: with two corrections. On the dotted line a prediction is right." : ""}</p>`};
    };
  });
});
