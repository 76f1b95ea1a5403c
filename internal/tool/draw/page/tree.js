// @ts-check
'use strict';

// A B-link-tree: its nodes by level, each with keys in order.

class Tree extends Model {
    constructor() {
        super();
        /** @type {Place[][]} nodes by level, each level in key order */
        this.levels = [];
        /** @type {Set<number>} keys whose erasure was numbered before the event that puts them into a node */
        this.owed = new Set();
        for (const start of data.nodes) { // in key order
            const n = {...this.fresh(start.id, start.level, start.low), ...start};
            this.nodes.set(n.id, n);
            (this.levels[n.level] ||= []).push(n);
        }
    }

    /** @param {Place} n */
    add(n) {
        const was = this.nodes.get(n.id); // named before the event that makes it was numbered
        if (was) {
            const from = this.levels[was.level], at = from.indexOf(was);
            from.splice(at, 1);
            this.undoing.push(() => {
                from.splice(at, 0, was);
                this.nodes.set(was.id, was);
            });
        }
        super.add(n);
        const into = this.levels[n.level] ||= [];
        into.splice(first(into, m => m.low > n.low), 0, n);
        this.undoing.push(() => { into.splice(into.indexOf(n), 1); });
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

    /** @param {Step} e */
    happen(e) {
        const {what, other, key, value} = e;
        const n = this.reach(e, what === LATCH || what === LATCHED ? other : what === SPLIT ? value : 0);
        if (!n) return;
        if (what === LATCH) this.set(n, 'latched', e.number);
        else if (what === RELEASE) this.set(n, 'latched', NONE);
        else if (what === WRITE && this.owed.has(key)) this.owe(key, false);
        else if (what === WRITE || what === CHANGE) this.put(this.holder(n, key), key, value);
        else if (what === ERASE) {
            const holder = this.holder(n, key), at = holder.keys.indexOf(key);
            if (at < 0) return this.owe(key, true);
            this.touch(holder);
            holder.keys.splice(at, 1);
            holder.values.splice(at, 1);
        } else if (what === SPLIT) {
            const holder = this.holder(n, key), fresh = this.fresh(other, n.level, key);
            fresh.next = holder.next;
            fresh.orphan = true;
            fresh.versions = holder.versions;
            this.move(holder, fresh, key);
            this.set(holder, 'next', other);
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
        const from = this.levels[root.level], at = from.indexOf(root), above = this.levels[root.level + 1];
        from.splice(at, 1);
        root.level++;
        (this.levels[root.level] ||= []).push(root);
        this.undoing.push(() => {
            if (above) above.splice(above.indexOf(root), 1);
            else this.levels.pop();
            root.level--;
            from.splice(at, 0, root);
        });
        this.add(a);
        this.add(b);
    }

    /** Leaves stand side by side, and an inner node over the middle of its children. */
    layout() {
        const step = NODE.w + GAP, levels = this.levels;
        for (let l = 0; l < levels.length; l++) {
            const level = levels[l] || [], below = levels[l - 1] || [];
            let at = 0;
            level.forEach((n, i) => {
                n.y = (levels.length - 1 - l) * LEVEL;
                const end = i + 1 < level.length ? level[i + 1].low : Infinity, first = at;
                while (at < below.length && below[at].low < end) at++;
                n.x = at > first ? (below[first].x + below[at - 1].x) / 2 : i > 0 ? level[i - 1].x + step : 0;
                if (i > 0) n.x = Math.max(n.x, level[i - 1].x + step);
            });
        }
        this.rows = levels.map(level => level || []);
        this.width = Math.max(...this.rows.map(level => level.length ? level[level.length - 1].x : 0)) + NODE.w;
        const versions = (levels[0] || []).reduce((most, n) => Math.max(most, n.versions.length), 0);
        this.height = (levels.length - 1) * LEVEL + NODE.h + Math.min(versions, 6) * (NODE.h + 8) + 20;
    }

    /** @param {Place} n */
    facts(n) {
        const low = n.low < 0 ? 'the least key' : keyText(n.low);
        const facts = [`level ${n.level}`, `from ${low} on`, ...super.facts(n)];
        if (n.next !== NONE) facts.push(`next: node ${n.next}`);
        if (n.latched !== NONE) facts.push(`latched by #${n.latched}`);
        if (n.orphan) facts.push('its parent does not know it yet');
        return facts;
    }

    /**
     * Nodes are shown in key order, so slots have no numbers.
     * @param {Step} e
     */
    sentence(e) { return operationSentence(e, `node ${e.place}`, `node ${e.place}`, 'The batch'); }
}
