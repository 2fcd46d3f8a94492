// Loss per feature against the compression ratio.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const {log10, max, floor, round} = Math;
  const {linspace, variance, linearLoss, optimum, antipodalOptimum, bestKnown, atProbability, lowerHull, mixture} = window.superposition;
  const {frame, slider, axes, decades, shape, line, words, table, key, number} = window.superposition.drawing;

  frame("loss", "How low can the loss of a layer go?", panel => {
    const p = slider(panel, "probability *p*", {low: 0.001, high: 0.5, value: 0.05, log: true});
    const r = slider(panel, "ratio *r* = *n_d*/*n_s*", {low: 0.02, high: 0.98, value: 0.2, step: 0.01});
    return width => {
      const [q, x] = [p.value, r.value], {rug, antipodal, fans, points} = atProbability(q);
      const here = {rug: optimum(q, x), antipodal: x <= 0.5 ? antipodalOptimum(q, x) : null, linear: linearLoss(q, x)};
      const best = bestKnown(q, x), hull = lowerHull(points), bottom = 10 ** floor(log10(variance(q)) - 3);
      const chart = axes({left: 62, top: 12, width: width - 78, height: 270,
        x: {limits: [0, 1], ticks: [0, 0.2, 0.4, 0.6, 0.8, 1], label: "compression ratio *r*"},
        y: {limits: [bottom, variance(q)], log: true, ticks: decades(bottom, variance(q)), label: "loss per feature", room: 50}});
      const many = linspace(0, 0.995, 200), dots = shape("g", {fill: "var(--green)"});
      const known = {stroke: "var(--vermilion)"}, dashed = {stroke: "var(--purple)", "stroke-dasharray": "7 4"};
      const inside = pairs => pairs.filter(([, value]) => value >= bottom);
      chart.line(inside(many.map(at => [at, linearLoss(q, at)])), {stroke: "var(--ink)", "stroke-dasharray": "2 4"});
      chart.line(inside(rug.map(at => [at.r, at.loss])), {stroke: "var(--blue)"});
      chart.line(inside(antipodal.map(at => [at.r, at.loss])), dashed);
      chart.line(inside(many.map(at => [at, mixture(hull, max(at, 1e-6)).loss])), known);
      fans.forEach(({r: at, loss: value}) => {
        if (value >= bottom && value <= variance(q)) dots.append(shape("circle", {cx: chart.toX(at), cy: chart.toY(value), r: 2.6}));
      });
      chart.group.append(dots, line(chart.toX(x), 12, chart.toX(x), 282, {"stroke-dasharray": "1 3"}));
      const marks = [[here.linear, "var(--ink)"], [here.rug.loss, "var(--blue)"], [here.antipodal?.loss, "var(--purple)"],
        [best.loss, "var(--vermilion)"]].filter(([value]) => value >= bottom);
      marks.forEach(([value, fill]) => chart.group.append(
        shape("circle", {cx: chart.toX(x), cy: chart.toY(value), r: 5, fill, stroke: "var(--paper)"})));
      const named = [["linear", 0.45, linearLoss(q, 0.45), -8], ["Persian rug", 0.68, optimum(q, 0.68).loss, -8],
        ["antipodal rug", 0.44, antipodalOptimum(q, 0.44).loss, 0], ["best known", 0.68, mixture(hull, 0.68).loss, 18]];
      const apart = width > 500 && named[2][2] < 0.6 * linearLoss(q, 0.44);
      if (apart) named.filter(([,, value]) => value > 2 * bottom).forEach(([name, at, value, lift]) => chart.group.append(
        words(name, chart.toX(at) + 4, chart.toY(value) + lift, {anchor: lift > 0 ? "end" : "start"})));
      const unit = here.rug.loss, row = (mark, name, value, a, b) => [mark + name, number(value), number(value / unit, 3), a, b];
      const parts = [...best.parts].map(([name, share]) => share > 0.995 ? name : `${round(100 * share)} % ${name}`).join(" and ");
      const antipodalRow = here.antipodal ? [number(here.antipodal.a), number(here.antipodal.b - here.antipodal.a * q / 2)] : [];
      return {height: 330, parts: [chart.group],
        label: `Loss per feature against the compression ratio at p = ${number(q)}. At r = ${number(x)} the rug has ` +
          `${number(unit)} and the best known mixture ${number(best.loss / unit)} of it.`,
        below: table(["", "loss", "/ rug", "gain *a*", "bias *b*"], [
          row(key("var(--ink)", "2 4"), "linear", here.linear, "", ""),
          row(key("var(--blue)", ""), "Persian rug", unit, number(here.rug.a), number(here.rug.b)),
          here.antipodal ? row(key("var(--purple)", "7 4"), "antipodal rug", here.antipodal.loss, ...antipodalRow) :
            [`${key("var(--purple)", "7 4")}antipodal rug`, "only up to <i>r</i> = ½", "", "", ""],
          row(key("var(--vermilion)", ""), "best known", best.loss, "", "")]) +
          `<p>Interference <i>σ</i> = ${number(here.rug.sigma)}. Best known at this <i>p</i> and <i>r</i>: <b>${parts}</b>. ` +
          `${key("var(--green)", "", true)} fans of 4, 5, 6 … features in a plane, swept ones up to 40.</p>`};
    };
  });
});
