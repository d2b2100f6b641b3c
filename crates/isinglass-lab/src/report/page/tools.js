// Helpers: elements, numbers, colours, the tooltip.

const numbers = JSON.parse(document.getElementById('numbers').textContent);
const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  // Text children stay text, whatever they contain.
  node.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const nameOf = (unit) => numbers.names[unit];
const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? '' : 's'}`;
const whole = (x) => x.toLocaleString('en-US');

// A number with a few significant digits and a typographic minus sign.
function show(x, digits = 4) {
  if (x === null || x === undefined) return 'none';
  if (x === 0) return '0';
  const size = Math.abs(x);
  const text = size >= 1e6 || size < 1e-4 ? x.toExponential(digits - 1) : Number(x.toPrecision(digits)).toString();
  return text.replace('-', '\u2212');
}

const signed = (x, digits) => (x > 0 ? '+' : '') + show(x, digits);
const spin = (cell) => (cell > 0 ? '+1' : '\u22121');

// Round ticks between two numbers, about `count` of them.
function ticks(from, to, count) {
  const raw = (to - from) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= raw);
  const found = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

// A colour of the style sheet as red, green, blue.
function colour(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  return [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16));
}

const mix = (from, to, share) => from.map((x, k) => Math.round(x + (to[k] - x) * share));
const css = (rgb, alpha = 1) => `rgb(${rgb[0]} ${rgb[1]} ${rgb[2]} / ${alpha})`;

// Colours of numbers from -1 to 1: one hue on each side of the background.
function scale() {
  const [paper, plus, minus] = [colour('paper'), colour('plus'), colour('minus')];
  return (share) => mix(paper, share < 0 ? minus : plus, Math.min(1, Math.abs(share)) ** 0.75);
}

// The coupling size with full colour: the 99th percentile.
function fullColour(weights) {
  const sizes = weights.map(Math.abs).filter((x) => x > 0).sort((a, b) => a - b);
  return sizes.length ? sizes[Math.floor(0.99 * (sizes.length - 1))] : 1;
}

// Scales a canvas so that a unit is a CSS pixel, with at least double resolution for print.
function prepare(canvas, width, height) {
  const density = Math.max(2, window.devicePixelRatio || 1);
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext('2d');
  pen.setTransform(density, 0, 0, density, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

const font = (size, weight = '') => `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;

// A text shortened in the middle to fit a width.
function fitted(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  for (let keep = text.length - 1; keep > 2; keep--) {
    const head = Math.ceil(keep / 2);
    const short = `${text.slice(0, head)}\u2026${text.slice(text.length - (keep - head))}`;
    if (pen.measureText(short).width <= width) return short;
  }
  return '';
}

// Drawing functions, called once the page is built and again when window, colour scheme or medium
// change.
const drawn = [];
function drawAgain() {
  drawn.forEach((draw) => draw());
}
function keepDrawing(draw) {
  drawn.push(draw);
}
let waiting = 0;
window.addEventListener('resize', () => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(drawAgain);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAgain);
matchMedia('print').addEventListener('change', drawAgain);

const tip = {
  node: document.getElementById('tip'),
  show(event, lines) {
    this.node.replaceChildren(...lines.map((line) => el('div', {}, line)));
    this.node.hidden = false;
    const box = this.node.getBoundingClientRect();
    const beyond = event.clientX + 16 + box.width > innerWidth;
    const below = event.clientY + 16 + box.height > innerHeight;
    this.node.style.left = `${Math.max(4, beyond ? event.clientX - 12 - box.width : event.clientX + 16)}px`;
    this.node.style.top = `${Math.max(4, below ? event.clientY - 12 - box.height : event.clientY + 16)}px`;
  },
  hide() {
    this.node.hidden = true;
  },
};

const report = document.getElementById('report');
const sections = [];

// A sentence on which units are shown, if not all of them.
function shownUnits() {
  const count = numbers.drawing.units.length;
  return count < numbers.structure.units ? ` Only the ${whole(count)} units with the strongest couplings are shown.` : '';
}

function section(id, title, ...lead) {
  const node = el('section', { id }, el('h2', {}, title), lead.map((text) => el('p', { class: 'lead' }, text)));
  report.append(node);
  sections.push([id, title]);
  return node;
}

const words = {
  exact: 'exact',
  'lower-bound': 'a lower bound',
  'upper-bound': 'an upper bound',
  estimate: 'an estimate by sampling',
  approximation: 'an approximation',
};

// Decodes the couplings between the units shown, as three lists.
function readCouplings({ units, gaps, weights }) {
  const [from, to] = [new Uint32Array(gaps.length), new Uint32Array(gaps.length)];
  let [a, b] = [0, 0];
  gaps.forEach((gap, k) => {
    for (b += gap; b >= units.length; b += a + 1 - units.length) a += 1;
    from[k] = a;
    to[k] = b;
  });
  return { from, to, weights };
}
