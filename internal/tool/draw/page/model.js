// @ts-check
'use strict';

// What kernels did to a structure, event by event, forward and back: what trees, lists of slabs and stacks of runs have
// in common. (The page is model.js, tree.js, lists.js, runs.js, picture.js and page.js, one after the other: no
// network, no library.)

/**
 * What Go writes (page.go). Keys and values are texts, and events name them by index; keys are in order, so that their
 * indices are. An event is FIELDS numbers: what, kernel, operation, place, other, key, value; -1 is none.
 * @typedef {{at: number, text: string}} Mark
 * @typedef {{older: number, newer: number, into: number, pairs: number, last: boolean}} Merge
 * @typedef {{id: number, level: number, low: number, next: number, keys: number[], values: number[]}} Start
 * @typedef {{device: string, list: string, slots: number, begin: number, dropped: number,
 *   what: string[], kinds: string[], statuses: string[], kernels: string[], owners: string[], keys: string[],
 *   values: string[], nodes: Start[], events: number[], marks: Mark[], merges: Merge[]}} Data
 */

/**
 * A node of a tree, a slab of a list, or a run. A slab has a key for each slot: FREE, GONE where one was erased, or
 * UNKNOWN. A run's level is its row, and its keys are the parts that it has: first pair, number of pairs, and so on.
 * @typedef {{number: number, keys: number[], values: number[]}} Version
 * @typedef {{id: number, level: number, low: number, next: number, keys: number[], values: number[], latched: number,
 *   orphan: boolean, linked: boolean, visits: number, changed: number, versions: Version[], list: number,
 *   merge: number, pairs: number, x: number, y: number, w: number}} Place
 * @typedef {{what: number, kernel: number, number: number, place: number, other: number, key: number, value: number}}
 *   Step
 * @typedef {{kind: number, key: number, status: number, at: number, first: number, last: number, waits: number,
 *   ended: boolean}} Operation
 */

const FIELDS = 7, NONE = -1, FREE = -1, GONE = -2, UNKNOWN = -3;
const NO_OPERATION = 2 ** 32 - 1; // of events that aren't of one
const DESCRIPTORS = 2 ** 32; // from here on, places are descriptors of vertices: heads of lists without slots

// The events, in the order of package trace.
const BEGIN = 1, END = 2, VISIT = 3, SIDE = 4, RESTART = 5, LATCH = 6, LATCHED = 7, RELEASE = 8, WRITE = 9, CHANGE = 10,
    ERASE = 11, LOST = 12, LINK = 13, SPLIT = 14, GROW = 15, SEPARATOR = 16, CLEAN = 17, KEEP = 18, ROW = 19,
    MERGE = 20, INDEX = 21, MARK = 22;

/** @param {string} id @returns {HTMLElement} */
function element(id) {
    const e = document.getElementById(id);
    if (!e) throw new Error('no element ' + id);
    return e;
}

/** @param {string} id */
const input = id => /** @type {HTMLInputElement} */ (element(id));
/** @param {string} id */
const canvas = id => /** @type {HTMLCanvasElement} */ (element(id));

/** @type {Data} */
const data = JSON.parse(element('data').textContent || '');
const count = data.events.length / FIELDS;
const tree = data.list === '', runs = data.list === 'run';

/** @param {number} i an event @param {number} field */
const field = (i, field) => data.events[FIELDS * i + field];
/** @param {number} i @returns {Step} */
function eventAt(i) {
    const [what, kernel, number, place, other, key, value] = data.events.slice(FIELDS * i, FIELDS * (i + 1));
    return {what, kernel, number, place, other, key, value};
}

/** @param {number} k */
const keyText = k => k === UNKNOWN ? '?' : k < 0 ? '' : data.keys[k];
/** @param {number} v */
const valueText = v => v < 0 ? '' : data.values[v];

/**
 * The index of the first of a list for which a test holds, if it holds for all after it.
 * @template T
 * @param {T[]} list @param {(x: T) => boolean} test
 */
function first(list, test) {
    let low = 0, high = list.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (test(list[middle])) high = middle;
        else low = middle + 1;
    }
    return low;
}

// Sizes, in the picture's own units.
const CELL = 16, NODE = {w: CELL * data.slots + 8, h: 26}, LEVEL = 96, GAP = 14;

class Model {
    constructor() {
        /** @type {Map<number, Place>} */
        this.nodes = new Map();
        /** @type {Place[][]} what is drawn, by rows; each from left to right */
        this.rows = [];
        this.width = 1;        // of the picture
        this.height = 1;
        /** @type {Map<number, Operation>} */
        this.operations = new Map();
        this.at = 0;           // the event that comes next
        this.changes = 0;      // counts what changes the layout
        /** @type {(() => void)[][]} by events: what undoes each, in the order in which it was done */
        this.undo = [];
        /** @type {(() => void)[]} */
        this.undoing = [];
        for (let i = 0; i < count; i++) {
            const number = field(i, 2), what = field(i, 0);
            let o = this.operations.get(number);
            if (!o) {
                o = {kind: 0, key: NONE, status: 0, at: NONE, first: i, last: i, waits: 0, ended: false};
                this.operations.set(number, o);
            }
            if (what === BEGIN) Object.assign(o, {kind: field(i, 4), key: field(i, 5)});
            if (what === END) o.ended = true;
            o.last = i;
        }
        /** @type {[number, Operation][]} */
        this.inOrder = [...this.operations].filter(([number, o]) => number !== NO_OPERATION && o.last >= data.begin);
    }

    /** @param {number} id @param {number} level @param {number} low @returns {Place} */
    fresh(id, level, low) {
        return {id, level, low, next: NONE, keys: [], values: [], latched: NONE, orphan: false, linked: false,
            visits: 0, changed: 0, versions: [], list: NONE, merge: NONE, pairs: 0, x: NaN, y: NaN, w: NODE.w};
    }

    /**
     * The node at a place, which is new if no event named it before.
     * @param {number} id @param {number} [level]
     */
    node(id, level) {
        let n = this.nodes.get(id);
        if (!n) this.add(n = this.fresh(id, level || 0, NONE));
        return n;
    }

    /**
     * Adds a node.
     * @param {Place} n
     */
    add(n) {
        this.nodes.set(n.id, n);
        this.changed();
        this.undoing.push(() => { this.nodes.delete(n.id); });
    }

    /** Says that the layout changes. */
    changed() {
        this.changes++;
        this.undoing.push(() => { this.changes++; });
    }

    /**
     * Sets a field of a node or an operation.
     * @template T
     * @template {keyof T} F
     * @param {T} of @param {F} name @param {T[F]} to
     */
    set(of, name, to) {
        const was = of[name];
        if (was === to) return;
        of[name] = to;
        this.undoing.push(() => { of[name] = was; });
    }

    /**
     * Says that a node's content changes.
     * @param {Place} n
     */
    touch(n) {
        const {keys, values} = n;
        n.keys = keys.slice();
        n.values = values.slice();
        this.undoing.push(() => { n.keys = keys; n.values = values; });
        this.set(n, 'changed', this.at);
    }

    /** Does the event that comes next. */
    forth() {
        this.undoing = [];
        this.happen(eventAt(this.at));
        this.undo[this.at] = this.undoing;
        this.at++;
    }

    /**
     * Does an event: the structure's.
     * @param {Step} e
     */
    happen(e) { throw new Error(`event ${e.what}`); }

    /**
     * Brings an operation to where an event is, unless that is its beginning or end, and returns the node there.
     * @param {Step} e @param {number} level the node's, if it is new
     */
    reach(e, level) {
        const o = /** @type {Operation} */ (this.operations.get(e.number));
        if (e.what === END) this.set(o, 'status', e.other);
        if (e.what === BEGIN || e.what === END) return undefined;
        const n = this.node(e.place, level);
        this.set(o, 'at', e.what === SIDE ? e.other : e.place);
        if (e.what === VISIT) this.set(n, 'visits', n.visits + 1);
        if (e.what === LATCH) this.set(o, 'waits', o.waits + e.value);
        return n;
    }

    /**
     * Whether an operation has begun and does something yet.
     * @param {Operation} o
     */
    active(o) { return o.first < this.at && o.last >= this.at; }

    /** Takes the last event back. */
    back() {
        this.at--;
        const undo = this.undo[this.at];
        for (let i = undo.length - 1; i >= 0; i--) undo[i]();
    }

    /** @param {number} to the event that comes next then */
    seek(to) {
        to = Math.max(data.begin, Math.min(count, to));
        while (this.at < to) this.forth();
        while (this.at > to) this.back();
    }

    /**
     * How full a node is, of 1.
     * @param {Place} n
     */
    fill(n) { return n.keys.length / data.slots; }

    /** Places the nodes, and sets rows, width and height. */
    layout() {}

    /** @param {Place} n */
    name(n) { return `${n.id}`; }

    /**
     * What the page tells of a node beside its number.
     * @param {Place} n @returns {string[]}
     */
    facts(n) { return [`${Math.round(100 * this.fill(n))}% full`, `${n.visits} visits`]; }

    /**
     * What happened, without a point.
     * @param {Step} e
     */
    sentence(e) { return `${data.what[e.what] || e.what} at ${e.place}`; }

    /**
     * What an operation is, in the list.
     * @param {Operation} o @param {number} number
     */
    title(o, number) { return `#${number} ${data.kinds[o.kind] || ''} ${keyText(o.key)}`; }

    /**
     * Whether an event is at a node, or names it.
     * @param {Step} e @param {number} node
     */
    concerns(e, node) {
        return e.place === node || ([SIDE, LINK, SPLIT, GROW, SEPARATOR].includes(e.what) && e.other === node) ||
            (e.what === GROW && e.value === node);
    }
}

/**
 * What happened at an event of operations on trees and lists.
 * @param {Step} e @param {string} node what a node is called @param {string} slot what a slot is called
 * @param {string} alone who does what isn't done for an operation
 */
function operationSentence(e, node, slot, alone) {
    const {number, place, other} = e, key = keyText(e.key);
    const o = /** @type {Operation} */ (model.operations.get(number));
    const of = o.key >= 0 ? ' of ' + keyText(o.key) : '';
    const who = number === NO_OPERATION ? alone : `#${number} ${data.kinds[o.kind] || 'operation'}${of}`;
    switch (e.what) {
    case BEGIN: return `${who} begins`;
    case END: return `${who} ends: ${data.statuses[other] || other}`;
    case VISIT: return `${who} reads ${node}`;
    case SIDE: return `${who} follows the side link of ${node} to node ${other}`;
    case RESTART: return `${who} goes back to the root, node ${place}`;
    case LATCH: return `${who} takes the latch of ${node}` + (e.value > 0 ? `, for which it waited (${e.value})` : '');
    case LATCHED: return `${who} finds the latch of ${node} taken`;
    case RELEASE: return `${who} releases the latch of ${node}`;
    case WRITE: return `${who} puts ${key} into ${slot}`;
    case CHANGE: return `${who} changes the value of ${key} in ${slot}`;
    case ERASE: return `${who} erases ${key} in ${slot}`;
    case LOST: return `${who} finds that another operation was faster in ${slot}`;
    case LINK: return `${who} appends slab ${other} after ${node}`;
    case SPLIT: return `${who} splits ${node}: from ${key} on its content is in node ${other}`;
    case GROW: return `${who} splits the root, node ${place}, into nodes ${other} and ${e.value}, at ${key}`;
    case SEPARATOR: return `${who} puts the separator ${key} into ${node}, with the child ${other}`;
    case CLEAN: return `${who} makes erased slots of ${node} free`;
    case KEEP: return `${who} keeps the content of ${node} for snapshots, as version ${other}`;
    }
    return `${who}: ${data.what[e.what] || e.what} at ${node}`;
}
