// Centralities and predictability of the units: a panel for each measure, with intervals.

const MEASURES = {
  strength: ['Strength', 'the sum of the sizes of a unit\u2019s couplings'],
  expected_influence: ['Expected influence', 'the sum of its couplings with their signs'],
  closeness: ['Closeness', 'the inverse sum of distances, where a coupling w has the length 1/|w|'],
  betweenness: ['Betweenness', 'pairs of others whose shortest path passes through it'],
  accuracy: ['Accuracy', 'the share of cells that the other cells of the row predict'],
  normalised_accuracy: ['Normalised accuracy', 'the same in excess of the more frequent value: 0 for no better, 1 for all'],
};

// Panels of more units would be unreadable.
const MAX_LISTED = 60;

function centralities() {
  const { study } = numbers;
  if (!study || !study.measures.length || study.units.length < 2) return;
  const strength = study.measures.find((measure) => measure.name === 'strength').values;
  const order = study.units.map((_, k) => k).sort((a, b) => strength[b] - strength[a] || a - b);
  const listed = order.slice(0, MAX_LISTED);
  const fewer = listed.length < order.length ? ` The ${whole(MAX_LISTED)} strongest units are shown.` : '';
  const intervals = study.bootstrap ? ` Lines are ${100 * study.bootstrap.level} % percentile intervals over resamples.` : '';
  const node = section('centrality', 'Centrality and predictability',
    `Units by strength.${intervals}${fewer} Couplings have no direction: a central unit goes with many others, which says nothing about what would happen if it were changed.`);
  node.append(el('div', { class: 'measures' }, study.measures.map((measure) => panel(measure, listed, study.units))));
}

function panel({ name, values, interval }, listed, units) {
  const [title, meaning] = MEASURES[name];
  const [width, step, left, right, top] = [340, 18, 112, 14, 4];
  const height = top + step * listed.length + 30;
  const shown = listed.flatMap((k) => [values[k], interval && interval[0][k], interval && interval[1][k]]).filter((x) => x !== null && x !== undefined);
  if (!shown.length) return null;
  let [low, high] = [Math.min(...shown), Math.max(...shown)];
  if (name !== 'closeness') low = Math.min(0, low);
  if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
  const x = (value) => left + ((width - left - right) * (value - low)) / (high - low);
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${title} of ${listed.length} units` });
  for (const mark of ticks(low, high, 4)) {
    picture.append(svg('line', { class: 'guide', x1: x(mark), x2: x(mark), y1: top, y2: height - 26 }),
      svg('text', { x: x(mark), y: height - 10, 'text-anchor': 'middle' }, show(mark, 3)));
  }
  listed.forEach((k, row) => {
    const y = top + step * (row + 0.5);
    const label = nameOf(units[k]);
    const short = label.length > 16 ? `${label.slice(0, 9)}\u2026${label.slice(-5)}` : label;
    const mark = svg('g', {},
      svg('rect', { x: 0, y: y - step / 2, width, height: step, fill: 'transparent' }),
      svg('text', { class: 'strong', x: left - 8, y: y + 4, 'text-anchor': 'end' }, short));
    const lines = [label, `${title.toLowerCase()} ${show(values[k], 4)}`];
    if (interval && interval[0][k] !== null) {
      mark.append(svg('line', { x1: x(interval[0][k]), x2: x(interval[1][k]), y1: y, y2: y, stroke: 'var(--plus)', 'stroke-opacity': 0.5, 'stroke-width': 3 }));
      lines.push(`interval ${show(interval[0][k], 4)} to ${show(interval[1][k], 4)}`);
    }
    if (values[k] !== null) mark.append(svg('circle', { cx: x(values[k]), cy: y, r: 4, fill: 'var(--plus)' }));
    mark.addEventListener('pointermove', (event) => tip.show(event, lines));
    mark.addEventListener('pointerleave', () => tip.hide());
    picture.append(mark);
  });
  return el('div', { class: 'bare' }, el('h3', {}, title), el('p', { class: 'quiet' }, `${meaning[0].toUpperCase()}${meaning.slice(1)}.`), picture);
}
