// What is wrong with a page of the site as it is shown, a sentence for each mistake.
(() => {
  const wrong = new Set();
  const shown = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const name = (node) =>
    `${node.tagName.toLowerCase()} "${(node.textContent || node.src || "").trim().slice(0, 40)}"`;

  // Wider than the window, or cut off by something that does not scroll.
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) wrong.add("the page scrolls sideways");
  const scrolls = (node) =>
    node && !node.matches("article, body") &&
      (/auto|scroll/.test(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
  const wide = (node) => node.getBoundingClientRect().right > width + 1;
  for (const node of document.querySelectorAll("article *, header *"))
    if (wide(node) && !wide(node.parentElement) && shown(node) && !scrolls(node))
      wrong.add(`${name(node)} ends right of the window`);

  for (const image of document.images)
    if (!image.alt.trim()) wrong.add(`${image.src} has no alternative text`);
    else if (image.complete && !image.naturalWidth) wrong.add(`${image.src} is not shown`);

  // Contrast as the Web Content Accessibility Guidelines 2.2 define it (1.4.3).
  const parsed = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const over = ([r, g, b, a = 1], below) =>
    [r, g, b].map((value, i) => a * value + (1 - a) * below[i]);
  const background = (node) => {
    if (!node) return [255, 255, 255];
    const color = parsed(getComputedStyle(node).backgroundColor);
    return color[3] === 0 ? background(node.parentElement)
      : over(color, (color[3] ?? 1) < 1 ? background(node.parentElement) : color);
  };
  const luminance = (color) => {
    const [r, g, b] = color.map((v) =>
      v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !shown(node) || node.closest("svg, noscript, select"))
      continue;
    const style = getComputedStyle(node), behind = background(node);
    const [dark, light] = [luminance(over(parsed(style.color), behind)), luminance(behind)]
      .sort((a, b) => a - b);
    const size = parseFloat(style.fontSize), large = size >= (style.fontWeight >= 700 ? 18.66 : 24);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < (large ? 3 : 4.5)) wrong.add(`${name(node)} has a contrast of ${ratio.toFixed(2)}`);
  }
  return [...wrong];
})()
