// The head of the page: the machine, its scores, and its fit.

function overview() {
  const { structure, table, fit, score } = numbers;
  const roles = ['visible', 'hidden', 'input'].filter((role) => structure[role]).map((role) => `${whole(structure[role])} ${role}`);
  report.append(el('header', {},
    el('h1', {}, numbers.title),
    el('p', { class: 'lead' },
      `A Boltzmann machine of ${plural(structure.units, 'unit')} (${roles.join(', ')}) with ${plural(structure.couplings, 'coupling')}`
      + (table ? `, and its fit to ${plural(table.rows, 'row')} of ${table.name || 'a table'}.` : '.')),
    el('nav', { 'aria-label': 'sections' })));

  if (fit && fit.check) {
    const { verdict, rms, largest, log_likelihood: likelihood, independent } = fit.check;
    const says = {
      reproduces: 'Draws from the machine reproduce the table.',
      deviates: 'Draws from the machine deviate from the table.',
      unusable: 'Unusable: the machine is further from the table than independent units.',
    };
    const than = likelihood === null ? '' : ` Log-likelihood per row ${show(likelihood, 5)}, independent units ${show(independent, 5)}.`;
    report.append(el('p', { class: `verdict ${verdict}`, role: 'status' },
      el('strong', {}, says[verdict]),
      ` Moments are off by ${show(rms, 2)} standard errors on average, ${show(largest, 2)} at most.${than}`));
  }

  const tiles = el('div', { class: 'tiles' });
  const tile = (label, value, note) => tiles.append(el('div', { class: 'tile' },
    el('div', { class: 'label' }, label),
    el('div', { class: value === null || value.length > 9 ? 'value long' : 'value' }, value === null ? 'unavailable' : value),
    note ? el('div', { class: 'note' }, note) : null));
  if (score) {
    // Notes with the reasons are listed below the tiles.
    const none = 'see the notes below';
    const number = (x) => (x === null ? null : show(x, 5));
    const by = `${words[score.guarantee]}, ${score.engine}${score.clamped_engine ? `; rows by ${score.clamped_engine}` : ''}`;
    const error = score.log_likelihood_error === null ? '' : ` \u00b1 ${show(score.log_likelihood_error, 2)}`;
    const rows = score.guarantee === 'exact' || score.log_likelihood !== null ? by
      : `${words[score.guarantee]}, ${score.clamped_engine || score.engine}`;
    tile('log-likelihood per row, nats', number(score.log_likelihood), score.log_likelihood === null ? none : by + error);
    const tree = score.tree_log_likelihood === null ? '' : `; Chow\u2013Liu tree: ${show(score.tree_log_likelihood, 5)}`;
    tile('independent units, per row', number(score.independent_log_likelihood), `with the rates of these rows${tree}`);
    const pseudo = score.log_likelihood === null && !numbers.structure.hidden && !table.missing ? 'exact, from the fields of units' : rows;
    tile('pseudo-log-likelihood per row', number(score.pseudo_log_likelihood), score.pseudo_log_likelihood === null ? none : pseudo);
    tile('completion Q per cell', number(score.completion), score.completion === null ? none : `${pseudo}; lower is better, random guesses have ln 2 = 0.6931`);
    tile('Kullback\u2013Leibler divergence', number(score.kullback), score.kullback === null ? none : words[score.kullback_guarantee]);
  }
  tile('treewidth', structure.treewidth, `decimatable: ${structure.decimatable}`);
  tile('strongest coupling', show(structure.strongest, 4), structure.components > 1 ? plural(structure.components, 'connected component') : 'all units are connected');
  report.append(tiles);

  const facts = [['model', numbers.model], ['temperature', show(structure.temperature, 6)]];
  if (table) {
    const missing = table.missing ? `, ${plural(table.missing, 'cell')} missing` : ', no cells missing';
    const weight = table.weight === table.rows ? '' : `, total weight ${show(table.weight, 6)}`;
    facts.push(['table', `${table.name || ''} \u2013 ${plural(table.rows, 'row')} (${whole(table.distinct)} distinct) of ${plural(table.columns, 'column')}${missing}${weight}`]);
  }
  if (fit) {
    const phases = fit.engine ? ` with engine ${fit.engine}${fit.clamped_engine && fit.clamped_engine !== fit.engine ? ` (rows: ${fit.clamped_engine})` : ''}` : '';
    facts.push(['learner', `${fit.learner}${phases}; likelihood: ${words[fit.guarantee]}`]);
    facts.push(['outcome', `${fit.converged ? 'converged' : 'NOT converged'} after ${plural(fit.iterations, 'iteration')}: ${fit.stopped}`]);
  }
  report.append(el('dl', {}, facts.flatMap(([term, fact]) => [el('dt', {}, term), el('dd', {}, fact)])));
  const warnings = [];
  if (score && !score.converged) warnings.push('An engine behind the scores did not converge.');
  const notes = [...warnings, ...(score ? score.notes : []), ...numbers.notes, ...(fit ? fit.notes : [])];
  if (notes.length) report.append(el('ul', { class: 'notes' }, notes.map((note) => el('li', {}, note))));
}
