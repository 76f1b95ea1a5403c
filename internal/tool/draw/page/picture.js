// @ts-check
'use strict';

// The picture of the structure.

class View {
    constructor() {
        this.canvas = canvas('picture');
        const context = this.canvas.getContext('2d');
        if (!context) throw new Error('no canvas');
        this.context = context;
        this.scale = 1;          // pixels of the world's
        this.x = 0;              // the world's point at the left upper corner
        this.y = 0;
        this.laid = -1;          // the model's changes when the nodes were laid out
        this.fits = true;        // until the user moves it, all of it is shown
        this.selected = NONE;    // a node
        this.operation = NONE;   // an operation
        /** @type {Record<string, string>} */
        this.colours = {};
    }

    /** Reads the colours of the page, light or dark. */
    dress() {
        const style = getComputedStyle(document.documentElement);
        for (const name of ['paper', 'ink', 'faint', 'line', 'room', 'leaf', 'inner', 'kept', 'gone', 'unknown',
            'orphan', 'latched', 'looked', 'chosen', 'cold', 'hot'])
            this.colours[name] = style.getPropertyValue('--' + name).trim();
    }

    layout() {
        if (this.laid === model.changes) return;
        this.laid = model.changes;
        model.layout();
    }

    whole() {
        const w = this.canvas.clientWidth, h = this.canvas.clientHeight;
        this.scale = Math.min(1.5, (w - 32) / model.width, tree ? Infinity : (h - 32) / model.height);
        this.x = (model.width - w / this.scale) / 2;
        this.y = tree ? -24 : (model.height - h / this.scale) / 2;
    }

    // A tree is wide and low: beyond a zoom at which nodes can be told apart, only its width shrinks.
    get down() { return tree ? Math.max(this.scale, 0.6) : this.scale; }

    /** @param {Place} n */
    box(n) {
        const w = n.w * this.scale, h = NODE.h * this.down;
        return {x: (n.x - this.x) * this.scale, y: (n.y - this.y) * this.down, w, h};
    }

    /**
     * Where the slots of a box are.
     * @param {{x: number, w: number}} b
     */
    slots(b) { return {left: b.x + 4 * this.scale, each: (b.w - 8 * this.scale) / data.slots}; }

    /** @param {number} px @param {number} py @returns {Place | undefined} */
    pick(px, py) {
        let best, nearest = 12;
        for (const n of this.all()) {
            const b = this.box(n), far = Math.max(b.x - px, 0, px - b.x - b.w) + Math.max(b.y - py, 0, py - b.y - b.h);
            if (far < nearest) best = n, nearest = far;
        }
        return best;
    }

    /** @returns {Place[]} */
    all() { return model.rows.flat(); }

    /**
     * The part of a level that can be seen.
     * @param {Place[]} level
     */
    seen(level) {
        const left = this.x - NODE.w, right = this.x + this.canvas.clientWidth / this.scale;
        return level.slice(first(level, n => n.x > left), first(level, n => n.x > right));
    }

    /**
     * The share of what is shown by heat, of 1.
     * @param {Place} n @param {string} by @param {number} most
     */
    heat(n, by, most) {
        if (by === 'fill') return model.fill(n);
        if (by === 'visits') return most ? n.visits / most : 0;
        return model.at ? n.changed / model.at : 0;
    }

    /** @param {number} share */
    shade(share) {
        const [a, b] = [this.colours.cold, this.colours.hot].map(c => c.split(',').map(Number));
        return `rgb(${a.map((c, i) => Math.round(c + (b[i] - c) * Math.min(1, share))).join(',')})`;
    }

    draw() {
        const c = this.context, ratio = window.devicePixelRatio || 1;
        const w = this.canvas.clientWidth, h = this.canvas.clientHeight;
        if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
            this.canvas.width = Math.round(w * ratio);
            this.canvas.height = Math.round(h * ratio);
        }
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.fillStyle = this.colours.paper;
        c.fillRect(0, 0, w, h);
        this.layout();
        if (this.fits) this.whole();
        const by = input('heat').value;
        let most = 0;
        if (by === 'visits') for (const n of model.nodes.values()) most = Math.max(most, n.visits);
        /** @type {Map<number, number[]>} the operations that look at a node now */
        const looks = new Map();
        for (const [number, o] of model.inOrder) {
            if (o.at === NONE || !model.active(o)) continue;
            const here = looks.get(o.at);
            if (here) here.push(number);
            else looks.set(o.at, [number]);
        }
        this.scaled(by, most);
        if (model instanceof Tree) this.links(model);
        if (model instanceof Runs) this.flows(model);
        for (const row of model.rows) this.row(tree ? this.seen(row) : row, w, h, by, most, looks);
        if (model instanceof Tree) this.versions(model);
    }

    /**
     * Says what the coldest and the hottest colour mean.
     * @param {string} by @param {number} most
     */
    scaled(by, most) {
        element('scale').hidden = by === '';
        element('least').textContent = by === 'fill' ? 'empty' : by === 'visits' ? '0' : 'never';
        element('most').textContent = by === 'fill' ? 'full' : by === 'visits' ? String(most) : 'now';
    }

    /**
     * Nodes that are narrower than two pixels share a column.
     * @param {Place[]} nodes @param {number} w @param {number} h @param {string} by @param {number} most
     * @param {Map<number, number[]>} looks
     */
    row(nodes, w, h, by, most, looks) {
        const small = NODE.w * this.scale < 2;
        if (!small || !tree) {
            for (const n of nodes) {
                const b = this.box(n);
                if (b.x + b.w >= -20 && b.x <= w + 20 && b.y + b.h >= -20 && b.y <= h + 20)
                    this.node(n, b, by, most, looks.get(n.id) || []);
            }
            return;
        }
        for (let i = 0; i < nodes.length;) {
            const b = this.box(nodes[i]), column = Math.floor(b.x);
            let sum = 0, marked = '', n = 0;
            for (; i < nodes.length && Math.floor((nodes[i].x - this.x) * this.scale) === column; i++, n++) {
                sum += by ? this.heat(nodes[i], by, most) : model.fill(nodes[i]);
                if (nodes[i].orphan) marked = this.colours.orphan;
                else if (nodes[i].latched !== NONE) marked ||= this.colours.latched;
                else if (looks.has(nodes[i].id)) marked ||= this.colours.looked;
            }
            if (column < 0 || column > w) continue;
            const c = this.context, share = sum / n;
            c.fillStyle = by ? this.shade(share) : this.colours.room;
            c.fillRect(column, b.y, 1, b.h);
            if (!by) {
                c.fillStyle = nodes[0].level ? this.colours.inner : this.colours.leaf;
                c.fillRect(column, b.y + b.h * (1 - share), 1, b.h * share);
            }
            if (marked) c.fillStyle = marked, c.fillRect(column - 1, b.y - 4, 3, b.h + 8);
        }
    }

    /**
     * From runs to those that they are merged into.
     * @param {Runs} model
     */
    flows(model) {
        const c = this.context;
        c.lineWidth = 2;
        c.strokeStyle = this.colours.latched;
        c.beginPath();
        for (const n of this.all()) {
            const into = model.nodes.get(n.latched);
            if (!into || Number.isNaN(into.x)) continue;
            const from = this.box(n), to = this.box(into), right = to.x >= from.x + from.w;
            c.moveTo(right ? from.x + from.w : from.x, from.y + from.h / 2);
            c.lineTo(right ? to.x : to.x + to.w, to.y + to.h / 2);
        }
        c.stroke();
    }

    /**
     * From inner nodes to their children, and from nodes to their right neighbours.
     * @param {Tree} model
     */
    links(model) {
        const c = this.context;
        if (NODE.w * this.scale < 2) return;
        c.lineWidth = 1;
        c.strokeStyle = this.colours.line;
        c.beginPath();
        model.levels.forEach((level, l) => {
            const above = model.levels[l + 1] || [], seen = this.seen(level || []);
            for (const n of seen) {
                const to = this.box(n), right = model.nodes.get(n.next);
                const parent = above[first(above, m => m.low > n.low) - 1];
                const at = parent ? parent.values.indexOf(n.id) : -1;
                if (at >= 0) {
                    const from = this.box(parent);
                    c.moveTo(from.x + from.w * (at + 0.5) / data.slots, from.y + from.h);
                    c.lineTo(to.x + to.w / 2, to.y);
                }
                if (right) {
                    c.moveTo(to.x + to.w, to.y + to.h / 2);
                    c.lineTo(this.box(right).x, to.y + to.h / 2);
                }
            }
        });
        c.stroke();
    }

    /** @param {Place} n @param {{x: number, y: number, w: number, h: number}} b @param {string} by @param {number} most
     * @param {number[]} looks */
    node(n, b, by, most, looks) {
        const c = this.context, colours = this.colours, {left, each} = this.slots(b);
        if (n.id >= DESCRIPTORS) { // it has no slots
            c.fillStyle = looks.length ? colours.looked : colours.line;
            c.fillRect(b.x, b.y, b.h, b.h);
            return this.label(n, b, looks);
        }
        if (b.w < 6) { // too small for slots and a frame
            c.fillStyle = n.orphan ? colours.orphan : n.latched !== NONE ? colours.latched
                : looks.length ? colours.looked : this.shade(by ? this.heat(n, by, most) : model.fill(n));
            c.fillRect(b.x, b.y, Math.max(b.w, 1), Math.max(b.h, 1));
            return;
        }
        const lit = looks.length > 0 && !by && !runs;
        c.fillStyle = lit ? colours.looked : by ? this.shade(this.heat(n, by, most)) : colours.room;
        c.fillRect(b.x, b.y, b.w, b.h);
        if (model instanceof Runs) {
            c.fillStyle = model.writes(n) ? colours.looked : colours.leaf;
            for (let i = 0, each = b.w / model.whole(n); i < n.keys.length && !by; i += 2)
                c.fillRect(b.x + each * n.keys[i], b.y + 3, Math.max(each * n.keys[i + 1] - 1, 0.5), b.h - 6);
        } else if (b.w > 24 && !by) for (let i = 0; i < data.slots; i++) {
            const k = i < n.keys.length ? n.keys[i] : FREE, free = tree ? i >= n.keys.length : k === FREE;
            c.fillStyle = free ? colours.room : n.level ? colours.inner : k === GONE ? colours.gone
                : k === UNKNOWN ? colours.unknown : colours.leaf;
            c.fillRect(left + each * i, b.y + 3, Math.max(each - 1, 0.5), b.h - 6);
        } else if (!by) {
            c.fillStyle = n.level ? colours.inner : colours.leaf;
            c.fillRect(b.x, b.y + b.h * (1 - model.fill(n)), b.w, b.h * model.fill(n));
        }
        if (b.h < 8 && !n.orphan && n.latched === NONE && n.id !== this.selected) return;
        const chosen = n.id === this.selected || (this.operation !== NONE && looks.includes(this.operation));
        const latched = n.latched !== NONE;
        c.strokeStyle = chosen ? colours.chosen : n.orphan ? colours.orphan : latched ? colours.latched : colours.line;
        c.lineWidth = chosen || n.orphan || latched ? 3 : 1;
        c.setLineDash(n.orphan ? [6, 3] : []);
        c.strokeRect(b.x, b.y, b.w, b.h);
        c.setLineDash([]);
        if (!runs) this.keys(n.keys, b, b.y, colours.paper);
        this.label(n, b, looks);
    }

    /**
     * What a node is called, and the operations at it.
     * @param {Place} n @param {{x: number, y: number, w: number, h: number}} b @param {number[]} looks
     */
    label(n, b, looks) {
        if (b.h < 8 || (b.w < 70 && !runs)) return;
        const c = this.context, colours = this.colours;
        c.font = '11px sans-serif';
        c.fillStyle = colours.faint;
        const latched = tree && n.latched !== NONE ? ` latched by #${n.latched}` : '';
        c.fillText(model.name(n) + latched, b.x, b.y - 4, runs ? undefined : b.w);
        if (looks.length && !runs) {
            c.fillStyle = colours.ink;
            const more = looks.length > 4 ? ` +${looks.length - 4}` : '';
            c.fillText(looks.slice(0, 4).map(number => '#' + number).join(' ') + more, b.x, b.y + b.h + 12, b.w);
        }
    }

    /**
     * The keys in their slots, if these are wide enough.
     * @param {number[]} keys @param {{x: number, w: number, h: number}} b @param {number} y @param {string} colour
     */
    keys(keys, b, y, colour) {
        const {left, each} = this.slots(b);
        if (each < 22) return;
        this.context.font = '11px sans-serif';
        this.context.fillStyle = colour;
        keys.forEach((k, i) => {
            const text = keyText(k), fits = this.context.measureText(text).width <= each - 3;
            this.context.fillText(fits ? text : '…', left + 2 + each * i, y + b.h / 2 + 4);
        });
    }

    /**
     * What is kept of leaves, below them.
     * @param {Tree} model
     */
    versions(model) {
        const c = this.context;
        for (const n of this.seen(model.levels[0] || [])) {
            const b = this.box(n);
            if (b.w < 24) return;
            const {left, each} = this.slots(b);
            n.versions.slice(0, 6).forEach((v, j) => {
                const y = b.y + b.h + 20 + j * (b.h + 8);
                c.fillStyle = this.colours.room;
                c.fillRect(b.x, y, b.w, b.h);
                c.fillStyle = this.colours.kept;
                for (let i = 0; i < v.keys.length; i++)
                    c.fillRect(left + each * i, y + 3, Math.max(each - 1, 0.5), b.h - 6);
                c.strokeStyle = this.colours.line;
                c.lineWidth = 1;
                c.strokeRect(b.x, y, b.w, b.h);
                this.keys(v.keys, b, y, this.colours.ink);
            });
        }
    }

    /**
     * Brings a node into sight.
     * @param {Place} n
     */
    show(n) {
        if (this.fits) return;
        const b = this.box(n), w = this.canvas.clientWidth, h = this.canvas.clientHeight;
        if (b.x < 0 || b.x + b.w > w) this.x = n.x + NODE.w / 2 - w / 2 / this.scale;
        if (b.y < 0 || b.y + b.h > h) this.y = n.y - h / 2 / this.down;
    }

    /**
     * Moves what is shown.
     * @param {number} dx pixels @param {number} dy
     */
    move(dx, dy) {
        this.fits = false;
        this.x -= dx / this.scale;
        this.y -= dy / this.down;
    }

    /** @param {number} factor @param {number} px @param {number} py */
    zoom(factor, px, py) {
        const x = this.x + px / this.scale, y = this.y + py / this.down;
        this.fits = false;
        this.scale = Math.max(1e-6, Math.min(6, this.scale * factor));
        this.x = x - px / this.scale;
        this.y = y - py / this.down;
    }
}
