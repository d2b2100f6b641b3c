// The heat map of couplings, similar units adjacent.

function heatMap(couplings) {
  const { units, order } = numbers.drawing;
  const count = units.length;
  if (count < 2 || !couplings.weights.length) return;
  const node = section('couplings', 'Couplings',
    `Units with similar couplings are adjacent (average linkage${/[hi]/.test(numbers.drawing.roles) ? ', each role by itself' : ''}).${shownUnits()}`);
  const full = fullColour(couplings.weights);
  const canvas = el('canvas', { role: 'img', 'aria-label': `heat map of ${couplings.weights.length} couplings between ${count} units` });
  // If every coupling has one hidden end, hidden units are rows and the others columns; otherwise
  // every unit is both.
  const isHidden = (unit) => numbers.drawing.roles[unit] === 'h';
  const twoSided = couplings.weights.every((_, k) => isHidden(couplings.from[k]) !== isHidden(couplings.to[k]));
  let rows = [];
  let columns = [];
  let image = null;
  let sequence = order;
  let frame = null;

  // The coupling of a cell, by hashing: most pairs of a large machine have none.
  const byPair = new Map();
  couplings.weights.forEach((weight, k) => byPair.set(couplings.from[k] * count + couplings.to[k], weight));
  const weightOf = (a, b) => byPair.get(Math.min(a, b) * count + Math.max(a, b));

  // The index of each unit in a list, or -1.
  function ranks(list) {
    const places = new Int32Array(count).fill(-1);
    list.forEach((unit, k) => { places[unit] = k; });
    return places;
  }

  // Each coupling at its one or two cells.
  function eachCell(visit) {
    const [down, across] = [ranks(rows), ranks(columns)];
    couplings.weights.forEach((weight, k) => {
      for (const [a, b] of [[couplings.from[k], couplings.to[k]], [couplings.to[k], couplings.from[k]]]) {
        if (down[a] >= 0 && across[b] >= 0) visit(down[a], across[b], weight);
      }
    });
  }

  function paint() {
    rows = twoSided ? sequence.filter(isHidden) : sequence;
    columns = twoSided ? sequence.filter((unit) => !isHidden(unit)) : sequence;
    image = el('canvas', { width: columns.length, height: rows.length });
    const pen = image.getContext('2d');
    const pixels = pen.createImageData(columns.length, rows.length);
    const [paper, diagonal, ramp] = [colour('paper'), colour('grid'), scale()];
    const put = (row, column, rgb) => pixels.data.set([rgb[0], rgb[1], rgb[2], 255], 4 * (row * columns.length + column));
    rows.forEach((unit, row) => columns.forEach((other, column) => put(row, column, unit === other ? diagonal : paper)));
    eachCell((row, column, weight) => put(row, column, ramp(weight / full)));
    pen.putImageData(pixels, 0, 0);
  }

  function draw() {
    const space = canvas.parentNode.clientWidth;
    const measure = canvas.getContext('2d');
    measure.font = font(12);
    const longest = Math.min(170, 0.3 * space, sequence.reduce((most, unit) => Math.max(most, measure.measureText(nameOf(units[unit])).width), 0));
    const sized = (margin) => Math.min((space - margin - 1) / columns.length, 28, Math.max(480, innerHeight) / rows.length);
    const labelled = sized(longest + 10) >= 9 || view.zoom > 1;
    const left = labelled ? longest + 10 : 0;
    const cell = sized(left) * view.zoom;
    const [width, height] = [sized(left) * columns.length, sized(left) * rows.length];
    const pen = prepare(canvas, space, height + left + 1);
    view.x = Math.min(0, Math.max(width - width * view.zoom, view.x));
    view.y = Math.min(0, Math.max(height - height * view.zoom, view.y));
    frame = { left, width, height, cell };
    pen.save();
    pen.beginPath();
    pen.rect(left, 0, width, height);
    pen.clip();
    pen.imageSmoothingEnabled = cell * (window.devicePixelRatio || 1) < 1;
    pen.drawImage(image, left + view.x, view.y, width * view.zoom, height * view.zoom);
    // Sparse, small cells are drawn as dots to be visible.
    if (cell < 3 && couplings.weights.length < 0.02 * rows.length * columns.length) drawDots(pen, left, cell);
    pen.restore();
    pen.strokeStyle = css(colour('line'));
    pen.strokeRect(left + 0.5, 0.5, width, height);
    if (cell < 9) return;
    const [ink, hiddenInk] = [css(colour('ink')), css(colour('hidden-node'))];
    pen.font = font(Math.min(12, cell - 1));
    pen.textBaseline = 'middle';
    pen.textAlign = 'right';
    const write = (unit, x, y, turn) => {
      pen.fillStyle = isHidden(unit) ? hiddenInk : ink;
      pen.save();
      pen.translate(x, y);
      pen.rotate(turn);
      pen.fillText(fitted(pen, nameOf(units[unit]), longest), 0, 0);
      pen.restore();
    };
    rows.forEach((unit, k) => {
      const y = view.y + (k + 0.5) * cell;
      if (y > 0 && y < height) write(unit, left - 6, y, 0);
    });
    columns.forEach((unit, k) => {
      const x = left + view.x + (k + 0.5) * cell;
      if (x > left && x < left + width) write(unit, x, height + 6, -Math.PI / 2);
    });
  }

  function drawDots(pen, left, cell) {
    const ramp = scale();
    eachCell((row, column, weight) => {
      pen.fillStyle = css(ramp(weight / full));
      pen.fillRect(left + view.x + (column + 0.5) * cell - 1.5, view.y + (row + 0.5) * cell - 1.5, 3, 3);
    });
  }

  function hover(place, event) {
    if (!place || !frame) return;
    const [column, row] = [(place[0] - frame.left - view.x) / frame.cell, (place[1] - view.y) / frame.cell].map(Math.floor);
    const inside = place[0] > frame.left && place[0] < frame.left + frame.width && place[1] < frame.height;
    if (!inside || row < 0 || column < 0 || row >= rows.length || column >= columns.length) {
      tip.hide();
      return;
    }
    const [a, b] = [rows[row], columns[column]];
    if (a === b) {
      tip.show(event, [nameOf(units[a]), `bias ${signed(numbers.drawing.biases[a])}`]);
      return;
    }
    const weight = weightOf(a, b);
    tip.show(event, [`${nameOf(units[a])} \u2013 ${nameOf(units[b])}`, weight === undefined ? 'no coupling' : `coupling ${signed(weight)}`]);
  }

  const view = new View(canvas, () => draw(), { hover });
  const choices = [['by similarity', order], ['as in the model', units.map((_, k) => k)]];
  const buttons = choices.map(([text, choice]) => el('button', {
    type: 'button',
    'aria-pressed': String(choice === order),
    onclick() {
      sequence = choice;
      buttons.forEach((button) => button.setAttribute('aria-pressed', String(button === this)));
      paint();
      draw();
    },
  }, text));
  node.append(
    el('div', { class: 'controls' }, el('span', {}, buttons[0], ' ', buttons[1]), view.buttons(), colourBar(full, couplings.weights)),
    el('div', { class: 'figure' }, canvas));
  keepDrawing(() => { paint(); draw(); });
}

// The colour bar.
function colourBar(full, weights) {
  const [width, stops] = [150, 24];
  const bar = svg('svg', { width, height: 12, role: 'img', 'aria-label': 'colours of couplings, orange below 0, blue above' });
  keepDrawing(() => {
    const ramp = scale();
    const stripe = (_, k) => svg('rect', { x: (k * width) / stops, width: width / stops + 0.5, height: 12, fill: css(ramp((2 * (k + 0.5)) / stops - 1)) });
    bar.replaceChildren(...Array.from({ length: stops }, stripe));
  });
  const beyond = weights.filter((weight) => Math.abs(weight) > full * 1.0001).length;
  const more = beyond ? ` (${plural(beyond, 'coupling')} beyond the scale)` : '';
  return el('div', { class: 'legend' }, el('span', {}, show(-full, 3), bar, `+${show(full, 3)}${more}`));
}
