// @ts-check
'use strict';

// The sorted runs of an LSM: the front, the levels, and what merges write on the way. Merges are the operations.

const RUN = {w: 560, step: 46, gap: 110};

class Runs extends Model {
    constructor() {
        super();
        this.most = data.merges.reduce((most, m) => Math.max(most, m.pairs), data.slots); // pairs of a run
        this.last = 0; // row
        for (let i = 0; i < count; i++) if (field(i, 0) === ROW) this.last = Math.max(this.last, field(i, 4));
    }

    /** @param {number} id @param {number} level @param {number} low */
    fresh(id, level, low) { return {...super.fresh(id, level, low), level: NONE}; }

    /** @param {Step} e */
    happen(e) {
        const n = this.node(e.place);
        if (e.what === ROW) {
            for (const m of this.nodes.values()) if (m !== n && m.level === e.other) this.set(m, 'level', NONE);
            this.set(n, 'level', e.other);
        } else if (e.what === INDEX) this.parts(n, [0, e.other]);
        else if (e.what === MARK) this.parts(n, []); // its valid pairs go to other runs
        else if (e.what === MERGE) this.tile(n, e);
        this.changed(); // runs without pairs that are no rows are not drawn
    }

    /**
     * A tile of a merge is whole.
     * @param {Place} n @param {Step} e
     */
    tile(n, e) {
        const merge = data.merges[e.number], o = /** @type {Operation} */ (this.operations.get(e.number));
        const sources = [merge.older, merge.newer].filter(id => id !== NONE).map(id => this.node(id));
        if (n.merge !== e.number) {
            this.set(n, 'merge', e.number);
            this.parts(n, []);
            this.set(o, 'at', n.id);
            for (const from of sources) this.set(from, 'latched', n.id);
        }
        n.keys.push(e.other, e.value); // a copy for each tile would take memory by the square of their number
        this.undoing.push(() => { n.keys.length -= 2; });
        this.set(n, 'pairs', n.pairs + e.value);
        this.set(n, 'changed', this.at);
        if (n.pairs < merge.pairs) return;
        this.set(o, 'ended', true);
        for (const from of sources) {
            this.set(from, 'latched', NONE);
            if (merge.last) this.parts(from, []);
        }
    }

    /** @param {Place} n @param {number[]} parts none, or one */
    parts(n, parts) {
        this.set(n, 'keys', parts);
        this.set(n, 'pairs', parts.length ? parts[1] : 0);
        this.set(n, 'changed', this.at);
    }

    /** @param {Place} n */
    whole(n) { return Math.max(n.level > 0 ? data.slots * 2 ** (n.level - 1) : data.slots, this.size(n)); }

    /**
     * The pairs that a run will have when its merge is whole.
     * @param {Place} n
     */
    size(n) {
        const merge = data.merges[n.merge];
        return merge && this.writes(n) ? merge.pairs : n.pairs;
    }

    /** @param {Place} n */
    writes(n) {
        const merge = data.merges[n.merge];
        return merge !== undefined && n.keys.length > 0 && n.pairs < merge.pairs;
    }

    /** @param {Place} n */
    fill(n) { return n.pairs / this.whole(n); }

    /** Rows stand one below another, with the front above; beside them what is on its way, the last one below. */
    layout() {
        const all = [...this.nodes.values()], stack = all.filter(n => n.level !== NONE);
        const passing = all.filter(n => n.level === NONE && (n.keys.length > 0 || n.latched !== NONE));
        stack.sort((a, b) => a.level - b.level);
        for (const n of [...stack, ...passing]) n.w = RUN.w * Math.sqrt(this.whole(n) / this.most);
        stack.forEach(n => { n.x = 0; n.y = n.level * RUN.step; });
        passing.forEach((n, i) => { n.x = RUN.w + RUN.gap; n.y = i * RUN.step; });
        this.rows = [[...stack, ...passing]];
        this.width = 2 * RUN.w + RUN.gap;
        this.height = RUN.step * Math.max(this.last + 1, 3);
    }

    /** @param {Place} n */
    row(n) { return n.level === NONE ? 'on its way' : n.level === 0 ? 'the front' : `level ${n.level - 1}`; }

    /** @param {Place} n */
    name(n) {
        const pairs = n.pairs, row = n.level === NONE ? `run ${n.id}` : this.row(n);
        if (n.latched !== NONE && pairs === 0) return row; // a sorted part of a batch, of which no event tells
        return `${row}: ${pairs} ` + (this.writes(n) ? `of ${this.size(n)} merged` : 'pairs');
    }

    /** @param {Place} n */
    facts(n) {
        const facts = [this.row(n), `${n.pairs} pairs`];
        if (this.writes(n)) facts.push(`merge #${n.merge} writes it`);
        if (n.latched !== NONE) facts.push(`it is merged into run ${n.latched}`);
        return facts;
    }

    /** @param {Step} e */
    sentence(e) {
        const run = `run ${e.place}`, row = e.other === 0 ? 'the front' : `level ${e.other - 1}`;
        switch (e.what) {
        case ROW: return `The ${run} is ${row}`;
        case INDEX: return `The ${run} of ${e.other} pairs gets its index`;
        case MARK: return `Of the ${e.other} pairs of ${run}, the valid ones are marked, and packed`;
        case MERGE: return `#${e.number}, ${this.between(e.number)}: pairs ${e.other} to ${e.other + e.value - 1}`;
        }
        return super.sentence(e);
    }

    /** @param {number} number of a merge */
    between(number) {
        const {older, newer, into} = data.merges[number], one = older === NONE ? newer : older;
        return older === NONE || newer === NONE ? `copy of run ${one} to run ${into}`
            : `merge of runs ${older} and ${newer} into run ${into}`;
    }

    /** @param {Operation} o @param {number} number */
    title(o, number) { return `#${number} ${this.between(number)}, ${data.merges[number].pairs} pairs`; }

    /** @param {Step} e @param {number} node */
    concerns(e, node) {
        const merge = e.what === MERGE ? data.merges[e.number] : undefined;
        return e.place === node || (merge !== undefined && (merge.older === node || merge.newer === node));
    }
}
