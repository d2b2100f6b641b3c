// The learning curve: objective and gradient by iteration.

function learningCurve() {
  const { history, fit } = numbers;
  if (!history || history.iterations.length < 2) return;
  const kept = fit ? history.iterations.indexOf(fit.kept) : -1;
  const node = section('curve', 'Learning curve',
    `${plural(history.iterations.length - 1, 'iteration')}${kept >= 0 ? '; the ring marks the iteration that was kept' : ''}.`);
  node.append(el('div', { class: 'charts' },
    lineChart('Objective per row', history.iterations, history.objective, { kept }),
    lineChart('Largest component of the gradient', history.iterations, history.gradient, { kept, logarithmic: true })));
}

function lineChart(title, xs, values, { kept, logarithmic = false }) {
  const [width, height, left, right, top, bottom] = [460, 260, 62, 16, 12, 42];
  const usable = (y) => y !== null && (!logarithmic || y > 0);
  const points = xs.map((x, k) => [x, values[k], k]).filter(([, y]) => usable(y));
  const ys = points.map(([, y]) => (logarithmic ? Math.log10(y) : y));
  let [low, high] = [Math.min, Math.max].map((pick) => ys.reduce((best, y) => pick(best, y), ys[0]));
  if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
  const room = 0.05 * (high - low);
  [low, high] = [low - room, high + room];
  const last = xs[xs.length - 1];
  const x = (value) => left + ((width - left - right) * (value - xs[0])) / (last - xs[0] || 1);
  const y = (value) => height - bottom - ((height - top - bottom) * (value - low)) / (high - low);
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${title} over ${xs.length} iterations` });
  const marks = logarithmic ? ticks(low, high, 4).filter(Number.isInteger) : ticks(low, high, 4);
  for (const mark of marks.length ? marks : [ys[0]]) {
    picture.append(svg('line', { class: 'guide', x1: left, x2: width - right, y1: y(mark), y2: y(mark) }),
      svg('text', { x: left - 8, y: y(mark) + 4, 'text-anchor': 'end' }, logarithmic ? powerOfTen(mark) : show(mark, 5)));
  }
  for (const mark of ticks(xs[0], last, 5)) {
    picture.append(svg('text', { x: x(mark), y: height - bottom + 18, 'text-anchor': 'middle' }, whole(mark)));
  }
  picture.append(svg('line', { class: 'axis', x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    svg('text', { x: (left + width - right) / 2, y: height - 6, 'text-anchor': 'middle' }, 'iteration'),
    svg('path', { d: points.map(([at], k) => `${k ? 'L' : 'M'}${x(at).toFixed(1)} ${y(ys[k]).toFixed(1)}`).join(''), fill: 'none', stroke: 'var(--plus)', 'stroke-width': 2, 'stroke-linejoin': 'round' }));
  const ring = points.findIndex(([, , k]) => k === kept);
  if (ring >= 0) picture.append(svg('circle', { cx: x(points[ring][0]), cy: y(ys[ring]), r: 6, fill: 'var(--paper)', stroke: 'var(--minus)', 'stroke-width': 2 }));
  picture.addEventListener('pointermove', (event) => {
    const box = picture.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    const near = points.reduce((best, point) => (Math.abs(x(point[0]) - at) < Math.abs(x(best[0]) - at) ? point : best), points[0]);
    if (near) tip.show(event, [`iteration ${whole(near[0])}`, show(near[1], 6)]);
  });
  picture.addEventListener('pointerleave', () => tip.hide());
  return el('div', { class: 'chart' }, el('h3', {}, title), picture);
}

function powerOfTen(power) {
  const raised = String(power).replace('-', '\u207b').replace(/\d/g, (digit) => '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079'[digit]);
  return `10${raised}`;
}
