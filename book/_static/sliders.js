// Sliders in the pages: small figures that answer at once, without a network and without a server.
//
// A page holds <div class="slider" data-slider="loss"> around a still picture. Without this script the picture stays;
// with it the picture gives way to inputs, a drawing and read-outs. Where no slider stands nothing happens.
//
// The theory comes first, a translation of the Python library: the tests compare the two. Then come the drawings.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const places = document.querySelectorAll("[data-slider]");
  if (!places.length) return;

  // ---------------------------------------------------------------- numbers

  const {abs, sqrt, exp, log, log10, sin, cos, asin, atan2, PI, min, max, floor, round, hypot} = Math;
  const clip = (x, low, high) => min(max(x, low), high);
  const sum = (values, of = x => x) => values.reduce((total, value, i) => total + of(value, i), 0);
  const range = count => Array.from({length: count}, (_, i) => i);
  const linspace = (low, high, count) => range(count).map(i => low + (high - low) * i / (count - 1));
  const geomspace = (low, high, count) => linspace(log(low), log(high), count).map(exp);
  const dot = (u, v) => sum(u, (x, i) => x * v[i]);

  /** Uniform numbers in [0, 1) from a seed (mulberry32). */
  function generator(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6D2B79F5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), state | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }
  /** Standard normal numbers from uniform ones, after Box and Muller. */
  const normals = (count, uniform) => range(count).map(() =>
    sqrt(-2 * log(1 - uniform())) * cos(2 * PI * uniform()));

  function erf(x) {
    if (abs(x) > 2) return x > 0 ? 1 - erfc(x) : erfc(-x) - 1;
    let term = 2 * x / sqrt(PI) * exp(-x * x), total = 0;
    for (let n = 1; abs(term) > 1e-17 * abs(total); n++) {
      total += term;
      term *= 2 * x * x / (2 * n + 1);
    }
    return total;
  }
  function erfc(x) {
    if (x <= 2) return 1 - erf(x);
    let fraction = x;
    for (let n = floor(24 + 220 / (x * x)); n > 0; n--) fraction = x + n / 2 / fraction;
    return exp(-x * x) / fraction / sqrt(PI);
  }
  const normalCdf = z => erfc(-z / Math.SQRT2) / 2;

  /** Where a function is lowest: each dip of a grid that may win, refined by the golden section. */
  function lowest(value, grid) {
    const on = grid.map(value), level = min(...on);
    let best = [grid[0], Infinity];
    on.forEach((here, i) => {
      if (here > 1.1 * level || here > on[i - 1] || here > on[i + 1]) return;
      const z = golden(value, grid[max(i - 1, 0)], grid[min(i + 1, grid.length - 1)]), found = value(z);
      if (found < best[1]) best = [z, found];
    });
    return best;
  }
  function golden(value, low, high) {
    const share = (sqrt(5) - 1) / 2;
    let left = high - share * (high - low), right = low + share * (high - low);
    let [atLeft, atRight] = [value(left), value(right)];
    for (let i = 0; i < 44; i++) {
      if (atLeft < atRight) {
        [high, right, atRight] = [right, left, atLeft];
        left = high - share * (high - low);
        atLeft = value(left);
      } else {
        [low, left, atLeft] = [left, right, atRight];
        right = low + share * (high - low);
        atRight = value(right);
      }
    }
    return (low + high) / 2;
  }
  /** Where a function changes its sign between two places. */
  function root(value, low, high) {
    const below = value(low);
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (value(middle) * below > 0) low = middle; else high = middle;
    }
    return (low + high) / 2;
  }
  function gaussLegendre(count) {
    const rule = [];
    for (let i = 1; i <= count; i++) {
      let x = cos(PI * (i - 0.25) / (count + 0.5)), slope;
      for (let round = 0; round < 8; round++) {
        let [last, value] = [1, x];
        for (let n = 2; n <= count; n++) [last, value] = [value, ((2 * n - 1) * x * value - (n - 1) * last) / n];
        slope = count * (x * value - last) / (x * x - 1);
        x -= value / slope;
      }
      rule.push([(1 + x) / 2, 1 / ((1 - x * x) * slope * slope)]);
    }
    return rule;
  }
  const NODES = gaussLegendre(16);

  // ---------------------------------------------------------------- The Persian Rug, and what beats it

  const variance = p => p * (4 - 3 * p) / 12;
  const noiseStd = (p, r) => sqrt(variance(p) * (1 - r) / r);
  const linearLoss = (p, r) => variance(p) * (1 - r);

  /** M_k(m, s) = E ReLU(m + s Z)^k for a standard normal Z and k = 0 to 4. */
  function moment(k, m, s) {
    if (s === 0) return m > 0 ? m ** k : 0;
    for (const known of recent) if (known.m === m && known.s === s) return known.values[k];
    const values = moments(m, s);
    recent[latest = (latest + 1) % 4] = {m, s, values};
    return values[k];
  }
  let latest = 0;
  const recent = range(4).map(() => ({}));  // a loss asks for the same moments several times
  function moments(m, s) {
    const z = clip(m / s, -40, 40), values = [normalCdf(z)];
    if (z < -2.5) {  // without cancellation, by the continued fraction of their ratios
      let ratio = (sqrt(z * z + 200) + z) / 2;
      for (let k = 50; k > 0; k--) {
        ratio = k / (ratio - z);
        if (k <= 4) values[k] = ratio * s;
      }
      for (let k = 1; k <= 4; k++) values[k] *= values[k - 1];
    } else {
      values[1] = m * values[0] + s * exp(-z * z / 2) / sqrt(2 * PI);
      for (let k = 2; k <= 4; k++) values[k] = m * values[k - 1] + (k - 1) * s * s * values[k - 2];
    }
    return values;
  }
  /** Integral of u^j M_k(m + slope u, s) over u in [0, 1]. */
  function ramp(j, k, m, slope, s) {
    if (abs(slope) < 0.1 * s) return sum(NODES, ([u, weight]) => weight * u ** j * moment(k, m + slope * u, s));
    const step = (k + 1) * slope, top = moment(k + 1, m + slope, s) / step;
    return j ? top - j / step * ramp(j - 1, k + 1, m, slope, s) : top - moment(k + 1, m, s) / step;
  }
  /** Mean squared error of one feature, as superposition.rug.loss. */
  const loss = (a, b, sigma, p) => lossAt(a, b, a * sigma, p);
  function lossAt(a, b, s, p) {
    const below = b > -a / 2, side = below ? -1 : 1;
    const base = below ? (1 - a) ** 2 / 3 - (1 - a) * b + b * b + s * s : 1 / 3;
    const on = base - 2 * ramp(1, 1, side * b, side * a, s) + side * ramp(0, 2, side * b, side * a, s);
    return (1 - p) * moment(2, b, s) + p * on;
  }
  function slopeInBias(a, b, s, p) {
    const below = b > -a / 2, side = below ? -1 : 1;
    const on = 2 * ramp(0, 1, side * b, side * a, s) - 2 * side * ramp(1, 0, side * b, side * a, s);
    return (1 - p) * 2 * moment(1, b, s) + p * (on + (below ? a - 1 + 2 * b : 0));
  }
  function bestGain(shift, sigma, p) {
    const overlap = p * ramp(1, 1, shift, 1, sigma);
    const power = (1 - p) * moment(2, shift, sigma) + p * ramp(0, 2, shift, 1, sigma);
    return power > 0 && overlap > 1e-150 ? overlap / power : 1;
  }
  // b / (a sigma)
  const THRESHOLDS = [...geomspace(30, 0.05, 36).map(z => -z), 0, ...geomspace(0.05, 1e4, 24)];

  /** Best gain and bias at the least noise, as superposition.rug.optimum. */
  function optimum(p, r) {
    const sigma = noiseStd(p, r);
    if (sigma === 0) return {a: 1, b: 0, sigma, loss: 0};
    const gain = z => bestGain(z * sigma, sigma, p);
    const slope = z => slopeInBias(gain(z), gain(z) * z * sigma, gain(z) * sigma, p);
    let [z] = lowest(z => lossAt(gain(z), gain(z) * z * sigma, gain(z) * sigma, p), THRESHOLDS);
    const [low, high] = [z - 1e-3 * (abs(z) + 1), z + 1e-3 * (abs(z) + 1)];
    if (slope(low) < 0 && slope(high) > 0) z = root(slope, low, high);  // sharper than a minimum
    const a = gain(z);
    return {a, b: a * z * sigma, sigma, loss: lossAt(a, a * z * sigma, a * sigma, p)};
  }

  /** E[u R] and E[R^2] of R = ReLU(b + slope u + s Z). */
  function oneOn(b, slope, s) {
    const mean = b + slope / 2, side = mean > 0 ? -1 : 1;
    const [product, square] = [ramp(1, 1, side * b, side * slope, s), ramp(0, 2, side * b, side * slope, s)];
    if (mean <= 0) return [product, square];
    return [mean / 2 + slope / 12 + product, mean ** 2 + slope ** 2 / 12 + s * s - square];
  }
  /** E[u R] and E[R^2] of R = ReLU(y), y = b + a u - a c u' + s Z; of -y where y is mostly positive. */
  function bothOn(a, b, s, c) {
    const side = b + a * (1 - c) / 2 > 0 ? -1 : 1, [m, own, partner] = [side * b, side * a, -side * a * c];
    if (s > 0.5 * abs(own) || abs(partner) < 0.05 * abs(own)) {
      return NODES.reduce(([product, square], [u, weight]) => [product + weight * ramp(1, 1, m + partner * u, own, s),
        square + weight * ramp(0, 2, m + partner * u, own, s)], [0, 0]);
    }
    const ramps = at => {
      const cubes = (moment(4, at + own, s) - moment(4, at, s)) / (4 * own);
      return [(moment(3, at + own, s) - cubes) / (3 * own), cubes];
    };
    const [upper, lower] = [ramps(m + partner), ramps(m)];
    return [(upper[0] - lower[0]) / (2 * partner), (upper[1] - lower[1]) / (3 * partner)];
  }
  /** Loss of an output whose partner has weight -c, as superposition.codes.partners.loss; noise without the partner. */
  function partnerLoss(a, b, noise, c, p) {
    const s = a * noise, mean = b + a * (1 - c) / 2, [product, square] = bothOn(a, b, s, c);
    const off = (1 - p) * moment(2, b, s) + p * oneOn(b, -a * c, s)[1];
    const linear = (0.5 - mean) ** 2 + ((1 - a) ** 2 + (a * c) ** 2) / 12 + s * s;
    const both = mean > 0 ? linear - 2 * product - square : 1 / 3 - 2 * product + square;
    return (1 - p) * off + p * ((1 - p) * lossAt(a, b, s, 1) + p * both);
  }
  function partnerGain(shift, noise, c, p) {
    const mean = shift + (1 - c) / 2, own = oneOn(shift, 1, noise);
    let [product, square] = bothOn(1, shift, noise, c);
    if (mean > 0) [product, square] = [mean / 2 + 1 / 12 + product, mean ** 2 + (1 + c * c) / 12 + noise ** 2 - square];
    const overlap = p * ((1 - p) * own[0] + p * product);
    const off = (1 - p) * moment(2, shift, noise) + p * oneOn(shift, -c, noise)[1];
    const power = (1 - p) * off + p * ((1 - p) * own[1] + p * square);
    return power > 0 && overlap > 1e-150 ? overlap / power : 0;
  }
  function partnerOptimum(sigma, c, p) {
    const rest = sigma ** 2 - c * c * variance(p), noise = rest > 1e-12 * sigma ** 2 ? sqrt(rest) : 0;
    const at = z => {
      const a = partnerGain(z * sigma, noise, c, p);
      return a ? [a, partnerLoss(a, a * z * sigma, noise, c, p)] : [1, p / 3];
    };
    const [z, found] = lowest(z => at(z)[1], THRESHOLDS), a = at(z)[0];
    return {a, b: a * z * sigma, sigma, loss: found};
  }
  const antipodalOptimum = (p, r) => partnerOptimum(noiseStd(p, r), 1, p);

  /** Loss of two features on one dimension, one c times as loud, at the best c. */
  function bestDigon(p) {
    const noise = sqrt(variance(p));
    const value = logC => {
      const c = exp(logC);
      return (partnerOptimum(c * noise, c, p).loss + partnerOptimum(noise / c, 1 / c, p).loss) / 2;
    };
    const grid = linspace(0, log(5), 17), known = remembered(i => value(grid[i]));
    let i = 1;
    while (i < 15 && known(i + 1) < known(i)) i++;
    const [low, middle, high] = [known(i - 1), known(i), known(i + 1)];
    return value(grid[i] + grid[1] * clip((low - high) / (2 * (low - 2 * middle + high)), -1, 1));
  }
  const hiders = B => [0, ...range(B - 2), B - 3];
  const fanLoss = (p, B) => p / 3 * sum(hiders(B), k => 1 - (1 - p) ** k) / B;
  /** A fan that grows to both sides in turn: each pair saves 2/81 of what two features cost. */
  const sweptLoss = (p, B) => fanLoss(p, B) - 2 / 81 * p * p / B * sum(range(Math.floor((B - 2) / 2)), j => (1 - p) ** (2 * j));

  /** Everything that holds at one p: curves, fans, and the lower hull of all codes, as superposition.codes.best_known. */
  const atProbability = remembered(p => {
    const ratios = [...geomspace(1e-3, 0.1, 12), ...linspace(0.1, 0.5, 13).slice(1)];
    const curve = (name, best, at) => at.map(r => ({name, r, loss: best(p, r).loss}));
    const antipodal = curve("antipodal rug", antipodalOptimum, ratios);
    const rug = curve("rug", optimum, [...ratios, ...linspace(0.54, 0.94, 11), ...geomspace(0.05, 0.002, 7).map(x => 1 - x)]);
    const fans = range(123).map(i => i + 4).map(B => B > 4 && B <= 40 ?
      {name: "swept", r: 2 / B, loss: sweptLoss(p, B)} : {name: "fan", r: 2 / B, loss: fanLoss(p, B)});
    const ends = [{name: "dropped", r: 0, loss: variance(p)}, {name: "own dimension", r: 1, loss: 0},
      {name: "digon", r: 0.5, loss: bestDigon(p)}];
    return {rug, antipodal, fans, points: [...ends, ...rug, ...antipodal, ...fans]};
  });
  function remembered(of) {
    const known = new Map();
    return p => known.get(p) ?? known.set(p, of(p)).get(p);
  }
  function lowerHull(points) {
    const hull = [];
    for (const point of [...points].sort((one, other) => one.r - other.r || one.loss - other.loss)) {
      if (hull.length && hull.at(-1).r === point.r) continue;
      const turns = (o, q) => (q.r - o.r) * (point.loss - o.loss) - (q.loss - o.loss) * (point.r - o.r);
      while (hull.length > 1 && turns(hull.at(-2), hull.at(-1)) <= 0) hull.pop();
      hull.push(point);
    }
    return hull;
  }
  /** The best mixture known at p and r: its loss, and the names of its parts with their shares. */
  function bestKnown(p, r) {
    const here = [{name: "rug", r, loss: optimum(p, r).loss}];
    if (r <= 0.5) here.push({name: "antipodal rug", r, loss: antipodalOptimum(p, r).loss});
    return mixture(lowerHull([...atProbability(p).points, ...here]), r);
  }
  function mixture(hull, r) {
    const right = max(hull.findIndex(point => point.r >= r), 1), [low, high] = [hull[right - 1], hull[right]];
    const share = (r - low.r) / (high.r - low.r), parts = new Map();
    for (const [end, weight] of share > 0.5 ? [[high, share], [low, 1 - share]] : [[low, 1 - share], [high, share]]) {
      if (weight > 1e-9) parts.set(end.name, (parts.get(end.name) ?? 0) + weight);
    }
    return {loss: low.loss + share * (high.loss - low.loss), parts};
  }

  /** The matrix W of a priority fan: B features in the plane, each louder than the next. */
  function fan(B, ratio) {
    const turn = PI / (B - 2), angle = fanAngles(B);
    return range(B).map(t => range(B).map(s => {
      if (s === t || s === t - 1) return s === t ? 1 : 0;
      if (t === B - 1) return s === 0 ? 0 : -sin(angle[s]) * ratio ** (t - s);
      if (t === 0) return cos(angle[s]) * (s === B - 1 ? 0 : 1) * ratio ** -s;
      return sin(angle[s] - angle[t - 1]) / sin(turn) * ratio ** (t - s);
    }));
  }
  const fanAngles = B => [...range(B - 1).map(t => t * PI / (B - 2)), 1.5 * PI];
  const cone = B => range(B).map(j => range(B).map(i => {
    const close = cos(2 * PI / B);
    return i === j ? 1 : (i - j + B) % B === 1 || (j - i + B) % B === 1 ? 0 :
      (cos(2 * PI * (i - j) / B) - close) / (1 - close);
  }));
  const answers = (W, x) => W.map(row => max(dot(row, x), 0));

  /** Mean over t in [0, 1] of t^k ReLU(a + b t)^j. */
  function rampMean(a, b, j, k) {
    const zero = b === 0 ? -1 : -a / b, inside = zero > 0 && zero < 1;
    const [low, high] = inside ? (b > 0 ? [zero, 1] : [0, zero]) : [0, 1];
    if (a + b * (low + high) / 2 <= 0) return 0;
    const moment = n => (high ** (n + 1) - low ** (n + 1)) / (n + 1);
    return j === 1 ? a * moment(k) + b * moment(k + 1) : a * a * moment(k) + 2 * a * b * moment(k + 1) + b * b * moment(k + 2);
  }
  /** Mean loss with features i and k on, strengths uniform: the loss grows as the square of both, so one ratio is left. */
  function pairLoss(W, i, k) {
    const half = (one, other) => sum(W, (row, j) => rampMean(row[one], row[other], 2, 0)) + 1 + 1 / 3 -
      2 * rampMean(W[one][one], W[one][other], 1, 0) - 2 * rampMean(W[other][one], W[other][other], 1, 1);
    return (half(i, k) + half(k, i)) / 4;
  }
  /** Loss per feature of a code without bias: up to two features on exactly, more of them by fixed samples. */
  function codeLoss(W, p, samples = 6000) {
    const B = W.length, uniform = generator(5), features = range(B);
    const chance = on => p ** on * (1 - p) ** (B - on), many = max(1 - chance(0) - B * chance(1) - B * (B - 1) / 2 * chance(2), 1e-300);
    const alone = sum(W, (row, t) => sum(row, (w, s) => (s === t ? 1 - max(w, 0) : max(w, 0)) ** 2)) / 3;
    const pairs = sum(features, i => sum(features.slice(0, i), k => pairLoss(W, i, k)));
    const choose = on => features.slice(0, on).reduce((ways, i) => ways * (B - i) / (i + 1), 1);
    const shares = range(B - 2).map(i => choose(i + 3) * chance(i + 3) / many);
    let total = 0;
    for (let i = 0; i < samples; i++) {
      let on = 3, left = uniform();
      while (on < B && (left -= shares[on - 3]) > 0) on++;
      const x = W.map(() => 0), order = features.map(t => [uniform(), t]).sort(([u], [v]) => u - v);
      order.slice(0, on).forEach(([, t]) => { x[t] = uniform(); });
      total += sum(answers(W, x), (y, t) => (y - x[t]) ** 2);
    }
    return (chance(1) * alone + chance(2) * pairs + many * total / samples) / B;
  }

  // ---------------------------------------------------------------- Incidental Polysemanticity

  /** The law on four points with a kurtosis and a sixth cumulant, at sigma = 1, as superposition.incidental.four_point. */
  function fourPoint(k, kappa6) {
    const second = k + 3, total = (kappa6 + 15 * k + 15 - second) / (second - 1);
    const high = total / 2 + sqrt(max(total ** 2 / 4 - total + second, 0)), low = max(total - second, 0) / high;
    const share = (1 - low) / (high - low) / 2, [inner, outer] = [sqrt(low), sqrt(high)];
    return {points: [-outer, -inner, inner, outer], probabilities: [share, 0.5 - share, 0.5 - share, share]};
  }
  const smallestSixth = k => k * k - 9 * k - 6;

  /** Rate at which a shut output changes the fourth norm of its row u at increasing depths b, exactly, at sigma = 1. */
  function push(u, depths, law) {
    const length = hypot(...u), unit = u.map(x => x / length), f = sum(unit, x => x ** 4);
    let [total, along, weight] = [[0], [0], [1]].map(start => Float64Array.from(start));
    for (const x of unit) {
      const count = total.length, next = [0, 1, 2].map(() => new Float64Array(count * law.points.length));
      law.points.forEach((point, which) => {
        for (let i = 0; i < count; i++) {
          next[0][which * count + i] = total[i] + x * point;
          next[1][which * count + i] = along[i] + (x ** 3 - f * x) * point;
          next[2][which * count + i] = weight[i] * law.probabilities[which];
        }
      });
      [total, along, weight] = next;
    }
    // bin j: sums above depth j and no deeper one; what lies above a depth is the bins from there on
    const first = new Float64Array(depths.length), second = new Float64Array(depths.length);
    for (let i = 0; i < total.length; i++) {
      let bin = -1;
      while (bin + 1 < depths.length && depths[bin + 1] < total[i]) bin++;
      if (bin < 0) continue;
      first[bin] += weight[i] * along[i] * total[i];
      second[bin] += weight[i] * along[i];
    }
    let above = 0, mass = 0;
    const found = new Array(depths.length);
    for (let j = depths.length - 1; j >= 0; j--) {
      above += first[j];
      mass += second[j];
      found[j] = -8 * (above - depths[j] * mass);
    }
    return found;
  }
  const turningDepth = (m, k, kappa6) => sqrt(3 - 2 * (m + 8) * k / kappa6);

  // ---------------------------------------------------------------- receptive fields

  const kernelRow = (n, xi) => range(n).map(i => exp(-((min(i, n - i) / xi) ** 2)));
  const eigenvalues = row => range(floor(row.length / 2) + 1).map(k =>
    sum(row, (value, i) => value * cos(2 * PI * k * i / row.length)));

  /** Gain above which the flat field of one neuron is unstable, to first order, as superposition.receptive. */
  function criticalGain(n, xi1, xi2) {
    const [one, zero] = [xi1, xi2].map(xi => eigenvalues(kernelRow(n, xi)));
    const ratio = one.map((value, k) => zero[k] / value);
    const q = min(...range(one.length).filter(k => k > 0 && one[k] > 1e-10 * one[0]).map(k =>
      n * (ratio[k] - ratio[0]) / ((1 + ratio[0]) * (one[0] / 3 + one[k]))));
    return q > 0 && q <= 0.3 ? sqrt(q / (2 * (1 - q))) : NaN;
  }
  const saturation = gain => 2 * gain * gain / (1 + 2 * gain * gain);
  const deviation = gain => sqrt(2 / PI * atan2(2 * gain * gain, sqrt(1 + 4 * gain * gain)));  // of erf(gain z)
  const covarianceRow = (n, xi, gain) => kernelRow(n, xi).map(r =>
    r === 1 ? 1 : 2 / PI * asin(saturation(gain) * r) / deviation(gain) ** 2);

  /** Data with label 1, x = erf(gain z) / Z and z; one white noise for all lengths and gains, so that fields move smoothly. */
  function nlgpSample(n, xi, gain, white) {
    const spectrum = eigenvalues(kernelRow(n, xi)).map(value => sqrt(max(value, 0)));
    const root = range(n).map(d => sum(range(n), k => spectrum[min(k, n - k)] * cos(2 * PI * k * d / n)) / n);
    const z = white.map(noise => range(n).map(i => sum(noise, (value, j) => value * root[(i - j + n) % n])));
    return {z, x: z.map(row => row.map(value => erf(gain * value) / deviation(gain)))};
  }
  /** Pre-activations of an even field are these rows times its first half: every vector, every place. */
  function turns(vectors) {
    const n = vectors[0].length, half = floor(n / 2) + 1, rows = new Float64Array(vectors.length * n * half);
    let at = 0;
    for (const x of vectors) for (let s = 0; s < n; s++) for (let d = 0; d < half; d++) {
      rows[at++] = x[(s + d) % n] + (d > 0 && 2 * d < n ? x[(s - d + n) % n] : 0);
    }
    return rows;
  }
  /** Mean of |<w, x>| over rows, and its gradient in the first half of w. */
  function meanSize(w, rows) {
    const half = w.length, slope = new Float64Array(half), count = rows.length / half;
    let total = 0;
    for (let at = 0; at < rows.length; at += half) {
      let u = 0;
      for (let d = 0; d < half; d++) u += w[d] * rows[at + d];
      total += abs(u);
      if (u > 0) for (let d = 0; d < half; d++) slope[d] += rows[at + d];
      else for (let d = 0; d < half; d++) slope[d] -= rows[at + d];
    }
    return [total / count, slope.map(part => part / count)];
  }
  /** w'Cw for a circulant C, and its gradient in the first half of w. */
  function quadratic(w, row) {
    const n = row.length, full = unfold(w, n), image = full.map((_, i) => sum(full, (value, j) => value * row[(i - j + n) % n]));
    return [dot(full, image), w.map((_, d) => 2 * image[d] * (d > 0 && 2 * d < n ? 2 : 1))];
  }
  const unfold = (half, n) => range(n).map(i => half[min(i, n - i)]);

  /** What the score of one neuron needs, R = (E_1|u|)^2 / (w'(C0 + C1)w / 2) with u = <w, x>. */
  function fieldTask(n, xi1, xi2, gain, white) {
    const {x, z} = nlgpSample(n, xi1, gain, white), one = covarianceRow(n, xi1, gain), zero = covarianceRow(n, xi2, gain);
    const linear = 2 * gain / sqrt(PI * (1 + 2 * gain * gain)) / deviation(gain);  // E x z
    return {n, x: turns(x), z: turns(z), kernel: kernelRow(n, xi1), power: one.map((c, i) => (c + zero[i]) / 2), linear};
  }
  /** -log R and its gradient. Only E|u| is sampled; its Gaussian part c<w, z>, known exactly, is the control variate. */
  function minusLogScore(w, task) {
    const [size, bySize] = meanSize(w, task.x), [control, byControl] = meanSize(w, task.z), c = task.linear;
    const [spread, bySpread] = quadratic(w, task.kernel), [power, byPower] = quadratic(w, task.power);
    const known = sqrt(2 / PI * spread), mean = size + c * (known - control);
    return [log(power) - 2 * log(mean), w.map((_, d) =>
      byPower[d] / power - 2 * (bySize[d] + c * (bySpread[d] / PI / known - byControl[d])) / mean)];
  }
  /** Minimum of a smooth function with its gradient: L-BFGS with a halved step. */
  function descend(objective, start, steps = 60) {
    let x = start, [value, slope] = objective(x);
    const past = [];
    for (let step = 0; step < steps; step++) {
      const q = [...slope], alphas = [];
      for (const {s, y, rho} of [...past].reverse()) {
        const alpha = rho * dot(s, q);
        alphas.push(alpha);
        y.forEach((part, i) => { q[i] -= alpha * part; });
      }
      const last = past.at(-1), scale = last ? dot(last.s, last.y) / dot(last.y, last.y) : 0.1 / hypot(...slope);
      const direction = q.map(part => part * scale);
      for (const {s, y, rho} of past) {
        const beta = rho * dot(y, direction), alpha = alphas.pop();
        s.forEach((part, i) => { direction[i] += (alpha - beta) * part; });
      }
      const decline = dot(slope, direction);
      let size = 1, next, found;
      do {
        next = x.map((part, i) => part - size * direction[i]);
        found = objective(next);
        size /= 2;
      } while (!(found[0] <= value - 1e-4 * size * decline) && size > 1e-6);
      if (!(found[0] < value)) break;
      const s = next.map((part, i) => part - x[i]), y = found[1].map((part, i) => part - slope[i]);
      if (dot(s, y) > 0) past.push({s, y, rho: 1 / dot(s, y)});
      if (past.length > 8) past.shift();
      const gain = value - found[0];
      [x, value, slope] = [next, ...found];
      if (gain < 1e-9) break;
    }
    return [x, value];
  }
  /** The field with the largest score, in units of its peak; the starts are bumps of three widths. */
  function bestField(task) {
    const half = floor(task.n / 2) + 1, ends = [1, 3, 12].map(width =>
      descend(w => minusLogScore(w, task), range(half).map(d => exp(-((d / width) ** 2)) + 0.02)));
    const [w, value] = ends.reduce((best, end) => end[1] < best[1] ? end : best);
    return {field: unfold(w.map(part => part / w[0]), task.n), score: exp(-value)};
  }
  const nIpr = w => w.length * sum(w, x => x ** 4) / sum(w, x => x * x) ** 2;

  // ---------------------------------------------------------------- Toy Models

  /** A model ReLU(W'W x + b) in two dimensions, trained by Adam on the squared error weighted by importance. */
  function toyModel(n, seed) {
    const uniform = generator(seed), size = 3 * n;  // the columns of W, then b
    return {n, uniform, step: 0, first: new Float64Array(size), second: new Float64Array(size),
      weights: Float64Array.from([...normals(2 * n, uniform).map(z => z * sqrt(2 / (n + 2))), ...range(n).map(() => 0)])};
  }
  const featureVectors = (count, n, S, uniform) =>
    range(count).map(() => range(n).map(() => max(0, (uniform() - S) / (1 - S))));
  const column = (weights, i) => [weights[2 * i], weights[2 * i + 1]];

  /** Mean loss on feature vectors and its gradient in the weights. */
  function toyLoss(weights, vectors, importance) {
    const n = importance.length, slope = new Float64Array(3 * n);
    let total = 0;
    for (const x of vectors) {
      let [h0, h1, g0, g1] = [0, 0, 0, 0];
      for (let i = 0; i < n; i++) {
        h0 += weights[2 * i] * x[i];
        h1 += weights[2 * i + 1] * x[i];
      }
      for (let j = 0; j < n; j++) {
        const y = weights[2 * j] * h0 + weights[2 * j + 1] * h1 + weights[2 * n + j], error = max(y, 0) - x[j];
        total += importance[j] * error * error;
        if (y <= 0) continue;
        const by = 2 * importance[j] * error;
        slope[2 * n + j] += by;
        slope[2 * j] += by * h0;
        slope[2 * j + 1] += by * h1;
        g0 += by * weights[2 * j];
        g1 += by * weights[2 * j + 1];
      }
      for (let i = 0; i < n; i++) {
        slope[2 * i] += g0 * x[i];
        slope[2 * i + 1] += g1 * x[i];
      }
    }
    return [total / vectors.length, slope.map(part => part / vectors.length)];
  }
  function toyStep(model, S, importance, {batch = 512, rate = 0.01} = {}) {
    const [, slope] = toyLoss(model.weights, featureVectors(batch, model.n, S, model.uniform), importance);
    model.step += 1;
    slope.forEach((g, i) => {
      model.first[i] += 0.1 * (g - model.first[i]);
      model.second[i] += 0.001 * (g * g - model.second[i]);
      const size = sqrt(model.second[i] / (1 - 0.999 ** model.step)) + 1e-8;
      model.weights[i] -= rate * model.first[i] / (1 - 0.9 ** model.step) / size;
    });
  }
  const overlaps = weights => {
    const n = weights.length / 3;
    return range(n).map(j => range(n).map(i => dot(column(weights, j), column(weights, i))));
  };

  window.superposition = {
    erf, erfc, linearLoss, loss, optimum, antipodalOptimum, bestDigon, fanLoss, sweptLoss, bestKnown, fan, cone, codeLoss, fourPoint,
    push, turningDepth, criticalGain, covarianceRow, fieldTask, bestField, nIpr, generator, normals, toyModel, toyStep, toyLoss,
  };

  // ---------------------------------------------------------------- drawing

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
  const tint = (value, limit) => ({fill: value < 0 ? "var(--blue)" : "var(--vermilion)", "fill-opacity": min(abs(value) / limit, 1)});

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
   * The frame of every slider: inputs above, one drawing, a table or sentence below.
   *
   * `build` makes the inputs and returns a function of the width that gives {height, parts, label, below}.
   */
  function frame(place, title, build) {
    const inputs = element("div", {class: "inputs"}), drawing = shape("svg", {role: "img"});
    const below = element("div", {class: "below", "aria-live": "polite"});
    place.replaceChildren(element("p", {class: "title"}), inputs, drawing, below);
    place.firstChild.innerHTML = html(title);
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", title.replace(/[*_]/g, ""));
    let waiting = false;
    const redraw = () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        show();
      });
    };
    const draw = build({place, inputs, drawing, redraw, add: (...made) => inputs.append(...made)});
    function show() {
      const share = Number(getComputedStyle(place).getPropertyValue("--share")) || 1;  // words beside a drawing
      const width = clip(share * place.clientWidth - 2, 260, 720), found = draw(width);
      drawing.setAttribute("viewBox", `0 0 ${width} ${found.height}`);
      drawing.setAttribute("width", width);
      drawing.setAttribute("height", found.height);
      drawing.setAttribute("aria-label", found.label);
      drawing.replaceChildren(...found.parts);
      if (below.innerHTML !== found.below) below.innerHTML = found.below;
    }
    show();
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

  const sliders = {

    /** Loss per feature against the compression ratio. */
    loss(place) {
      frame(place, "How low can the loss of a layer go?", panel => {
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
    },

    /** Loud features hide quiet ones; at a small ratio of loudness quiet ones disturb the loud. */
    fan(place) {
      frame(place, "How loud must the loud be?", panel => {
        const B = slider(panel, "features *B*", {low: 4, high: 12, value: 8, step: 1});
        const ratio = slider(panel, "loudness of each over the next", {low: 1, high: 100, value: 3, log: true});
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
          const silent = range(size).filter(t => on.has(t) && y[t] < 0.01), false_ = range(size).filter(t => !on.has(t) && y[t] > 0.01);
          const names = list => list.length ? list.map(t => t + 1).join(", ") : "none";
          return {height: top + height + 46, parts: [group, chart.group],
            label: `A fan of ${size} features, each ${number(ratio.value)} times as loud as the next. Hidden: ${names(silent)}. ` +
              `False answers: ${names(false_)}.`,
            below: `<p>${key("var(--shade)", "", true)} input <i>x</i> ${key("var(--vermilion)", "", true)} answer <i>f</i>(<i>x</i>). ` +
              `Hidden by a louder one: <b>${names(silent)}</b>. Off, and answers nevertheless: <b>${names(false_)}</b>.</p>` +
              `<p>At <i>p</i> = 0.05 the loss is <b>${number(losses.get(at) / rug, 2)}</b> of that of the Persian rug with the same ` +
              `<i>r</i> = ${number(2 / size, 2)}; if the loud were infinitely louder, ${number(fanLoss(p, size) / rug, 2)}.</p>`};
        };
      });
    },

    /** A cone in space, turned by mouse, finger or keys: the reader of one feature cuts it off from all others. */
    cone(place) {
      frame(place, "One plane cuts one arrow off", panel => {
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
    },

    /** Which way noise on the neurons pushes a row: not by the sign of the kurtosis alone. */
    push(place) {
      frame(place, "Does this noise make encodings sparse?", panel => {
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
    },

    /** The best receptive field of one neuron, computed from data. */
    field(place) {
      frame(place, "When does a receptive field localize?", panel => {
        const gain = slider(panel, "gain *g*", {low: 0.05, high: 10, value: 1, log: true});
        const xi1 = slider(panel, "length *ξ*₁ (label 1), pixels", {low: 1, high: 3.6, value: 2, step: 0.1});
        const xi2 = slider(panel, "length *ξ*₂ (label 0), pixels", {low: 0.4, high: 3.2, value: 1, step: 0.1});
        const n = 40, uniform = generator(1), white = range(200).map(() => normals(n, uniform)), known = new Map();
        return width => {
          const [g, one, zero] = [gain.value, xi1.value, min(xi2.value, round(9 * xi1.value) / 10)], name = `${g} ${one} ${zero}`;
          if (!known.has(name)) known.set(name, bestField(fieldTask(n, one, zero, g, white)).field);
          const field = known.get(name), stacked = width < 560, left = stacked ? width : 0.4 * width, group = shape("g");
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
            label: `Best receptive field of one neuron on a ring of 40 pixels at gain ${number(g)}: n IPR is ${number(nIpr(field))}.`,
            below: `<p><i>n</i> IPR = <b>${number(nIpr(field))}</b>; a flat field has 1, a single pixel ${n}. ${threshold}${limited}</p>`};
        };
      });
    },

    /** Five features in two dimensions, trained before the reader's eyes. */
    pentagon(place) {
      frame(place, "Five features, two dimensions: train it", panel => {
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
    },
  };

  places.forEach(place => sliders[place.dataset.slider]?.(place));
  window.superposition.kit = {frame, slider, axes, shape, line, words, table, key, number, linspace};  // for sliders in files of their own
  document.dispatchEvent(new Event("sliders"));
});
