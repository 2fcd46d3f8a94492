// How Sphinx's search orders what it finds: chapters, then other pages, then the ledger and what is like it, then names of
// the reference. A file cannot be read by its neighbour, so that opened pages show no excerpts instead of failing at each.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
var Scorer = {
  score: ([page, , , , score]) =>
    score + (/^ch\d/.test(page) ? 600 : /^reference\//.test(page) ? 0 : /^(ledger|errata|since|benchmarks|reproduce)$/.test(page) ? 200 : 400),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
