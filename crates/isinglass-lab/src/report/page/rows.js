// The most surprising rows, with the cells responsible.

function surprisingRows() {
  const { surprise, pictures: found } = numbers;
  if (!surprise || !surprise.rows.length) return;
  const engine = surprise.engine ? `, by the engine ${surprise.engine}` : '';
  const what = surprise.by === 'log-likelihood'
    ? `Rows with the smallest log-likelihood (${words[surprise.guarantee]}${engine}).`
    : `Rows with the smallest pseudo-log-likelihood (${words[surprise.guarantee]}${engine}; the exact log-likelihood is unavailable).`;
  const node = section('rows', 'Most surprising rows',
    `${what} Cells are listed if their probability given all other cells of the row is below \u00bd.`);
  node.append(histogram(surprise));
  const image = found && found.units.every((unit) => surprise.units.includes(unit)) ? found : null;
  const body = surprise.rows.map((row) => el('tr', {},
    el('td', { class: 'number' }, whole(row.number), row.times > 1 ? ` (\u00d7${whole(row.times)})` : ''),
    el('td', { class: 'number' }, fixed(row.value)),
    image ? el('td', {}, rowPicture(row, surprise.units, image)) : null,
    el('td', {},
      el('div', { class: 'chips' }, row.least.length
        ? row.least.map(([unit, cell, p]) => el('span', { class: 'chip' }, `${nameOf(unit)} = ${spin(cell)}, P = `, el('b', {}, show(p, 2))))
        : el('span', { class: 'quiet' }, 'none below \u00bd')),
      !image && surprise.units.length ? strip(row, surprise.units) : null)));
  node.append(el('div', { class: 'scroll' }, el('table', {},
    el('thead', {}, el('tr', {}, el('th', { class: 'number' }, 'row'), el('th', { class: 'number' }, surprise.by.replace('log-likelihood', 'log-lik.')), image ? el('th', {}, 'picture') : null, el('th', {}, 'improbable cells'))),
    el('tbody', {}, body))));
  if (!image && surprise.units.length) {
    node.append(el('p', { class: 'quiet' }, 'The strip shows all cells: blue +1, grey \u22121, empty missing; a taller orange mark means a less probable cell.'));
  } else if (image) {
    node.append(el('p', { class: 'quiet' }, 'Dark pixels are +1; orange frames mark the improbable cells.'));
  }
}

// Two decimals for all, for comparison.
const fixed = (x) => (x === null ? 'none' : x.toFixed(2).replace('-', '\u2212'));

// The distribution of all rows, with marks at the listed ones.
function histogram({ histogram: bars, rows, by }) {
  const [width, height, left, right, bottom] = [720, 130, 8, 8, 34];
  const [from, to] = [bars.from, bars.to];
  const most = bars.weights.reduce((best, weight) => Math.max(best, weight), 0) || 1;
  const inner = width - left - right;
  const x = (value) => left + (inner * (value - from)) / (to - from || 1);
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `histogram of rows by ${by}` });
  const floor = height - bottom;
  bars.weights.forEach((weight, k) => {
    const tall = (floor - 6) * (weight / most);
    picture.append(svg('rect', { x: left + (k * inner) / bars.weights.length + 0.5, width: inner / bars.weights.length - 1, y: floor - tall, height: tall, fill: 'var(--plus)', 'fill-opacity': 0.55 }));
  });
  for (const row of rows) picture.append(svg('line', { x1: x(row.value), x2: x(row.value), y1: floor - 12, y2: floor, stroke: 'var(--minus)', 'stroke-width': 2 }));
  picture.append(svg('line', { class: 'axis', x1: left, x2: width - right, y1: floor, y2: floor }));
  for (const mark of ticks(from, to, 6)) picture.append(svg('text', { x: x(mark), y: floor + 16, 'text-anchor': 'middle' }, show(mark)));
  picture.append(svg('text', { x: width - right, y: height - 2, 'text-anchor': 'end' }, `${by} per row, all rows; orange: rows listed below`));
  return el('div', { class: 'bare', style: 'max-width: 46rem' }, picture);
}

function strip(row, units) {
  const canvas = el('canvas', { class: 'strip', role: 'img', 'aria-label': `all cells of row ${row.number}` });
  const tall = 26;
  keepDrawing(() => {
    const width = Math.min(canvas.parentNode.clientWidth, 736, 22 * units.length);
    canvas.style.width = `${width}px`;
    const pen = prepare(canvas, width, tall);
    const [plus, minus, grey] = [colour('plus'), colour('minus'), colour('line')];
    const step = width / units.length;
    units.forEach((_, k) => {
      const cell = row.cells[k];
      const gap = step > 4 ? 1 : 0;
      if (cell === '?') {
        pen.strokeStyle = css(grey);
        pen.strokeRect(k * step + 0.5, 14.5, Math.max(0.5, step - gap - 1), tall - 15);
        return;
      }
      pen.fillStyle = cell === '+' ? css(plus, 0.75) : css(grey);
      pen.fillRect(k * step, 14, Math.max(0.7, step - gap), tall - 14);
      // 12 pixels at P = 0, none at P = 1/2 and above.
      const mark = 12 * Math.max(0, 1 - 2 * row.probabilities[k]);
      pen.fillStyle = css(minus);
      if (mark > 0) pen.fillRect(k * step, 13 - mark, Math.max(1, step - gap), mark);
    });
  });
  canvas.addEventListener('pointermove', (event) => {
    const box = canvas.getBoundingClientRect();
    const k = Math.min(units.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * units.length)));
    const cell = row.cells[k];
    tip.show(event, [nameOf(units[k]), cell === '?' ? 'missing' : `${spin(cell === '+' ? 1 : -1)}, P = ${show(row.probabilities[k], 3)} given the rest`]);
  });
  canvas.addEventListener('pointerleave', () => tip.hide());
  return canvas;
}

// A row as a picture, improbable cells framed.
function rowPicture(row, units, { units: pixels, shape }) {
  const canvas = el('canvas', { class: 'one', role: 'img', 'aria-label': `row ${row.number} as a picture` });
  const position = new Map(units.map((unit, k) => [unit, k]));
  const step = Math.max(2, Math.round(92 / Math.max(shape.rows, shape.columns)));
  canvas.style.width = `${step * shape.columns}px`;
  keepDrawing(() => {
    const pen = prepare(canvas, step * shape.columns, step * shape.rows);
    const [ink, ground, minus] = [colour('ink'), colour('grid'), colour('minus')];
    pixels.forEach((unit, k) => {
      const cell = row.cells[position.get(unit)];
      pen.fillStyle = cell === '+' ? css(ink) : cell === '-' ? css(ground) : css(colour('paper'));
      pen.fillRect((k % shape.columns) * step, Math.floor(k / shape.columns) * step, step, step);
    });
    pen.strokeStyle = css(minus);
    pen.lineWidth = 2;
    for (const [unit] of row.least) {
      const k = pixels.indexOf(unit);
      if (k >= 0) pen.strokeRect((k % shape.columns) * step + 1, Math.floor(k / shape.columns) * step + 1, step - 2, step - 2);
    }
  });
  return canvas;
}
