// What is wider than its column: a formula is set smaller, and scrolls where it would be too small; the rows of a table
// are stacked.
(() => {
  const SMALLEST = 12;  // pixels
  const fitFormulas = () => {
    const formulas = [...document.querySelectorAll("div.math mjx-container")];
    for (const e of formulas) {
      e.dataset.size ??= parseFloat(e.style.fontSize) || 100;  // MathJax has set it
      e.style.fontSize = `${e.dataset.size}%`;
    }
    // all are measured before any is changed
    const ratios = formulas.map(e => [e.clientWidth / e.scrollWidth, SMALLEST / parseFloat(getComputedStyle(e).fontSize)]);
    formulas.forEach((e, i) => {
      const [ratio, least] = ratios[i];
      if (ratio > 0 && ratio < 1) e.style.fontSize = `${e.dataset.size * Math.min(1, Math.max(least, 0.98 * ratio))}%`;
    });
    formulas.forEach(e => { if (e.scrollWidth > e.clientWidth + 1) e.tabIndex = 0; else e.removeAttribute("tabindex"); });
  };
  const fitTables = () => {
    const tables = [...document.querySelectorAll("main article table")];
    tables.forEach(e => e.classList.remove("stacked"));
    const wide = tables.filter(e => e.parentElement.clientWidth && e.scrollWidth > e.parentElement.clientWidth + 1);
    for (const e of wide) {
      const heads = [...e.querySelectorAll("th")].map(th => th.textContent.trim());
      for (const row of e.rows) [...row.cells].forEach((cell, i) => { cell.dataset.head = heads[i] ?? ""; });
      e.classList.add("stacked");
    }
  };
  const fit = () => { fitFormulas(); fitTables(); };
  window.addEventListener("load", () => {
    const article = document.querySelector("main article");
    if (!article) return;
    // Its size changes with the window's, and whenever something folded, which had no width, is opened.
    Promise.resolve(window.MathJax?.startup?.promise).then(() => new ResizeObserver(fit).observe(article));
  });
})();
