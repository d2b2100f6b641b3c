// Builds the page from top to bottom.

const couplings = readCouplings(numbers.drawing);
overview();
learningCurve();
const drawnNetwork = network(couplings);
edgeTable();
centralities();
stability();
heatMap(couplings);
moments();
surprisingRows();
pictures();
methods();
report.append(el('footer', {}, `Written by isinglass ${numbers.version}. Units take the values \u22121 and +1; couplings are those of \u2212E(s) = \u03a3 w s s\u2032 + \u03a3 \u03b8 s.`));
document.querySelector('nav').append(...sections.map(([id, title]) => el('a', { href: `#${id}` }, title)));
drawAgain();
// For tests: positions of the network's units.
window.isinglass = { network: drawnNetwork };
