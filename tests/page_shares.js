// Which part of a chapter's height is what, with everything folded: a block counts with the gap that follows it.
() => {
  const article = document.querySelector("main article");
  const box = e => e.getBoundingClientRect();
  const blocks = [];
  const add = (kind, e) => { if (box(e).height) blocks.push([kind, box(e).top]); };
  const kind = e => {
    if (e.matches("figure, img") || e.querySelector("figure, img")) return "figure";
    if (e.matches("details")) return "folded";
    if (e.matches("table") || e.querySelector("table")) return "table";
    if (e.matches("div.math")) return "formula";
    if (e.matches("pre, .highlight, .output, [class*=highlight-]")) return "printed";
    return "prose";  // headings, lists, and results, which are sentences
  };
  const walk = e => {
    if (e.matches("section")) return [...e.children].forEach(walk);
    if (!e.matches("div.cell")) return add(kind(e), e);
    for (const part of e.children) {
      if (part.matches(".cell_input")) add("code", part);
      else if (part.matches("details")) add("folded", part);
      else [...part.children].forEach(output => add(kind(output), output));
    }
  };
  [...article.children].forEach(walk);
  const end = box(article).bottom, start = blocks[0][1], shares = {};
  blocks.forEach(([name, top], i) => {
    const height = (blocks[i + 1]?.[1] ?? end) - top;
    shares[name] = (shares[name] ?? 0) + height / (end - start);
  });
  return {height: document.documentElement.scrollHeight, shares};
}
