// Copies of the lower left corners of all figures in sight, in rows at the top of the window. A copy stands beside its
// figure, so that every rule of style that holds there holds for it, and moves nothing. Where to look at each is
// returned, and whether it is seen there.
async () => {
  const SIZE = 20, ROW = 20;
  const figures = [...document.querySelectorAll("main article img")].filter(e => e.checkVisibility({visibilityProperty: true}));
  const copies = figures.map((figure, i) => {
    const copy = figure.cloneNode();
    copy.classList.add("corner");
    Object.assign(copy.style, {
      position: "fixed", zIndex: 10_000, left: `${SIZE * (i % ROW)}px`, top: `${SIZE * Math.floor(i / ROW)}px`,
      width: `${SIZE}px`, height: `${SIZE}px`, objectFit: "none", objectPosition: "left bottom",
    });
    figure.after(copy);
    return copy;
  });
  await Promise.all(copies.map(copy => copy.decode()));
  return copies.map(copy => {
    const box = copy.getBoundingClientRect(), x = Math.round(box.left) + 3, y = Math.round(box.bottom) - 4;
    return [x, y, document.elementFromPoint(x, y) === copy];
  });
}
