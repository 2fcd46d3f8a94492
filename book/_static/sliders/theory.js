// What the sliders know: a translation of the Python library, against which the tests hold it. Scripts come in any order.
Object.assign(window.superposition ??= {}, (() => {
  "use strict";

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
    return best[0];
  }
  function golden(value, low, high) {
    const share = (sqrt(5) - 1) / 2;
    let left = high - share * (high - low), right = low + share * (high - low);
    let [atLeft, atRight] = [value(left), value(right)];
    for (let i = 0; i < 28; i++) {
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
  /** The best gain of an output R, and the loss that it leaves, from E[x R] and E[R^2]. */
  const bestGain = (overlap, power, p) => power > 0 && overlap > 1e-150 ? [overlap / power, p / 3 - overlap ** 2 / power] : [1, p / 3];
  const rugGain = (shift, sigma, p) =>
    bestGain(p * ramp(1, 1, shift, 1, sigma), (1 - p) * moment(2, shift, sigma) + p * ramp(0, 2, shift, 1, sigma), p);
  // b / (a sigma)
  const THRESHOLDS = [...geomspace(30, 0.05, 36).map(z => -z), 0, ...geomspace(0.05, 1e4, 24)];

  /** Best gain and bias at the least noise, as superposition.rug.optimum. */
  function optimum(p, r) {
    const sigma = noiseStd(p, r);
    if (sigma === 0) return {a: 1, b: 0, sigma, loss: 0};
    const at = z => {
      const [a] = rugGain(z * sigma, sigma, p);
      return [a, a * z * sigma, a * sigma, p];
    };
    const slope = z => slopeInBias(...at(z));
    let z = lowest(z => rugGain(z * sigma, sigma, p)[1], THRESHOLDS);
    const [low, high] = [z - 1e-3 * (abs(z) + 1), z + 1e-3 * (abs(z) + 1)];
    if (slope(low) < 0 && slope(high) > 0) z = root(slope, low, high);  // sharper than a minimum
    const [a, b] = at(z);
    return {a, b, sigma, loss: lossAt(...at(z))};
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
    return bestGain(overlap, power, p);
  }
  function partnerOptimum(sigma, c, p) {
    const rest = sigma ** 2 - c * c * variance(p), noise = rest > 1e-12 * sigma ** 2 ? sqrt(rest) : 0;
    const at = z => partnerGain(z * sigma, noise, c, p), z = lowest(z => at(z)[1], THRESHOLDS), [a] = at(z);
    return {a, b: a * z * sigma, sigma, loss: partnerLoss(a, a * z * sigma, noise, c, p)};
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

  /** codes.chain_loss over the swept fan of five, from p = 0.001 to 0.32 in equal factors. */
  const CHAIN = [0.99965, 0.99955, 0.99942, 0.99926, 0.99905, 0.99879, 0.99845, 0.99802, 0.99748, 0.99682, 0.99608, 0.99533,
    0.99461, 0.99394, 0.99332, 0.99277, 0.99229, 0.99191, 0.99162, 0.99143, 0.99136, 0.99140, 0.99155, 0.99177];
  /** codes.chain_loss: tuned pairs, and a chain of three if B is odd; digon is the loss of the best digon at p. */
  function chainLoss(p, B, digon) {
    const at = min(max(23 * Math.log(p / 0.001) / Math.log(320), 0), 23), i = min(Math.floor(at), 22), odd = B % 2;
    const five = sweptLoss(p, 5) * (1 - CHAIN[i] - (at - i) * (CHAIN[i + 1] - CHAIN[i])), count = Math.floor((B - 2) / 2);
    const pairs = 2 * (25 / 162 * p * p - digon) * sum(range(count - odd), j => (1 - p) ** (2 * j));
    return sweptLoss(p, B) - (pairs + odd * 5 * five * (1 - p) ** (2 * count - 2)) / B;
  }

  /** Everything that holds at one p: curves, fans, and the lower hull of all codes, as superposition.codes.best_known. */
  const atProbability = remembered(p => {
    const ratios = [...geomspace(1e-3, 0.1, 12), ...linspace(0.1, 0.5, 13).slice(1)];
    const curve = (name, best, at) => at.map(r => ({name, r, loss: best(p, r).loss}));
    const antipodal = curve("antipodal rug", antipodalOptimum, ratios);
    const rug = curve("rug", optimum, [...ratios, ...linspace(0.54, 0.94, 11), ...geomspace(0.05, 0.002, 7).map(x => 1 - x)]);
    const digon = bestDigon(p), fans = range(123).map(i => i + 4).map(B => B > 4 && B <= 40 ?
      {name: "swept", r: 2 / B, loss: chainLoss(p, B, digon)} : {name: "fan", r: 2 / B, loss: fanLoss(p, B)});
    const ends = [{name: "dropped", r: 0, loss: variance(p)}, {name: "own dimension", r: 1, loss: 0},
      {name: "digon", r: 0.5, loss: digon}];
    return {rug, antipodal, fans, points: [...ends, ...rug, ...antipodal, ...fans]};
  });
  function remembered(of) {
    const known = new Map();
    return (...at) => {
      const name = at.join();
      if (!known.has(name)) known.set(name, of(...at));
      return known.get(name);
    };
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
  /** Inputs with three or more of B features on, each a list of features with their strengths; the same ones every time. */
  const crowds = remembered((B, p, samples) => {
    const uniform = generator(5), features = range(B), choose = on => features.slice(0, on).reduce((ways, i) => ways * (B - i) / (i + 1), 1);
    const chances = range(B - 2).map(i => choose(i + 3) * p ** (i + 3) * (1 - p) ** (B - i - 3)), many = sum(chances);
    return range(samples).map(() => {
      let on = 3, left = uniform() * many;
      while (on < B && (left -= chances[on - 3]) > 0) on++;
      const order = features.map(t => [uniform(), t]).sort(([u], [v]) => u - v);
      return order.slice(0, on).map(([, t]) => [t, uniform()]);
    });
  });
  /** Loss per feature of a code without bias: up to two features on exactly, more of them by fixed samples. */
  function codeLoss(W, p, samples = 6000) {
    const B = W.length, features = range(B);
    const chance = on => p ** on * (1 - p) ** (B - on), many = max(1 - chance(0) - B * chance(1) - B * (B - 1) / 2 * chance(2), 1e-300);
    const alone = sum(W, (row, t) => sum(row, (w, s) => (s === t ? 1 - max(w, 0) : max(w, 0)) ** 2)) / 3;
    const pairs = sum(features, i => sum(features.slice(0, i), k => pairLoss(W, i, k)));
    const total = sum(crowds(B, p, samples), on => {
      let lost = 0;
      for (let j = 0; j < B; j++) {
        let y = 0, own = 0;
        for (const [t, x] of on) {
          y += W[j][t] * x;
          if (t === j) own = x;
        }
        lost += (max(y, 0) - own) ** 2;
      }
      return lost;
    });
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
    const length = hypot(...u), unit = u.map(x => x / length), f = sum(unit, x => x ** 4), half = floor(u.length / 2);
    const first = patterns(unit.slice(0, half), f, law), second = patterns(unit.slice(half), f, law);
    second.sort((one, other) => other[0] - one[0]);
    const totals = Float64Array.from(second, ([total]) => total), found = new Float64Array(depths.length);
    // weight, weight total, weight along and weight total along, summed over the largest totals of the second half
    const [w, wt, wa, wta] = [() => 1, total => total, (total, along) => along, (total, along) => total * along].map(of => {
      const sums = new Float64Array(second.length + 1);
      second.forEach(([total, along, weight], i) => { sums[i + 1] = sums[i] + weight * of(total, along); });
      return sums;
    });
    for (const [total, along, weight] of first) {
      let above = second.length;
      for (let j = 0; j < depths.length; j++) {  // deeper and deeper, so that fewer and fewer are above
        const over = total - depths[j];
        while (above > 0 && totals[above - 1] <= -over) above--;
        if (!above) break;
        found[j] -= 8 * weight * (along * (over * w[above] + wt[above]) + over * wa[above] + wta[above]);
      }
    }
    return found;
  }
  /** Of every pattern of noise on some neurons: what it adds to the output, and along its gradient, and how likely it is. */
  const patterns = (unit, f, law) => unit.reduce((found, x) => found.flatMap(([total, along, weight]) => law.points.map((point, i) =>
    [total + x * point, along + (x ** 3 - f * x) * point, weight * law.probabilities[i]])), [[0, 0, 1]]);
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
  /** Pre-activations of an even field are these rows times its first half: every vector, at every place or fewer of them. */
  function turns(vectors, apart) {
    const n = vectors[0].length, half = floor(n / 2) + 1, rows = new Float64Array(vectors.length * n / apart * half);
    let at = 0;
    for (const [i, x] of vectors.entries()) for (let s = i % apart; s < n; s += apart) for (let d = 0; d < half; d++) {
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
  function fieldTask(n, xi1, xi2, gain, white, apart = 1) {
    const {x, z} = nlgpSample(n, xi1, gain, white), one = covarianceRow(n, xi1, gain), zero = covarianceRow(n, xi2, gain);
    const linear = 2 * gain / sqrt(PI * (1 + 2 * gain * gain)) / deviation(gain);  // E x z
    return {n, x: turns(x, apart), z: turns(z, apart), kernel: kernelRow(n, xi1), power: one.map((c, i) => (c + zero[i]) / 2), linear};
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
  function descend(objective, start, steps) {
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
  /** The field with the largest score, in units of its peak; the starts are bumps of some widths. */
  function bestField(task, widths = [1, 3, 12], steps = 60) {
    const half = floor(task.n / 2) + 1, ends = widths.map(width =>
      descend(w => minusLogScore(w, task), range(half).map(d => exp(-((d / width) ** 2)) + 0.02), steps));
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

  return {
    clip, sum, range, linspace, generator, normals, erf, erfc, variance, linearLoss, loss, optimum, antipodalOptimum, bestDigon,
    fanLoss, sweptLoss, atProbability, bestKnown, lowerHull, mixture, fan, fanAngles, cone, answers, codeLoss, fourPoint, smallestSixth,
    push, turningDepth, criticalGain, covarianceRow, nlgpSample, fieldTask, bestField, nIpr, toyModel, toyStep, toyLoss, column, overlaps,
  };
})());
