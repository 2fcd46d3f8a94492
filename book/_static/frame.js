// Folds, names for those who do not see, figures at full size, and what an equation, a figure or a source says in place.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  // Whatever an address leads to is opened.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
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
