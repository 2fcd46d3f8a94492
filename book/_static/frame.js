// Folds, names for those who do not see, figures at full size, and what an equation, a symbol, a word or a source says in place.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  // Whatever an address leads to is opened.
  const decoded = text => {
    try { return decodeURIComponent(text); } catch { return text; }  // "%" alone is not an encoding
  };
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decoded(location.hash.slice(1)));
    if (!target) return;
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  if (document.readyState === "complete") reveal();
  else window.addEventListener("load", reveal);

  // The theme's folds of the side bar have no names, and those of solutions hide theirs behind another.
  for (const summary of document.querySelectorAll("nav li.has-children > details > summary")) {
    const page = summary.closest("li").querySelector(":scope > a");
    summary.setAttribute("aria-label", `Pages below ${page ? page.textContent.trim() : "this one"}`);
  }
  const rename = () => document.querySelectorAll('summary[aria-label="Toggle hidden content"]').forEach(summary => {
    if (summary.textContent.trim()) summary.removeAttribute("aria-label");
  });
  window.addEventListener("load", rename);
  document.querySelectorAll('.citation-list[role="list"]').forEach(list => list.removeAttribute("role"));

  // A link to an equation, a figure, a theorem, a word or a source shows it in place, for the mouse and for the keyboard.
  const shown = Object.assign(document.createElement("div"), {className: "look-up", id: "look-up", hidden: true});
  shown.setAttribute("role", "tooltip");
  document.body.append(shown);
  const content = link => {
    if (link.dataset.said) {
      const text = document.createElement("div");
      text.textContent = link.dataset.said;
      return text;
    }
    const [page, id] = link.getAttribute("href").split("#");
    const target = page === "" && document.getElementById(id);
    const part = target && (target.matches("div.math, figure, .proof, .exercise, dt") ? target : target.closest("div.math"));
    if (!part) return null;
    const copy = (part.tagName === "DT" ? part.nextElementSibling ?? part : part).cloneNode(true);
    copy.querySelectorAll("[id]").forEach(e => e.removeAttribute("id"));
    copy.removeAttribute("id");
    return copy;
  };
  let waiting;
  const hide = () => {
    clearTimeout(waiting);
    shown.hidden = true;
  };
  const show = link => {
    const copy = content(link);
    if (!copy) return;
    shown.replaceChildren(copy);
    shown.hidden = false;
    link.setAttribute("aria-describedby", "look-up");
    const place = () => {
      const at = link.getBoundingClientRect(), own = shown.getBoundingClientRect();
      shown.style.left = `${Math.max(4, Math.min(at.left, document.documentElement.clientWidth - own.width - 4)) + scrollX}px`;
      shown.style.top = `${(at.bottom + own.height + 8 < innerHeight ? at.bottom + 6 : at.top - own.height - 6) + scrollY}px`;
    };
    place();
    if (/\\[[(]/.test(link.dataset.said)) window.MathJax?.typesetPromise?.([shown]).then(place);
  };
  const listen = (link, focusable = true) => {
    link.addEventListener("mouseenter", () => { waiting = setTimeout(show, 150, link); });
    link.addEventListener("mouseleave", hide);
    if (!focusable) return;
    link.addEventListener("focus", () => show(link));
    link.addEventListener("blur", hide);
  };
  for (const link of document.querySelectorAll('main article a.reference.internal[href*="#"]')) {
    if (link.title) {
      const to = link.getAttribute("href");
      if (/references|glossary/.test(to)) link.dataset.said = link.title;
      if (to.includes("equation-")) link.dataset.said = `\\[${link.title}\\]`;
      link.removeAttribute("title");
      // a formula is no name for a link
      if (link.matches(".meaning:has(.math)")) link.setAttribute("aria-label", link.dataset.said.replace(/\\[()]/g, ""));
    }
    listen(link);
  }
  // The first of a symbol is a link; the others say the same to the mouse, without a stop for the keyboard at each.
  const first = new Map();
  for (const symbol of document.querySelectorAll("main article span[class*='symbol-']")) {
    const name = symbol.className.match(/symbol-\d+/)[0], link = symbol.closest("a.meaning");
    if (link) first.set(name, link.dataset.said);
    else {
      symbol.dataset.said = first.get(name);
      listen(symbol, false);
    }
  }
  document.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });

  // On a narrow screen a figure opens at its full size, to be pushed around.
  document.querySelectorAll("main article figure img").forEach(image => image.addEventListener("click", () => {
    if (image.naturalWidth <= image.clientWidth * 1.2) return;
    const shown = document.createElement("dialog"), copy = image.cloneNode();
    shown.className = "full-size";
    shown.setAttribute("aria-label", "figure at full size");
    copy.removeAttribute("style");
    copy.removeAttribute("loading");
    copy.style.width = `${Math.max(image.naturalWidth, 700)}px`;
    shown.append(copy);
    shown.addEventListener("click", () => shown.close());
    shown.addEventListener("close", () => shown.remove());
    document.body.append(shown);
    shown.showModal();
  }));
});
