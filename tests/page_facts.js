// Facts about the open page; the tests judge them.
() => {
  const short = s => s.trim().replace(/\s+/g, " ").slice(0, 80);
  const inside = (e, selector) => e.closest(selector) !== null;
  const CODE = "pre, code, script, style, textarea, mjx-container, title, noscript, template";
  const RAW = /\$\$|\\\(|\\\[|\\[a-zA-Z]{2,}|\$[^\s$](?:[^$\n]*[^\s$])?\$/;

  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (walker.currentNode.data.trim()) texts.push(walker.currentNode);

  // Collapsed cells count too: the reader unfolds them.
  const rawTex = texts.filter(t => RAW.test(t.data) && !inside(t.parentElement, CODE)).map(t => short(t.data));

  const unrendered = [...document.querySelectorAll(".math")].filter(e => !e.querySelector("mjx-container"));
  // An undefined macro is no error to MathJax: it is shown in red.
  const formulaErrors = document.querySelectorAll(
    "mjx-merror, mjx-container [data-mjx-error], mjx-assistive-mml mtext[mathcolor='red']");

  const parse = c => {
    const [r, g, b, a = 1] = (c.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
    return [r, g, b, a];
  };
  const backgrounds = new Map([[null, [255, 255, 255, 1]]]);  // asking for styles up to the root is what takes long
  const background = e => {
    if (!backgrounds.has(e)) {
      const [r, g, b, a] = parse(getComputedStyle(e).backgroundColor), below = a < 1 ? background(e.parentElement) : [0, 0, 0];
      backgrounds.set(e, [...[r, g, b].map((part, i) => Math.round(a * part + (1 - a) * below[i])), 1]);  // boxes are tinted
    }
    return backgrounds.get(e);
  };
  const visible = e => e.checkVisibility({opacityProperty: true, visibilityProperty: true});
  // The theme's code colours and links are its own business, but for links on the tint of a box.
  const SKIP = ".highlight, mjx-container, a:not(.admonition a), button, .visually-hidden, script, style, math, summary";
  const read = new Map();  // each pair of colours once: thousands of texts share a few
  for (const e of document.querySelectorAll("main article *")) {
    if (inside(e, SKIP) || !visible(e) || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const color = parse(getComputedStyle(e).color), on = background(e), pair = `${color} ${on}`;
    if (!read.has(pair)) read.set(pair, {text: short(e.textContent), color, on});
  }

  const limit = document.documentElement.clientWidth + 1;
  const scrolls = e => {
    for (e = e.parentElement; e && e.tagName !== "BODY"; e = e.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.getBoundingClientRect().right <= limit
          && inside(e, "article")) return true;
    return false;
  };
  const overflowing = [...document.querySelectorAll("main article *")]
    .filter(e => visible(e) && !inside(e, "mjx-assistive-mml") && e.getBoundingClientRect().right > limit && !scrolls(e))
    .map(e => `${e.tagName} ${e.className}: ${short(e.textContent)}`);

  // What has to be pushed to be read; parts that are folded have no width. A formula may, rather than be too small.
  const smallest = e => parseFloat(getComputedStyle(e).fontSize) < 12.5;
  const scrolling = [...document.querySelectorAll("main article :is(div.math mjx-container, table)")]
    .filter(e => visible(e) && (e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > limit
      || (e.tagName === "TABLE" && e.clientWidth > e.parentElement.clientWidth + 1)) && !(e.matches("mjx-container") && smallest(e)))
    .map(e => `${e.tagName}: ${short(e.textContent)}`);
  const tiny = [...document.querySelectorAll("main article div.math > mjx-container")]
    .filter(e => visible(e) && parseFloat(getComputedStyle(e).fontSize) < 11.9).map(e => short(e.textContent));

  // A number that goes on in the next line is read as two.
  const range = document.createRange();
  const broken = [];
  for (const text of texts) {
    if (!inside(text.parentElement, "main article table") || !visible(text.parentElement)) continue;
    for (const number of text.data.matchAll(/\d[\d.,]*\d/g)) {
      range.setStart(text, number.index);
      range.setEnd(text, number.index + number[0].length);
      if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) broken.push(short(text.data));
    }
  }

  // Folds have names, and those that are seen are those that are heard.
  const unnamed = [...document.querySelectorAll("main summary, nav summary")].filter(e => {
    const seen = e.textContent.trim(), said = e.getAttribute("aria-label");
    return !(said || seen) || (said && seen && !said.includes(seen));
  }).map(e => e.outerHTML.slice(0, 120));

  return {
    theme: document.documentElement.dataset.theme,
    width: window.innerWidth,
    scrollWidth: document.documentElement.scrollWidth,
    mathJax: Boolean(window.MathJax?.startup?.document) || !document.querySelector(".math"),
    rawTex,
    unrendered: unrendered.map(e => short(e.textContent)),
    formulaErrors: [...formulaErrors].map(e => short(e.textContent || e.outerHTML)),
    images: [...document.querySelectorAll("main article img")].map(
      i => ({src: i.getAttribute("src"), alt: i.alt, width: i.naturalWidth})),
    texts: [...read.values()],
    overflowing,
    scrolling,
    tiny,
    broken,
    unnamed,
  };
}
