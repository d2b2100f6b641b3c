// A drawing that can be moved and zoomed by pointer, touch, wheel and keys.

class View {
  // `redraw` is called after a change. `grab(x, y)` may return a function that handles a drag from
  // that point.
  constructor(canvas, redraw, { grab = () => null, hover = () => {}, most = 40 } = {}) {
    Object.assign(this, { canvas, redraw, grab, hover, most, pointers: new Map() });
    this.reset(false);
    canvas.tabIndex = 0;
    const on = (name, handler, options) => canvas.addEventListener(name, handler.bind(this), options);
    on('pointerdown', this.down);
    on('pointermove', this.move);
    on('pointerup', this.up);
    on('pointercancel', this.up);
    on('pointerleave', () => { if (!this.pointers.size) { tip.hide(); this.hover(null); } });
    on('wheel', this.wheel, { passive: false });
    on('keydown', this.key);
  }

  reset(redraw = true) {
    [this.zoom, this.x, this.y] = [1, 0, 0];
    if (redraw) this.redraw();
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  zoomAt([x, y], factor) {
    const zoom = Math.min(this.most, Math.max(0.5, this.zoom * factor));
    this.x = x - (x - this.x) * (zoom / this.zoom);
    this.y = y - (y - this.y) * (zoom / this.zoom);
    this.zoom = zoom;
    this.redraw();
  }

  zoomMiddle(factor) {
    this.zoomAt([this.canvas.clientWidth / 2, this.canvas.clientHeight / 2], factor);
  }

  down(event) {
    // One finger scrolls the page unless it is on a unit.
    const held = this.grab(...this.place(event));
    if (event.pointerType === 'touch' && !held && !this.pointers.size) {
      this.pointers.set(event.pointerId, this.place(event));
      return;
    }
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.place(event));
    if (this.pointers.size === 1) this.drag = held || ((dx, dy) => { this.x += dx; this.y += dy; });
    tip.hide();
  }

  move(event) {
    const [x, y] = this.place(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.hover([x, y], event);
      return;
    }
    this.pointers.set(event.pointerId, [x, y]);
    if (this.pointers.size === 2) {
      const [one, other] = [...this.pointers.entries()].map(([id, at]) => (id === event.pointerId ? [before, at] : [at, at]));
      const apart = (k) => Math.hypot(one[k][0] - other[k][0], one[k][1] - other[k][1]);
      if (apart(0) > 0) this.zoomAt([(one[1][0] + other[1][0]) / 2, (one[1][1] + other[1][1]) / 2], apart(1) / apart(0));
    } else if (this.drag) {
      this.drag(x - before[0], y - before[1]);
      this.redraw();
    }
  }

  up(event) {
    this.pointers.delete(event.pointerId);
    if (!this.pointers.size) this.drag = null;
  }

  wheel(event) {
    // Without focus, the wheel scrolls the page.
    if (!event.ctrlKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    this.zoomAt(this.place(event), Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)));
  }

  key(event) {
    const moves = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    if (event.key in moves) {
      this.x += moves[event.key][0];
      this.y += moves[event.key][1];
      this.redraw();
    } else if (event.key === '+' || event.key === '=') this.zoomMiddle(1.25);
    else if (event.key === '-') this.zoomMiddle(0.8);
    else if (event.key === '0') this.reset();
    else return;
    event.preventDefault();
  }

  buttons() {
    const button = (text, label, act) => el('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, text);
    return el('span', {},
      button('+', 'zoom in', () => this.zoomMiddle(1.4)), ' ',
      button('\u2212', 'zoom out', () => this.zoomMiddle(1 / 1.4)));
  }
}

const HINT = 'Drag or use the arrow keys to move; zoom with + and \u2212, or with the wheel after a click on the drawing.';
