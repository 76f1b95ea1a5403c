// @ts-check
'use strict';

// What kernels did to a structure, event by event, forward and back. (The page is model.js, picture.js and page.js, one
// after the other: no network, no library.)

/**
 * What Go writes (page.go). Keys and values are texts, and events name them by index; keys are in order, so that their
 * indices are. An event is FIELDS numbers: what, kernel, operation, place, other, key, value; -1 is none.
 * @typedef {{at: number, text: string}} Mark
 * @typedef {{id: number, level: number, low: number, next: number, keys: number[], values: number[]}} Start
 * @typedef {{device: string, list: string, slots: number, begin: number, dropped: number,
 *   what: string[], kinds: string[], statuses: string[], kernels: string[], owners: string[], keys: string[],
 *   values: string[], nodes: Start[], events: number[], marks: Mark[]}} Data
 */

/**
 * A node of a tree, or a slab of a list. A slab has a key for each slot: FREE, GONE where one was erased, or UNKNOWN.
 * @typedef {{number: number, keys: number[], values: number[]}} Version
 * @typedef {{id: number, level: number, low: number, next: number, keys: number[], values: number[], latched: number,
 *   orphan: boolean, linked: boolean, visits: number, changed: number, versions: Version[], list: number, x: number,
 *   y: number}} Place
 * @typedef {{kind: number, key: number, status: number, at: number, first: number, last: number, waits: number,
 *   ended: boolean}} Operation
 */

const FIELDS = 7, NONE = -1, FREE = -1, GONE = -2, UNKNOWN = -3;
const NO_OPERATION = 2 ** 32 - 1; // of events that aren't of one
const DESCRIPTORS = 2 ** 32; // from here on, places are descriptors of vertices: heads of lists without slots

// The events, in the order of package trace.
const BEGIN = 1, END = 2, VISIT = 3, SIDE = 4, RESTART = 5, LATCH = 6, LATCHED = 7, RELEASE = 8, WRITE = 9, CHANGE = 10,
    ERASE = 11, LOST = 12, LINK = 13, SPLIT = 14, GROW = 15, SEPARATOR = 16, CLEAN = 17, KEEP = 18;

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
const tree = data.list === '';
const rehashKernels = data.kernels.map(name => name.includes('rehash'));

/** @param {number} i an event @param {number} field */
const field = (i, field) => data.events[FIELDS * i + field];
/** @param {number} k */
const keyText = k => k === UNKNOWN ? '?' : k < 0 ? '' : data.keys[k];
/** @param {number} v */
const valueText = v => v < 0 ? '' : data.values[v];

/**
 * What a list is called.
 * @param {Place} head
 */
function listName(head) {
    const owned = data.owners.length > 0;
    return `${data.list} ${owned ? data.owners[head.list] ?? '' : 'with ' + keyText(head.list)}`;
}

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

class Model {
    constructor() {
        /** @type {Map<number, Place>} */
        this.nodes = new Map();
        /** @type {Place[][]} nodes by level, each level in key order; only of a tree */
        this.levels = [];
        /** @type {Place[]} first slabs, in the order of their places; only of lists */
        this.heads = [];
        /** @type {Map<number, Operation>} */
        this.operations = new Map();
        this.at = 0;           // the event that comes next
        this.rehashes = false; // whether the last event was one of a rehash
        /** @type {Set<number>} keys whose erasure was numbered before the event that puts them into a node */
        this.owed = new Set();
        this.changes = 0;      // counts what changes the layout
        /** @type {(() => void)[][]} by events: what undoes each, in the order in which it was done */
        this.undo = [];
        /** @type {(() => void)[]} */
        this.undoing = [];
        for (const start of data.nodes) { // in key order
            const n = {...this.fresh(start.id, start.level, start.low), ...start};
            this.nodes.set(n.id, n);
            (this.levels[n.level] ||= []).push(n);
        }
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
        return {id, level, low, next: NONE, keys: tree ? [] : Array(data.slots).fill(FREE),
            values: tree ? [] : Array(data.slots).fill(NONE), latched: NONE, orphan: false, linked: false, visits: 0,
            changed: 0, versions: [], list: NONE, x: NaN, y: NaN};
    }

    /**
     * Adds a node to its level, or a slab to the first ones.
     * @param {Place} n
     */
    add(n) {
        this.nodes.set(n.id, n);
        const into = tree ? this.levels[n.level] ||= [] : this.heads;
        into.splice(first(into, tree ? m => m.low > n.low : m => m.id > n.id), 0, n);
        this.changes++;
        this.undoing.push(() => {
            this.nodes.delete(n.id);
            into.splice(into.indexOf(n), 1);
            this.changes++;
        });
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

    /**
     * The node that has a key: the one an event names, or one to the right, if that was split since. An event of
     * another operation may be numbered later than what it tells.
     * @param {Place} n @param {number} key
     */
    holder(n, key) {
        for (let right = this.nodes.get(n.next); right && key >= right.low; right = this.nodes.get(n.next)) n = right;
        return n;
    }

    /** @param {Place} n @param {number} key @param {number} value */
    put(n, key, value) {
        this.touch(n);
        let i = n.keys.findIndex(k => k >= key);
        if (i < 0) i = n.keys.length;
        const there = n.keys[i] === key ? 1 : 0;
        n.keys.splice(i, there, key);
        n.values.splice(i, there, value);
    }

    /**
     * Moves what is from a key on to another node.
     * @param {Place} from @param {Place} to @param {number} key
     */
    move(from, to, key) {
        this.touch(from);
        this.touch(to);
        let i = from.keys.findIndex(k => k >= key);
        if (i < 0) i = from.keys.length;
        to.keys = from.keys.splice(i).concat(to.keys);
        to.values = from.values.splice(i).concat(to.values);
    }

    /** Does the event that comes next. */
    forth() {
        const i = this.at, what = field(i, 0), number = field(i, 2), place = field(i, 3), other = field(i, 4),
            key = field(i, 5), value = field(i, 6);
        const o = /** @type {Operation} */ (this.operations.get(number));
        this.undoing = [];
        if (!tree) this.rehash(rehashKernels[field(i, 1)]);
        if (what === END) this.set(o, 'status', other);
        else if (what !== BEGIN) {
            const n = this.node(place, what === LATCH || what === LATCHED ? other : what === SPLIT ? value : 0);
            this.set(o, 'at', what === SIDE ? other : place);
            if (!tree && n.list === NONE) this.set(n, 'list', o.key >= 0 ? o.key : key);
            if (tree) this.onTree(what, n, other, key, value, number);
            else this.onList(what, n, other, key, value);
            if (what === VISIT) this.set(n, 'visits', n.visits + 1);
            if (what === LATCH) this.set(o, 'waits', o.waits + value);
        }
        this.undo[i] = this.undoing;
        this.at++;
    }

    /** @param {number} what @param {Place} n @param {number} other @param {number} key @param {number} value
     * @param {number} number */
    onTree(what, n, other, key, value, number) {
        if (what === LATCH) this.set(n, 'latched', number);
        else if (what === RELEASE) this.set(n, 'latched', NONE);
        else if (what === WRITE && this.owed.has(key)) this.owe(key, false);
        else if (what === WRITE || what === CHANGE) this.put(this.holder(n, key), key, value);
        else if (what === ERASE) {
            n = this.holder(n, key);
            const at = n.keys.indexOf(key);
            if (at < 0) return this.owe(key, true);
            this.touch(n);
            n.keys.splice(at, 1);
            n.values.splice(at, 1);
        } else if (what === SPLIT) {
            const fresh = this.fresh(other, n.level, key);
            n = this.holder(n, key);
            fresh.next = n.next;
            fresh.orphan = true;
            fresh.versions = n.versions;
            this.move(n, fresh, key);
            this.set(n, 'next', other);
            this.add(fresh);
        } else if (what === GROW) this.grow(n, other, value, key);
        else if (what === SEPARATOR) {
            const child = this.nodes.get(other);
            this.put(this.holder(n, key), key, other);
            if (child) this.set(child, 'orphan', false);
        } else if (what === KEEP) {
            const versions = n.versions;
            n.versions = [{number: other, keys: n.keys.slice(), values: n.values.slice()}, ...versions];
            this.undoing.push(() => { n.versions = versions; });
        }
    }

    /**
     * Remembers that a key was erased before the event that puts it there, or that this event has come. Events of
     * different operations may be numbered in another order than what they tell.
     * @param {number} key @param {boolean} is
     */
    owe(key, is) {
        if (is) this.owed.add(key);
        else this.owed.delete(key);
        this.undoing.push(() => {
            if (is) this.owed.delete(key);
            else this.owed.add(key);
        });
    }

    /**
     * The root goes up a level, and two new nodes have its content.
     * @param {Place} root @param {number} left @param {number} right @param {number} key
     */
    grow(root, left, right, key) {
        const a = this.fresh(left, root.level, root.low), b = this.fresh(right, root.level, key);
        a.next = right;
        this.move(root, b, key);
        this.move(root, a, NONE);
        root.keys = [root.low, key];
        root.values = [left, right];
        const at = this.levels[root.level];
        at.splice(at.indexOf(root), 1);
        this.undoing.push(() => {
            this.levels.pop();
            root.level--;
            at.push(root);
        });
        root.level++;
        (this.levels[root.level] ||= []).push(root);
        this.add(a);
        this.add(b);
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
            this.changes++;
            this.undoing.push(() => {
                Object.assign(this, {nodes, heads});
                this.changes++;
            });
        }
        this.set(/** @type {Model} */ (this), 'rehashes', now);
    }

    /** @param {number} what @param {Place} n @param {number} other @param {number} key @param {number} value */
    onList(what, n, other, key, value) {
        if (what === LINK) {
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
            this.changes++;
            this.undoing.push(() => { this.changes++; });
        } else if ((what === WRITE || what === CHANGE) && n.keys[other] === GONE) {
            return; // an erased slot is not used again: its erasure was numbered first
        } else if (what === WRITE || what === CHANGE || what === ERASE) {
            this.touch(n);
            n.keys[other] = what === ERASE ? GONE : key;
            n.values[other] = what === ERASE ? NONE : value;
            for (let i = 0; i < other; i++) if (n.keys[i] === FREE) n.keys[i] = UNKNOWN; // slots are filled in order
        }
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
    fill(n) {
        if (tree) return n.keys.length / data.slots;
        let used = 0;
        for (const k of n.keys) used += k >= 0 || k === UNKNOWN ? 1 : 0;
        return used / data.slots;
    }
}

/** @param {number} i an event */
function sentence(i) {
    const what = field(i, 0), number = field(i, 2), place = field(i, 3), other = field(i, 4);
    const key = keyText(field(i, 5)), value = field(i, 6), node = (tree ? 'node ' : 'slab ') + place;
    const o = /** @type {Operation} */ (model.operations.get(number));
    const slot = tree ? node : `slot ${other} of ${node}`; // a tree's nodes are shown in key order
    const of = o.key >= 0 ? ' of ' + keyText(o.key) : '';
    const who = number !== NO_OPERATION ? `#${number} ${data.kinds[o.kind] || 'operation'}${of}`
        : tree ? 'The batch' : 'A rehash';
    switch (what) {
    case BEGIN: return `${who} begins`;
    case END: return `${who} ends: ${data.statuses[other] || other}`;
    case VISIT: return `${who} reads ${node}`;
    case SIDE: return `${who} follows the side link of ${node} to node ${other}`;
    case RESTART: return `${who} goes back to the root, node ${place}`;
    case LATCH: return `${who} takes the latch of ${node}` + (value > 0 ? `, for which it waited (${value})` : '');
    case LATCHED: return `${who} finds the latch of ${node} taken`;
    case RELEASE: return `${who} releases the latch of ${node}`;
    case WRITE: return `${who} puts ${key} into ${slot}`;
    case CHANGE: return `${who} changes the value of ${key} in ${slot}`;
    case ERASE: return `${who} erases ${key} in ${slot}`;
    case LOST: return `${who} finds that another operation was faster in ${slot}`;
    case LINK: return `${who} appends slab ${other} after ${node}`;
    case SPLIT: return `${who} splits ${node}: from ${key} on its content is in node ${other}`;
    case GROW: return `${who} splits the root, node ${place}, into nodes ${other} and ${value}, at ${key}`;
    case SEPARATOR: return `${who} puts the separator ${key} into ${node}, with the child ${other}`;
    case CLEAN: return `${who} makes erased slots of ${node} free`;
    case KEEP: return `${who} keeps the content of ${node} for snapshots, as version ${other}`;
    }
    return `${who}: ${data.what[what] || what} at ${node}`;
}
