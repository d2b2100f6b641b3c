// The head of the page: what the machine is, how well it fits, what it was fitted by.

function overview() {
  const { structure, table, fit, score } = numbers;
  const roles = ['visible', 'hidden', 'input'].filter((role) => structure[role]).map((role) => `${whole(structure[role])} ${role}`);
  report.append(el('header', {},
    el('h1', {}, numbers.title),
    el('p', { class: 'lead' },
      `A Boltzmann machine of ${plural(structure.units, 'unit')} (${roles.join(', ')}) with ${plural(structure.couplings, 'coupling')}`
      + (table ? `, and how it fits ${plural(table.rows, 'row')} of ${table.name || 'a table'}.` : '.')),
    el('nav', { 'aria-label': 'sections' })));

  const tiles = el('div', { class: 'tiles' });
  const tile = (label, value, note) => tiles.append(el('div', { class: 'tile' },
    el('div', { class: 'label' }, label),
    el('div', { class: value === null || value.length > 9 ? 'value long' : 'value' }, value === null ? 'not to be had' : value),
    note ? el('div', { class: 'note' }, note) : null));
  if (score) {
    const why = (key) => (score.notes.find((note) => note.includes(key)) || '').replace(/^.*? could not be had: /, '');
    const number = (x) => (x === null ? null : show(x, 5));
    const by = `${words[score.guarantee]}, ${score.engine}${score.clamped_engine ? `; rows by ${score.clamped_engine}` : ''}`;
    const error = score.log_likelihood_error === null ? '' : ` \u00b1 ${show(score.log_likelihood_error, 2)}`;
    const rows = score.guarantee === 'exact' || score.log_likelihood !== null ? by
      : `${words[score.guarantee]}, ${score.clamped_engine || score.engine}`;
    tile('log-likelihood per row, nats', number(score.log_likelihood), score.log_likelihood === null ? why('log_likelihood') : by + error);
    const pseudo = score.log_likelihood === null && !numbers.structure.hidden && !table.missing ? 'exact, from the fields of units' : rows;
    tile('pseudo-log-likelihood per row', number(score.pseudo_log_likelihood), score.pseudo_log_likelihood === null ? why('pseudo_log_likelihood') : pseudo);
    tile('completion Q per cell', number(score.completion), score.completion === null ? why('completion') : `${pseudo}; less is better, and tossing a coin has 0.6931`);
    tile('Kullback divergence', number(score.kullback), score.kullback === null ? why('kullback') : words[score.kullback_guarantee]);
  }
  tile('treewidth', structure.treewidth, `decimatable: ${structure.decimatable}`);
  tile('strongest coupling', show(structure.strongest, 4), structure.components > 1 ? plural(structure.components, 'part') : 'all units hang together');
  report.append(tiles);

  const facts = [['model', numbers.model], ['temperature', show(structure.temperature, 6)]];
  if (table) {
    const missing = table.missing ? `, ${plural(table.missing, 'cell')} missing` : ', no cells missing';
    const weight = table.weight === table.rows ? '' : `, total weight ${show(table.weight, 6)}`;
    facts.push(['table', `${table.name || ''} \u2013 ${plural(table.rows, 'row')} (${whole(table.distinct)} distinct) of ${plural(table.columns, 'column')}${missing}${weight}`]);
  }
  if (fit) {
    const phases = fit.engine ? ` with engine ${fit.engine}${fit.clamped_engine && fit.clamped_engine !== fit.engine ? ` (rows: ${fit.clamped_engine})` : ''}` : '';
    facts.push(['learner', `${fit.learner}${phases}; its likelihood is ${words[fit.guarantee]}`]);
    facts.push(['outcome', `${fit.converged ? 'converged' : 'NOT converged'} after ${plural(fit.iterations, 'iteration')}: ${fit.stopped}`]);
  }
  report.append(el('dl', {}, facts.flatMap(([term, fact]) => [el('dt', {}, term), el('dd', {}, fact)])));
  const warnings = [];
  if (score && !score.converged) warnings.push('An engine behind the scores did not converge.');
  const notes = [...warnings, ...numbers.notes, ...(fit ? fit.notes : [])];
  if (notes.length) report.append(el('ul', { class: 'notes' }, notes.map((note) => el('li', {}, note))));
}
