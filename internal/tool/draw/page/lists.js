// @ts-check
'use strict';

// Lists of slabs: the buckets of a hash table, or the vertices of a graph.

const rehashKernels = data.kernels.map(name => name.includes('rehash'));

class Lists extends Model {
    constructor() {
        super();
        /** @type {Place[]} first slabs, in the order of their places */
        this.heads = [];
        this.rehashes = false; // whether the last event was one of a rehash
    }

    /** @param {number} id @param {number} level @param {number} low */
    fresh(id, level, low) {
        return {...super.fresh(id, level, low), keys: Array(data.slots).fill(FREE),
            values: Array(data.slots).fill(NONE)};
    }

    /** @param {Place} n */
    add(n) {
        super.add(n);
        const {heads} = this;
        heads.splice(first(heads, m => m.id > n.id), 0, n);
        this.undoing.push(() => { heads.splice(heads.indexOf(n), 1); });
    }

    /**
     * A rehash writes new lists, and what was there before is gone.
     * @param {boolean} now whether the event is one of a rehash
     */
    rehash(now) {
        if (now && !this.rehashes) {
            const {nodes, heads} = this;
            this.nodes = new Map();
            this.heads = [];
            this.changed();
            this.undoing.push(() => { Object.assign(this, {nodes, heads}); });
        }
        this.set(/** @type {Lists} */ (this), 'rehashes', now);
    }

    /** @param {Step} e */
    happen(e) {
        const {what, other, key, value} = e;
        this.rehash(rehashKernels[e.kernel]);
        const n = this.reach(e, 0);
        if (!n) return;
        const o = /** @type {Operation} */ (this.operations.get(e.number));
        if (n.list === NONE) this.set(n, 'list', o.key >= 0 ? o.key : key);
        if (what === LINK) this.link(n, other);
        else if ((what === WRITE || what === CHANGE) && n.keys[other] === GONE) {
            return; // an erased slot is not used again: its erasure was numbered first
        } else if (what === WRITE || what === CHANGE || what === ERASE) {
            this.touch(n);
            n.keys[other] = what === ERASE ? GONE : key;
            n.values[other] = what === ERASE ? NONE : value;
            for (let i = 0; i < other; i++) if (n.keys[i] === FREE) n.keys[i] = UNKNOWN; // slots are filled in order
        }
    }

    /** @param {Place} n @param {number} other the slab that is appended to it */
    link(n, other) {
        const next = this.nodes.get(other) || this.fresh(other, 0, NONE), at = this.heads.indexOf(next);
        if (at >= 0) { // it was visited before the event that links it was numbered
            this.heads.splice(at, 1);
            this.undoing.push(() => { this.heads.splice(at, 0, next); });
        } else {
            this.nodes.set(other, next);
            this.undoing.push(() => { this.nodes.delete(other); });
        }
        this.set(next, 'linked', true);
        this.set(n, 'next', other);
        this.changed();
    }

    /** Lists stand in a grid, each from its first slab down. */
    layout() {
        const lists = this.heads.map(head => {
            const slabs = new Set([head]); // each once, whatever the events say
            for (let n = this.nodes.get(head.next); n && !slabs.has(n); n = this.nodes.get(n.next)) slabs.add(n);
            return [...slabs];
        });
        const high = NODE.h + 10, wide = NODE.w + 40, slabs = lists.reduce((sum, l) => sum + l.length, 0);
        const across = Math.max(1, Math.round(Math.sqrt((slabs * high + lists.length * 40) / wide * 1.6)));
        let y = 14, deep = 0;
        lists.forEach((slabs, i) => {
            if (i % across === 0) y += deep, deep = 0;
            slabs.forEach((n, j) => {
                n.x = (i % across) * wide;
                n.y = y + j * high;
            });
            deep = Math.max(deep, slabs.length * high + 40);
        });
        this.rows = [lists.flat()];
        this.width = Math.min(across, Math.max(1, lists.length)) * wide;
        this.height = y + deep;
    }

    /** @param {Place} n */
    fill(n) {
        let used = 0;
        for (const k of n.keys) used += k >= 0 || k === UNKNOWN ? 1 : 0;
        return used / data.slots;
    }

    /** @param {Place} n the first slab of a list */
    list(n) {
        const owned = data.owners.length > 0;
        return `${data.list} ${owned ? data.owners[n.list] ?? '' : 'with ' + keyText(n.list)}`;
    }

    /** @param {Place} n */
    name(n) { return n.linked ? '' : this.list(n); }

    /** @param {Place} n */
    facts(n) {
        const facts = [this.list(n), ...super.facts(n)];
        if (n.next !== NONE) facts.push(`next: slab ${n.next}`);
        return facts;
    }

    /** @param {Step} e */
    sentence(e) {
        return operationSentence(e, `slab ${e.place}`, `slot ${e.other} of slab ${e.place}`, 'A rehash');
    }
}
