// Formulas are set where the reader looks first, then in the text, and last in what is folded; in parts, so that the page
// answers meanwhile. Without MathJax's menu: its hundreds of stops for the keyboard say nothing.
(() => {
  const PART = 60;  // formulas
  const set = async formulas => {
    for (let i = 0; i < formulas.length; i += PART) {
      await new Promise(done => setTimeout(done));
      await window.MathJax.typesetPromise(formulas.slice(i, i + PART));
    }
  };
  const pageReady = async () => {
    const order = {sight: [], text: [], folded: []};
    for (const formula of document.querySelectorAll(".math")) {
      const {top, bottom} = formula.getBoundingClientRect(), seen = bottom > 0 && top < innerHeight;
      order[!formula.checkVisibility() ? "folded" : seen ? "sight" : "text"].push(formula);
    }
    for (const [place, formulas] of Object.entries(order)) {
      await set(formulas);
      performance.mark(`maths in ${place}`);
    }
  };
  window.MathJax = {...window.MathJax, options: {...window.MathJax?.options, enableMenu: false}, startup: {pageReady}};
})();
