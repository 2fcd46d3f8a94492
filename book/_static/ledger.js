// The ledger: filter, search, sort and export the claims; the errata: filter by verdict. What is chosen stands in the
// address, so that it can be sent. Without this script every claim is simply there.
(() => {
  /** Fields that start with what the address says, and write themselves into it. */
  const remembered = (fields, show) => {
    const asked = new URLSearchParams(location.search);
    const write = () => {
      const chosen = new URLSearchParams();
      for (const [name, field] of Object.entries(fields)) if (field.value) chosen.set(name, field.value);
      try {
        history.replaceState(null, "", `${chosen.size ? `?${chosen}` : location.pathname}${location.hash}`);
      } catch { /* a browser may keep the address of a file as it is */ }
      show();
    };
    for (const [name, field] of Object.entries(fields)) {
      if (asked.has(name)) field.value = asked.get(name);
      field.addEventListener("input", write);
    }
  };
  /** Parts of a page whose entries are all hidden go, heading included. */
  const hideEmpty = selector => document.querySelectorAll("main article section section").forEach(section => {
    const entries = section.querySelectorAll(selector);
    section.hidden = entries.length > 0 && [...entries].every(entry => entry.hidden);
  });

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("ledger-filter");
  if (!place) return;
  const claims = [...document.querySelectorAll("details.claim")];
  const order = new Map(claims.map((claim, i) => [claim, i]));
  const facts = claim => ({...claim.dataset});

  const sharpness = {
    "exact, or up to 1 %": r => r !== "" && r <= 0.01,
    "1 % to 10 %": r => r > 0.01 && r <= 0.1,
    "above 10 %": r => r > 0.1,
    "not known, or no check": r => r === "",
  };
  const choice = (name, values) => {
    const select = document.createElement("select");
    select.setAttribute("aria-label", name);
    select.add(new Option(`any ${name}`, ""));
    values.forEach(value => select.add(new Option(value, value)));
    return select;
  };
  const distinct = name => [...new Set(claims.map(claim => claim.dataset[name]))];
  const text = choice("text", distinct("text"));
  const chapter = choice("chapter", distinct("chapter"));
  const whose = choice("whose", distinct("whose"));
  const verdict = choice("verdict", distinct("verdict"));
  const resolution = choice("resolution", Object.keys(sharpness));
  const sort = choice("order", ["bluntest first"]);
  sort.options[0].text = "in the order of the texts";
  const search = Object.assign(document.createElement("input"), {type: "search", placeholder: "search"});
  search.setAttribute("aria-label", "search");
  const count = document.createElement("span");

  const chosen = claim => {
    const d = claim.dataset;
    return (!text.value || d.text === text.value) && (!chapter.value || d.chapter === chapter.value)
      && (!whose.value || d.whose === whose.value) && (!verdict.value || d.verdict === verdict.value)
      && (!resolution.value || sharpness[resolution.value](d.resolution))
      && claim.textContent.concat(d.statement).toLowerCase().includes(search.value.trim().toLowerCase());
  };
  const bluntness = claim => claim.dataset.resolution === "" ? Infinity : Number(claim.dataset.resolution);
  function show() {
    claims.forEach(claim => { claim.hidden = !chosen(claim); });
    count.textContent = `${claims.filter(claim => !claim.hidden).length} of ${claims.length} claims`;
    const sorted = [...claims].sort((a, b) =>
      (sort.value && bluntness(b) - bluntness(a)) || order.get(a) - order.get(b));
    hideEmpty("details.claim");
    document.querySelectorAll(".ours").forEach(part => { part.hidden = !part.querySelector("details.claim:not([hidden])"); });
    sorted.forEach(claim => {  // ours stay below, in a list of their own
      const list = claim.parentElement;
      list.insertBefore(claim, list.querySelector(":scope > .ours"));
    });
  }

  const quoted = value => `"${value.replaceAll('"', '""')}"`;
  const forms = {
    csv: rows => [Object.keys(rows[0]), ...rows.map(Object.values)].map(row => row.map(quoted).join(",")).join("\n"),
    json: rows => JSON.stringify(rows, null, 1),
  };
  const download = kind => {
    const button = Object.assign(document.createElement("button"), {textContent: kind.toUpperCase(), type: "button"});
    button.addEventListener("click", () => {
      const rows = claims.filter(claim => !claim.hidden).map(facts);
      if (!rows.length) return;
      const url = URL.createObjectURL(new Blob([forms[kind](rows)], {type: "text/plain"}));
      Object.assign(document.createElement("a"), {href: url, download: `ledger.${kind}`}).click();
      URL.revokeObjectURL(url);
    });
    return button;
  };
  place.append(search, text, chapter, whose, verdict, resolution, sort, download("csv"), download("json"), count);
  remembered({search, text, chapter, whose, verdict, resolution, sort}, show);
  show();
});

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("errata-filter");
  if (!place) return;
  const cards = [...document.querySelectorAll(".erratum")], select = document.createElement("select");
  const count = verdict => cards.filter(card => card.dataset.verdict === verdict).length;
  select.setAttribute("aria-label", "verdict");
  select.add(new Option(`all ${cards.length} entries`, ""));
  for (const verdict of new Set(cards.map(card => card.dataset.verdict)))
    select.add(new Option(`${verdict} (${count(verdict)})`, verdict));
  function show() {
    cards.forEach(card => { card.hidden = Boolean(select.value) && card.dataset.verdict !== select.value; });
    hideEmpty(".erratum");
  }
  place.append(select);
  remembered({verdict: select}, show);
  show();
});
})();
