// What is wider than a phone's page: a formula is set smaller, the rows of a table are stacked.
(() => {
  const SMALLEST = 0.45;  // of a formula's own size
  const fitFormulas = () => {
    const formulas = [...document.querySelectorAll("div.math mjx-container")];
    for (const e of formulas) {
      e.dataset.size ??= parseFloat(e.style.fontSize) || 100;  // MathJax has set it
      e.style.fontSize = `${e.dataset.size}%`;
    }
    const ratios = formulas.map(e => e.clientWidth / e.scrollWidth);  // all are measured before any is changed
    formulas.forEach((e, i) => {
      if (ratios[i] > 0 && ratios[i] < 1)
        e.style.fontSize = `${e.dataset.size * Math.max(SMALLEST, 0.98 * ratios[i])}%`;
    });
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
  const fit = () => { fitFormulas(); if (window.innerWidth <= 768) fitTables(); };
  window.addEventListener("load", () => {
    Promise.resolve(window.MathJax?.startup?.promise).then(fit);
    window.addEventListener("resize", fit);
    document.addEventListener("toggle", fit, true);  // what was folded had no width
  });
})();
