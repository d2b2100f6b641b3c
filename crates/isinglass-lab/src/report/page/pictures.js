// Machines whose units are pixels: weights of hidden units and draws as pictures.

function pictures() {
  const { pictures: found } = numbers;
  if (!found) return;
  const { shape, hidden, draws } = found;
  const node = section('pictures', 'Pictures', `The visible units are the pixels of ${shape.rows} \u00d7 ${shape.columns} pictures.`);
  const full = fullColour([...hidden.flatMap((unit) => unit.weights), ...(hidden.length ? [] : found.biases)]);
  if (hidden.length) {
    const some = hidden.length < found.hidden_count ? ` Only the ${whole(hidden.length)} strongest of ${whole(found.hidden_count)} are shown.` : '';
    node.append(el('h3', {}, 'Couplings of hidden units'),
      el('p', { class: 'quiet' }, `Couplings of each hidden unit to the pixels, the strongest first: blue positive, orange negative, full colour at ${show(full, 3)}.${some}`),
      gallery(hidden.map((unit) => [unit.name, (k, ramp) => ramp(unit.weights[k] / full), (k) => `coupling ${signed(unit.weights[k])}`])));
  }
  const biases = fullColour(found.biases);
  const means = numbers.moments && numbers.moments.means;
  const kinds = [['biases', (k, ramp) => ramp(found.biases[k] / biases), (k) => `bias ${signed(found.biases[k])}`]];
  if (means && !means.density.length) {
    const place = new Map(means.units.map((unit, k) => [unit, k]));
    for (const which of ['observed', 'modelled']) {
      const mean = (k) => (place.has(found.units[k]) ? means[which][place.get(found.units[k])] : 0);
      kinds.push([`${which} means`, (k) => grey(mean(k)), (k) => `${which} mean ${signed(mean(k))}`]);
    }
  }
  node.append(el('h3', {}, 'Biases and means'), gallery(kinds));
  node.append(el('h3', {}, 'Draws from the machine'));
  if (!draws) {
    node.append(el('p', { class: 'quiet' }, `Unavailable: ${found.no_draws}.`));
    return;
  }
  const kind = draws.guarantee === 'exact' ? 'exact and independent' : `${words[draws.guarantee]}${draws.converged ? '' : ' that has not converged'}`;
  node.append(el('p', { class: 'quiet' }, `${plural(draws.states.length, 'state')} drawn by the engine ${draws.engine}: ${kind}. Dark is +1.`),
    gallery(draws.states.map((state) => ['', (k) => grey(state[k] === '+' ? 1 : -1), (k) => spin(state[k] === '+' ? 1 : -1)])));

  function grey(mean) {
    return mix(colour('paper'), colour('ink'), (mean + 1) / 2);
  }

  function gallery(list) {
    return el('div', { class: 'pictures' }, list.map(([name, rgb, text]) => {
      const canvas = el('canvas', { class: 'pixels', width: shape.columns, height: shape.rows, role: 'img', 'aria-label': name || 'a drawn state' });
      keepDrawing(() => {
        const pen = canvas.getContext('2d');
        const pixels = pen.createImageData(shape.columns, shape.rows);
        const ramp = scale();
        found.units.forEach((_, k) => pixels.data.set([...rgb(k, ramp), 255], 4 * k));
        pen.putImageData(pixels, 0, 0);
      });
      canvas.addEventListener('pointermove', (event) => {
        const box = canvas.getBoundingClientRect();
        const at = (share, count) => Math.min(count - 1, Math.max(0, Math.floor(share * count)));
        const k = at((event.clientY - box.top) / box.height, shape.rows) * shape.columns + at((event.clientX - box.left) / box.width, shape.columns);
        tip.show(event, [`${name ? `${name}: ` : ''}${nameOf(found.units[k])}`, text(k)]);
      });
      canvas.addEventListener('pointerleave', () => tip.hide());
      return el('figure', {}, canvas, name ? el('figcaption', {}, name) : null);
    }));
  }
}
