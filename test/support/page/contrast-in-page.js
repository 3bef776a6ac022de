// Evaluated in the page, which has what Node has not: its last expression is the answer.
(() => {
  const parse = (text) => {
    const [r = 0, g = 0, b = 0, a = 1] = [...text.matchAll(/[\d.]+/g)].map(([number]) => Number(number));
    return [r, g, b, a];
  };
  const over = ([r, g, b, a], [r2, g2, b2]) => [r * a + r2 * (1 - a), g * a + g2 * (1 - a), b * a + b2 * (1 - a), 1];
  const behind = (element) => {
    if (!element) return [255, 255, 255, 1];
    const own = parse(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, behind(element.parentElement));
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent.trim();
    if (text === '') continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const background = behind(element);
    const [light, dark] = [luminance(over(parse(color), background)), luminance(background)].toSorted((a, b) => b - a);
    const size = Number.parseFloat(fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
    found.push({ text: text.slice(0, 60), ratio: (light + 0.05) / (dark + 0.05), needed: isLarge ? 3 : 4.5 });
  }
  return found;
})();
