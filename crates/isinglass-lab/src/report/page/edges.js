// The couplings as a table, with intervals where the fit was repeated on resamples.

function edgeTable() {
  const { study } = numbers;
  if (!study || !study.edges.length) return;
  const { edges, bootstrap } = study;
  const more = study.hidden_edges ? ` ${plural(study.hidden_edges, 'weaker coupling')} are left out of the table.` : '';
  const lead = bootstrap
    ? `All couplings that are not 0, the strongest first. Lines are ${100 * bootstrap.level} % percentile intervals over ${plural(bootstrap.resamples, 'resample')}; the last numbers are the shares of resamples in which the coupling is not 0, and in which it has the same sign.${more}`
    : `All couplings that are not 0, the strongest first. Without resamples (--bootstrap) there are no intervals.${more}`;
  const node = section('edges', 'Couplings in numbers', lead);
  if (bootstrap && (bootstrap.unconverged || bootstrap.failed)) {
    node.append(el('p', { class: 'quiet' }, `${whole(bootstrap.unconverged)} fits of resamples did not converge, and ${whole(bootstrap.failed)} failed.`));
  }
  const ends = edges.flatMap(([, , weight, interval]) => [weight, ...(interval ? interval.slice(0, 2) : [])]).filter((x) => x !== null);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const at = (value) => `${((100 * (value - low)) / (high - low || 1)).toFixed(2)}%`;
  const bar = (weight, interval) => {
    const sign = weight < 0 ? 'minus' : 'plus';
    const picture = svg('svg', { role: 'img', 'aria-label': `coupling ${show(weight, 3)}` },
      svg('line', { class: 'axis', x1: at(0), x2: at(0), y1: 0, y2: 16 }));
    if (interval) picture.append(svg('line', { x1: at(interval[0]), x2: at(interval[1]), y1: 8, y2: 8, stroke: `var(--${sign})`, 'stroke-width': 2 }));
    picture.append(svg('circle', { cx: at(weight), cy: 8, r: 4, fill: `var(--${sign})` }));
    return picture;
  };
  const row = ([a, b, weight, interval]) => el('tr', {},
    el('td', {}, nameOf(a)), el('td', {}, nameOf(b)),
    el('td', { class: 'number' }, signed(weight, 3)),
    interval ? el('td', { class: 'number' }, `${show(interval[0], 3)} to ${show(interval[1], 3)}`) : null,
    interval ? el('td', { class: 'number' }, `${Math.round(100 * interval[2])} %, ${Math.round(100 * interval[3])} %`) : null,
    el('td', { class: 'bar' }, bar(weight, interval)));
  const head = el('thead', {}, el('tr', {}, el('th', {}, 'unit'), el('th', {}, 'unit'), el('th', { class: 'number' }, 'coupling'),
    bootstrap ? el('th', { class: 'number' }, 'interval') : null,
    bootstrap ? el('th', { class: 'number' }, 'not 0, same sign') : null,
    el('th', {}, '')));
  node.append(el('div', { class: edges.length > 30 ? 'scroll tall' : 'scroll', tabindex: edges.length > 30 ? 0 : undefined },
    el('table', { class: 'compact' }, head, el('tbody', {}, edges.map(row)))));
}
