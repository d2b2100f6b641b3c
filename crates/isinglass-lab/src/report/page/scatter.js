// Observed and modelled moments as scatter plots.

function moments() {
  const { moments: found, table } = numbers;
  if (!found) return;
  const inputs = found.given_inputs ? ' Input units are clamped to their values in the table.' : '';
  const missing = table.missing ? ' Pairs use the rows in which both cells are present.' : '';
  const node = section('moments', 'Observed and modelled moments',
    `Means and pair moments of the table and of the machine (${words[found.guarantee]} by the engine ${found.engine}${found.converged ? '' : ', which did not converge'}). `
    + `For a correct model the points lie near the diagonal, within the sampling noise of ${plural(table.rows, 'row')}.${missing}${inputs}`);
  const pairs = found.all_pairs ? 'Moments of all pairs' : 'Moments of coupled pairs';
  node.append(el('div', { class: 'charts' },
    scatter('Means of units', '\u27e8s\u27e9', found.means, 1),
    found.pairs.count ? scatter(pairs, '\u27e8s\u2009s\u2032\u27e9', found.pairs, 2) : null));
}

function scatter(title, symbol, points, perPoint) {
  const [size, left, top, bottom] = [440, 58, 10, 46];
  const side = size - left - 10;
  if (!points.count) return el('div', { class: 'chart' }, el('h3', {}, title), el('p', { class: 'quiet' }, 'None.'));
  const [low, high] = points.range;
  const room = 0.04 * (high - low) || 0.05;
  const [from, to] = [low - room, high + room];
  const x = (value) => left + (side * (value - from)) / (to - from);
  const y = (value) => top + side - (side * (value - from)) / (to - from);
  const picture = svg('svg', { viewBox: `0 0 ${size} ${top + side + bottom}`, role: 'img', 'aria-label': `${title}: ${points.count} points, root mean square difference ${points.rms}` });
  for (const mark of ticks(from, to, 5)) {
    picture.append(
      svg('line', { class: 'guide', x1: left, x2: left + side, y1: y(mark), y2: y(mark) }),
      svg('line', { class: 'guide', x1: x(mark), x2: x(mark), y1: top, y2: top + side }),
      svg('text', { x: left - 8, y: y(mark) + 4, 'text-anchor': 'end' }, show(mark)),
      svg('text', { x: x(mark), y: top + side + 18, 'text-anchor': 'middle' }, show(mark)));
  }
  picture.append(
    svg('text', { x: left + side / 2, y: top + side + 40, 'text-anchor': 'middle' }, `observed ${symbol}`),
    svg('text', { transform: `translate(14 ${top + side / 2}) rotate(-90)`, 'text-anchor': 'middle' }, `modelled ${symbol}`));
  if (points.density.length) {
    const squares = 80;
    const step = (side * (high - low)) / (to - from) / squares;
    const most = points.density.reduce((best, square) => Math.max(best, square[2]), 1);
    for (const [column, row, count] of points.density) {
      picture.append(svg('rect', { x: (x(low) + column * step).toFixed(2), y: (y(low) - (row + 1) * step).toFixed(2), width: (step + 0.2).toFixed(2), height: (step + 0.2).toFixed(2), fill: 'var(--plus)', 'fill-opacity': (0.12 + 0.88 * (Math.log1p(count) / Math.log1p(most))).toFixed(3) }));
    }
  }
  picture.append(svg('line', { x1: x(from), y1: y(from), x2: x(to), y2: y(to), stroke: 'var(--ink)', 'stroke-dasharray': '5 4', 'stroke-opacity': 0.7 }));
  const shown = points.observed.length;
  const radius = points.density.length ? 2 : Math.max(2, Math.min(4.5, 60 / Math.sqrt(shown)));
  for (let k = 0; k < shown; k++) {
    picture.append(svg('circle', { cx: x(points.observed[k]).toFixed(1), cy: y(points.modelled[k]).toFixed(1), r: radius, fill: points.density.length ? 'var(--minus)' : 'var(--plus)', 'fill-opacity': shown > 300 ? 0.45 : 0.7 }));
  }
  const ring = svg('circle', { r: radius + 4, fill: 'none', stroke: 'var(--minus)', 'stroke-width': 2, visibility: 'hidden' });
  picture.append(ring);
  picture.addEventListener('pointermove', (event) => {
    const box = picture.getBoundingClientRect();
    const [px, py] = [((event.clientX - box.left) / box.width) * size, ((event.clientY - box.top) / box.width) * size];
    let [best, least] = [-1, 18];
    for (let k = 0; k < shown; k++) {
      const distance = Math.hypot(x(points.observed[k]) - px, y(points.modelled[k]) - py);
      if (distance < least) [best, least] = [k, distance];
    }
    ring.setAttribute('visibility', best < 0 ? 'hidden' : 'visible');
    if (best < 0) {
      tip.hide();
      return;
    }
    ring.setAttribute('cx', x(points.observed[best]));
    ring.setAttribute('cy', y(points.modelled[best]));
    const units = points.units.slice(perPoint * best, perPoint * (best + 1));
    tip.show(event, [units.map(nameOf).join(' \u2013 '), `observed ${show(points.observed[best])}`, `modelled ${show(points.modelled[best])}`]);
  });
  picture.addEventListener('pointerleave', () => {
    ring.setAttribute('visibility', 'hidden');
    tip.hide();
  });
  const density = points.density.length ? ` Darker bins hold more points; the ${whole(shown)} largest differences are shown as dots.` : '';
  return el('div', { class: 'chart' }, el('h3', {}, title), picture,
    el('p', { class: 'quiet' }, `${plural(points.count, 'point')}: root mean square difference ${show(points.rms, 2)}, largest ${show(points.largest, 2)}; expected from sampling noise alone: ${show(points.noise, 2)}.${density}`));
}
