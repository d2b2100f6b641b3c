// What was done, for the methods of a paper, with citations to copy.

function methods() {
  const { methods: found } = numbers;
  if (!found) return;
  const node = section('methods', 'Methods', 'What was done, with the settings of this analysis.');
  node.append(...found.paragraphs.map((text) => el('p', {}, text)));
  const copied = el('span', { class: 'quiet', role: 'status' });
  const source = el('pre', { tabindex: 0 }, found.bibtex);
  const copy = el('button', {
    type: 'button',
    onclick() {
      // Pages from disk may not use the clipboard; then the text is selected.
      const range = document.createRange();
      range.selectNodeContents(source);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      const done = navigator.clipboard ? navigator.clipboard.writeText(found.bibtex) : Promise.reject();
      done.then(() => { copied.textContent = ' copied'; }, () => { copied.textContent = ' selected: copy it with the keyboard'; });
    },
  }, 'copy BibTeX');
  node.append(el('h3', {}, 'References'), el('p', {}, copy, copied), source);
}
