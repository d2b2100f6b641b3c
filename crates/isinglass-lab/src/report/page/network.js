// The network of couplings: the strongest ones, as many as the slider selects.

// Limits: couplings shown at once, and names in a large network.
const [MAX_EDGES, MAX_NAMES] = [20000, 90];

function network(couplings) {
  const { units, roles, biases } = numbers.drawing;
  const count = units.length;
  if (count < 2) return null;
  const ranked = couplings.weights.map((_, k) => k).sort((a, b) => Math.abs(couplings.weights[b]) - Math.abs(couplings.weights[a]) || a - b);
  const total = ranked.length;
  const most = Math.min(total, MAX_EDGES);
  const strongest = total ? Math.abs(couplings.weights[ranked[0]]) : 1;
  const limit = most < total ? ` At most ${whole(most)} of the ${whole(total)} couplings can be shown.` : '';
  const node = section('network', 'Network',
    `The strongest couplings. Given all other units, two units tend to agree where their coupling is positive (blue, solid) and to differ where it is negative (orange, dashed); wider is stronger.${limit}${shownUnits()}`);
  const canvas = el('canvas', { role: 'img', 'aria-label': `network of ${count} units` });

  const home = units.map((_, k) => [numbers.drawing.x[k], numbers.drawing.y[k]]);
  let places = home.map((place) => [...place]);
  // All couplings that were selected; of a network in which all pairs are joined, the strongest.
  let k = total < count * (count - 1) / 2 ? most : Math.min(total, 2 * count);
  let lit = null;
  let found = null;
  let frame = { width: 1, height: 1, unit: 1, middle: [0, 0] };
  let strength = new Float64Array(count);
  let around = [];

  function choose(number) {
    k = number;
    strength = new Float64Array(count);
    around = units.map(() => []);
    for (const edge of ranked.slice(0, k)) {
      const [a, b] = [couplings.from[edge], couplings.to[edge]];
      const size = Math.abs(couplings.weights[edge]);
      strength[a] += size;
      strength[b] += size;
      around[a].push(edge);
      around[b].push(edge);
    }
    canvas.dataset.edges = k;
  }

  // From layout to canvas coordinates.
  const onCanvas = ([x, y]) => [
    view.x + view.zoom * (frame.width / 2 + (x - frame.middle[0]) * frame.unit),
    view.y + view.zoom * (frame.height / 2 + (y - frame.middle[1]) * frame.unit),
  ];
  const radiusOf = (unit) => {
    const share = top ? strength[unit] / top : 0;
    return Math.min(14, base() * (0.75 + 0.6 * Math.sqrt(share)) * Math.sqrt(view.zoom));
  };
  // Smaller with many units or little space.
  const base = () => Math.max(2.5, Math.min(9, 70 / Math.sqrt(count)) * Math.min(1, Math.max(0.5, frame.width / 900)));
  let top = 0;

  function fit() {
    const width = canvas.parentNode.clientWidth;
    const height = Math.round(Math.max(340, Math.min(0.68 * width, 0.8 * innerHeight, 720)));
    const [xs, ys] = [0, 1].map((axis) => home.map((place) => place[axis]));
    const span = (list) => [list.reduce((a, b) => Math.min(a, b)), list.reduce((a, b) => Math.max(a, b))];
    const [[left, right], [high, low]] = [span(xs), span(ys)];
    // Space for names at the sides.
    const room = count <= 80 ? [Math.min(70, 0.12 * width), 34] : [24, 20];
    frame = {
      width,
      height,
      unit: Math.min((width - 2 * room[0]) / (right - left || 1), (height - 2 * room[1]) / (low - high || 1)),
      middle: [(left + right) / 2, (high + low) / 2],
    };
  }

  function draw() {
    fit();
    top = strength.reduce((a, b) => Math.max(a, b), 0);
    const pen = prepare(canvas, frame.width, frame.height);
    const at = places.map(onCanvas);
    const [ink, paper, plus, minus] = ['ink', 'paper', 'plus', 'minus'].map(colour);
    const fills = { v: colour('node'), h: colour('hidden-node'), i: colour('input-node') };
    const near = lit === null ? null : new Set([lit, ...around[lit].flatMap((edge) => [couplings.from[edge], couplings.to[edge]])]);
    drawEdges(pen, at, ranked.slice(0, k), near ? 0.12 : 1, plus, minus);
    if (near) drawEdges(pen, at, around[lit], 1, plus, minus);
    const isFaint = (unit) => (near ? !near.has(unit) : strength[unit] === 0 && k > 0);
    // Faint ones first, so that they cover no others.
    for (const faint of [true, false]) {
      for (let unit = 0; unit < count; unit++) {
        if (isFaint(unit) === faint) drawNode(pen, at[unit], radiusOf(unit) + (near && !faint ? 1.5 : 0), roles[unit], css(fills[roles[unit]], faint ? 0.3 : 1), css(paper));
      }
    }
    if (found !== null) {
      pen.strokeStyle = css(minus);
      pen.lineWidth = 3;
      pen.beginPath();
      pen.arc(at[found][0], at[found][1], radiusOf(found) + 5, 0, 2 * Math.PI);
      pen.stroke();
    }
    drawNames(pen, at, near, ink, paper);
  }

  // Couplings of one sign and similar width are drawn as one path.
  function drawEdges(pen, at, edges, alpha, plus, minus) {
    const classes = 8;
    const widest = Math.min(7, Math.max(2, 0.75 * base())) * Math.min(1.6, Math.sqrt(view.zoom));
    const groups = new Map();
    for (let rank = edges.length - 1; rank >= 0; rank--) {
      const weight = couplings.weights[edges[rank]];
      const step = Math.ceil(classes * Math.sqrt(Math.abs(weight) / strongest)) * (weight < 0 ? -1 : 1);
      if (!groups.has(step)) groups.set(step, []);
      groups.get(step).push(edges[rank]);
    }
    for (const step of [...groups.keys()].sort((a, b) => Math.abs(a) - Math.abs(b))) {
      const share = Math.abs(step) / classes;
      pen.strokeStyle = css(step < 0 ? minus : plus, alpha * (0.3 + 0.6 * share));
      pen.lineWidth = Math.max(0.6, widest * share);
      pen.setLineDash(step < 0 ? [3 + 1.6 * pen.lineWidth, 2 + 1.2 * pen.lineWidth] : []);
      pen.beginPath();
      for (const edge of groups.get(step)) {
        pen.moveTo(...at[couplings.from[edge]]);
        pen.lineTo(...at[couplings.to[edge]]);
      }
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  // Names where there is space, strongly coupled units first. Ties, as on a lattice, are broken by
  // a scrambled order, which spreads the names.
  function drawNames(pen, at, near, ink, paper) {
    const size = count <= 80 ? 13 : 11;
    const taken = [];
    const few = count > 80 ? Math.round(MAX_NAMES * Math.max(1, view.zoom)) : Infinity;
    const scrambled = (unit) => (unit * 0.6180339887498949) % 1;
    const wanted = near ? [lit, ...[...near].filter((unit) => unit !== lit)] : units.map((_, unit) => unit).sort((a, b) => strength[b] - strength[a] || scrambled(a) - scrambled(b));
    if (found !== null && !near) wanted.unshift(found);
    let written = 0;
    pen.textAlign = 'center';
    pen.textBaseline = 'alphabetic';
    pen.lineJoin = 'round';
    pen.lineWidth = 3.5;
    pen.strokeStyle = css(paper, 0.85);
    pen.fillStyle = css(ink);
    for (const unit of wanted) {
      if (written >= few) break;
      const [x, y] = at[unit];
      if (x < 0 || y < 0 || x > frame.width || y > frame.height) continue;
      pen.font = font(size, unit === lit || unit === found ? '600' : '');
      const text = fitted(pen, nameOf(units[unit]), 190);
      const half = pen.measureText(text).width / 2;
      const middle = Math.min(Math.max(x, half + 4), frame.width - half - 4);
      const options = [y - radiusOf(unit) - 4, y + radiusOf(unit) + size];
      const free = (line) => taken.every(([l, t, r, b]) => middle + half < l || middle - half > r || line < t || line - size > b);
      const line = options.find(free);
      if (line === undefined) continue;
      taken.push([middle - half - 2, line - size - 1, middle + half + 2, line + 1]);
      pen.strokeText(text, middle, line);
      pen.fillText(text, middle, line);
      written += 1;
    }
  }

  function unitAt(x, y) {
    let best = null;
    let least = Infinity;
    places.forEach((place, unit) => {
      const [px, py] = onCanvas(place);
      const distance = Math.hypot(px - x, py - y) - radiusOf(unit);
      if (distance < Math.min(least, 5)) [best, least] = [unit, distance];
    });
    return best;
  }

  function edgeAt(x, y) {
    let best = null;
    let least = 5;
    for (const edge of ranked.slice(0, Math.min(k, 5000))) {
      const [[ax, ay], [bx, by]] = [onCanvas(places[couplings.from[edge]]), onCanvas(places[couplings.to[edge]])];
      const length = (bx - ax) ** 2 + (by - ay) ** 2 || 1;
      const share = Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length));
      const distance = Math.hypot(ax + share * (bx - ax) - x, ay + share * (by - ay) - y);
      if (distance < least) [best, least] = [edge, distance];
    }
    return best;
  }

  function about(unit) {
    const role = { v: 'visible', h: 'hidden', i: 'input' }[roles[unit]];
    const own = around[unit].slice(0, 8).map((edge) => {
      const other = couplings.from[edge] === unit ? couplings.to[edge] : couplings.from[edge];
      return `${signed(couplings.weights[edge])}  ${nameOf(units[other])}`;
    });
    const more = around[unit].length - own.length;
    return [nameOf(units[unit]), `${role}, bias ${signed(biases[unit])}, ${plural(around[unit].length, 'coupling')} shown`, ...own, ...(more > 0 ? [`and ${more} weaker`] : [])];
  }

  function hover(place, event) {
    const unit = place && unitAt(...place);
    const changed = (unit ?? null) !== lit;
    lit = unit ?? null;
    if (changed) draw();
    if (lit !== null) tip.show(event, about(lit));
    else if (place) {
      const edge = edgeAt(...place);
      if (edge === null) tip.hide();
      else tip.show(event, [`${nameOf(units[couplings.from[edge]])} \u2013 ${nameOf(units[couplings.to[edge]])}`, `coupling ${signed(couplings.weights[edge])}`]);
    }
    canvas.style.cursor = lit === null ? 'grab' : 'pointer';
  }

  // Units can be dragged.
  function grab(x, y) {
    const unit = unitAt(x, y);
    if (unit === null) return null;
    return (dx, dy) => {
      places[unit][0] += dx / (view.zoom * frame.unit);
      places[unit][1] += dy / (view.zoom * frame.unit);
    };
  }

  const view = new View(canvas, () => draw(), { grab, hover });

  // Few couplings in single steps, many in constant ratios.
  const steps = [];
  for (let number = 0; number <= most; number = Math.max(number + 1, most > 400 ? Math.round(number * 1.02) : 0)) steps.push(number);
  if (steps[steps.length - 1] < most) steps.push(most);
  if (!steps.includes(k)) steps.push(k);
  steps.sort((a, b) => a - b);
  const output = el('output', { for: 'threshold' });
  const slider = el('input', { type: 'range', id: 'threshold', min: 0, max: steps.length - 1, step: 1, value: steps.indexOf(k) });
  function updateLabel() {
    const least = k ? `, |w| \u2265 ${show(Math.abs(couplings.weights[ranked[k - 1]]), 3)}` : '';
    output.textContent = `${whole(k)} of ${plural(total, 'coupling')}${least}`;
    slider.setAttribute('aria-valuetext', output.textContent);
  }
  slider.addEventListener('input', () => {
    choose(steps[Number(slider.value)]);
    updateLabel();
    draw();
  });
  const names = el('datalist', { id: 'names' }, units.map((unit) => el('option', { value: nameOf(unit) })));
  const search = el('input', {
    type: 'search',
    list: 'names',
    placeholder: 'find a unit',
    'aria-label': 'find a unit',
    oninput() {
      const unit = units.findIndex((position) => nameOf(position) === this.value);
      found = unit < 0 ? null : unit;
      draw();
    },
  });
  const reset = el('button', {
    type: 'button',
    onclick() {
      places = home.map((place) => [...place]);
      view.reset();
    },
  }, 'reset view');
  const kinds = [['v', 'visible unit'], ['h', 'hidden unit'], ['i', 'input unit']].filter(([letter]) => roles.includes(letter));
  const line = (sign) => svg('svg', { width: 34, height: 10 }, svg('line', { x1: 0, x2: 34, y1: 5, y2: 5, 'stroke-width': 3, stroke: `var(--${sign})`, 'stroke-dasharray': sign === 'minus' ? '8 5' : undefined }));
  const shapes = {
    v: () => svg('circle', { cx: 7, cy: 7, r: 5.5, fill: 'var(--node)' }),
    h: () => svg('rect', { x: 1.5, y: 1.5, width: 11, height: 11, fill: 'var(--hidden-node)' }),
    i: () => svg('path', { d: 'M7 1 L13.5 13 L0.5 13 Z', fill: 'var(--input-node)' }),
  };
  node.append(
    el('div', { class: 'controls' },
      el('label', { class: 'wide', for: 'threshold' }, 'Show', slider), output),
    el('div', { class: 'controls' }, search, names, view.buttons(), reset,
      el('div', { class: 'legend' },
        el('span', {}, line('plus'), 'positive'), el('span', {}, line('minus'), 'negative'),
        kinds.map(([letter, text]) => el('span', {}, svg('svg', { width: 14, height: 14 }, shapes[letter]()), text)))),
    el('div', { class: 'figure framed' }, canvas),
    el('p', { class: 'quiet hint' }, `${HINT} Units can be dragged.`));
  choose(k);
  updateLabel();
  keepDrawing(draw);
  return { canvas, placeOf: (unit) => onCanvas(places[unit]), shown: () => k };
}

function drawNode(pen, [x, y], radius, role, fillStyle, edge) {
  pen.fillStyle = fillStyle;
  pen.strokeStyle = edge;
  pen.lineWidth = radius > 4 ? 1.5 : 0.8;
  pen.beginPath();
  if (role === 'h') pen.rect(x - 0.9 * radius, y - 0.9 * radius, 1.8 * radius, 1.8 * radius);
  else if (role === 'i') {
    pen.moveTo(x, y - 1.2 * radius);
    pen.lineTo(x + 1.1 * radius, y + 0.8 * radius);
    pen.lineTo(x - 1.1 * radius, y + 0.8 * radius);
    pen.closePath();
  } else pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
  pen.stroke();
}
