// Stability: what is left of the order of units when rows are left out.

function stability() {
  const found = numbers.study && numbers.study.stability;
  if (!found) return;
  const node = section('stability', 'Stability',
    `Correlations of the values from ${plural(found.subsets, 'subset')} of the rows with those from all rows. The CS coefficient is the largest share of rows that can be left out so that the correlation is at least 0.7 with probability 0.95; the order of units should not be interpreted below 0.25, and better from 0.5 on.`);
  const [width, height, left, right, top, bottom] = [640, 320, 46, 12, 12, 44];
  const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00'];
  const dashes = [undefined, '8 4', '2 4', '10 3 2 3', '5 3'];
  const low = Math.min(0, ...found.measures.flatMap((measure) => measure.mean.filter((x) => x !== null)));
  const x = (value) => left + ((width - left - right) * value) / 0.8;
  const y = (value) => height - bottom - ((height - top - bottom) * (value - low)) / (1 - low);
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'correlations over the share of rows left out' });
  for (const mark of ticks(low, 1, 5)) {
    picture.append(svg('line', { class: 'guide', x1: left, x2: width - right, y1: y(mark), y2: y(mark) }),
      svg('text', { x: left - 8, y: y(mark) + 4, 'text-anchor': 'end' }, show(mark, 2)));
  }
  for (const mark of [0, 0.2, 0.4, 0.6, 0.8]) picture.append(svg('text', { x: x(mark), y: height - bottom + 18, 'text-anchor': 'middle' }, `${Math.round(100 * mark)} %`));
  picture.append(svg('text', { x: (left + width - right) / 2, y: height - 6, 'text-anchor': 'middle' }, 'rows left out'),
    svg('line', { x1: left, x2: width - right, y1: y(0.7), y2: y(0.7), stroke: 'var(--ink)', 'stroke-dasharray': '5 4', 'stroke-opacity': 0.6 }));
  found.measures.forEach((measure, k) => {
    const points = found.dropped.map((share, at) => [share, measure.mean[at]]).filter(([, mean]) => mean !== null);
    picture.append(svg('path', { d: points.map(([share, mean], at) => `${at ? 'L' : 'M'}${x(share).toFixed(1)} ${y(mean).toFixed(1)}`).join(''), fill: 'none', stroke: colours[k], 'stroke-width': 2.2, 'stroke-dasharray': dashes[k] }));
  });
  const words = (name) => name.replace('_', ' ');
  const line = (k) => svg('svg', { width: 34, height: 10 }, svg('line', { x1: 0, x2: 34, y1: 5, y2: 5, stroke: colours[k], 'stroke-width': 2.5, 'stroke-dasharray': dashes[k] }));
  const verdict = (cs) => (cs >= 0.5 ? 'stable' : cs >= 0.25 ? 'usable with care' : 'not to be interpreted');
  node.append(
    el('div', { class: 'bare', style: 'max-width: 44rem' }, picture),
    el('div', { class: 'scroll' }, el('table', { class: 'compact', style: 'max-width: 36rem' },
      el('thead', {}, el('tr', {}, el('th', {}, ''), el('th', {}, 'measure'), el('th', { class: 'number' }, 'CS coefficient'), el('th', {}, ''))),
      el('tbody', {}, found.measures.map((measure, k) => el('tr', {}, el('td', {}, line(k)), el('td', {}, words(measure.name)),
        el('td', { class: 'number' }, measure.coefficient.toFixed(2)), el('td', {}, verdict(measure.coefficient))))))));
}
