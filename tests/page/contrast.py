"""Script for the browser: every piece of text whose contrast with its ground is below 4.5 to 1 (WCAG 2.2, AA)."""

TOO_FAINT = """() => {
  const parts = colour => [...colour.match(/[\\d.]+/g).map(Number), 1].slice(0, 4);
  const linear = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const ground = element => {
    for (; element; element = element.parentElement) {
      const colour = parts(getComputedStyle(element).backgroundColor);
      if (colour[3] > 0.99) return colour;
    }
    return [255, 255, 255, 1];
  };
  const faint = [];
  for (const element of document.querySelectorAll('body *')) {
    const written = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!written || !element.getClientRects().length || element.closest('[disabled], script, style, option, title')) continue;
    const style = getComputedStyle(element);
    const ink = light(parts(element instanceof SVGElement ? style.fill : style.color)), paper = light(ground(element));
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (ratio < 4.5) faint.push(`${ratio.toFixed(2)} ${element.tagName} ${element.textContent.slice(0, 40)}`);
  }
  return [...new Set(faint)];
}"""
