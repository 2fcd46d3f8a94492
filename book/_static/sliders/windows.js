// Which words are in a window: losses of three readers, predicted and measured.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const {frame, slider, axes, shape, line, words, key, number} = window.superposition.drawing;

  // Network, text, tokens of a window, and for random, dealt and own vectors losses over the variance, means over the
  // draws of the run real-windows: linear reader, predicted; one ReLU, predicted by Gaussian interference and with both
  // corrections; and, of the run real-vectors, the patient reader.
  const VECTORS = ["random", "dealt", "own"];
  const CASES = [
    ["minilm", "django", 64,
      [.502, .502, .132, .12, .141, .000349],
      [.533, .534, .189, .149, .196],
      [.518, .536, .395, .15, .388, .000376]],
    ["minilm", "sqlalchemy", 64,
      [.468, .469, .121, .112, .126, .000337],
      [.498, .499, .17, .139, .174],
      [.493, .502, .191, .141, .179, .000392]],
    ["minilm", "kjv", 64,
      [.491, .491, .127, .123, .131, .00036],
      [.533, .534, .18, .162, .182],
      [.522, .536, .195, .163, .184, .000411]],
    ["minilm", "django", 16,
      [.398, .399, .0273, .0236, .0294, .00145],
      [.43, .43, .0666, .0346, .0687],
      [.424, .43, .123, .0333, .104, .00178]],
    ["minilm", "sqlalchemy", 16,
      [.358, .359, .0244, .0214, .0263, .00164],
      [.388, .389, .0576, .0323, .0587],
      [.387, .39, .0641, .0316, .0598, .00207]],
    ["minilm", "kjv", 16,
      [.378, .378, .0248, .0235, .0268, .00151],
      [.424, .425, .0571, .0412, .0597],
      [.419, .424, .063, .039, .0583, .0019]],
    ["smollm2", "django", 64,
      [.416, .415, .064, .0608, .0662, .000455],
      [.448, .448, .16, .0886, .161],
      [.429, .451, .25, .0903, .171, .000621]],
    ["smollm2", "sqlalchemy", 64,
      [.405, .405, .0659, .0636, .068, .00044],
      [.433, .432, .149, .0898, .149],
      [.418, .433, .195, .0889, .154, .000575]],
    ["smollm2", "kjv", 64,
      [.394, .393, .0555, .0538, .0571, .000528],
      [.423, .422, .113, .0771, .113],
      [.41, .425, .143, .0777, .117, .000671]],
    ["smollm2", "django", 16,
      [.332, .331, .0131, .0121, .0137, .00271],
      [.364, .363, .102, .0194, .102],
      [.355, .363, .127, .019, .106, .00338]],
    ["smollm2", "sqlalchemy", 16,
      [.312, .313, .0129, .0122, .0138, .00278],
      [.337, .338, .0852, .0187, .0866],
      [.331, .337, .0983, .0178, .0863, .00356]],
    ["smollm2", "kjv", 16,
      [.297, .298, .0112, .0105, .0119, .00361],
      [.327, .327, .0587, .0175, .0584],
      [.321, .326, .0674, .0166, .059, .00454]],
  ].flatMap(([network, text, tokens, ...losses]) => losses.map((row, i) => [network, text, tokens, VECTORS[i], ...row]));
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
      const limits = [patient ? 2e-4 : 0.009, 1], ticks = patient ? TICKS : [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
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
        below: `<p>${what}: ${said.join("; ")}.</p><p>Two networks, three texts.${reader.value === 1 ?
          " Open: from vectors and frequencies alone; filled: with two corrections. On the dotted line a prediction is right." : ""}</p>`};
    };
  });
});
