// @ts-check
'use strict';

// The page of a server: it reads /metrics now and then, and draws what has changed.
(() => {
    const EVERY = 2000; // milliseconds between two samples
    const KEPT = 300; // samples
    const BACK = 10; // samples over which times are counted

    /** @typedef {{name: string, labels: Map<string, string>, value: number}} Metric */
    /** @typedef {{at: number, all: Metric[]}} Sample */

    /** @type {Sample[]} */
    const samples = [];

    /** @param {string} id @returns {HTMLElement} */
    const element = id => /** @type {HTMLElement} */ (document.getElementById(id));

    /**
     * Reads Prometheus's format.
     * @param {string} text @returns {Metric[]}
     */
    function parse(text) {
        const all = [];
        for (const line of text.split('\n')) {
            const parts = /^([a-zA-Z_:]\w*)(?:\{(.*)\})? (\S+)$/.exec(line);
            if (!parts) continue;
            const labels = new Map();
            for (const [, name, value] of (parts[2] || '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
                labels.set(name, value.replace(/\\(.)/g, (_, c) => c === 'n' ? '\n' : c));
            all.push({name: parts[1], labels, value: Number(parts[3].replace('+Inf', 'Infinity'))});
        }
        return all;
    }

    /**
     * The sum of a metric, of those with a label if one is named.
     * @param {Sample} s @param {string} name @param {string} [label] @param {string} [value]
     */
    function sum(s, name, label, value) {
        let total = 0;
        for (const m of s.all) if (m.name === name && (!label || m.labels.get(label) === value)) total += m.value;
        return total;
    }

    /**
     * The sample up to so many before one with which its counters are compared: those of a server that was started anew
     * begin at 0.
     * @param {number} i @param {number} back
     */
    function earlier(i, back) {
        const began = sum(samples[i], 'process_start_time_seconds');
        let j = i;
        while (j > 0 && i - j < back && sum(samples[j - 1], 'process_start_time_seconds') === began) j--;
        return samples[j];
    }

    /**
     * What a counter grew by, a second, up to a sample.
     * @param {number} i @param {number} back @param {string} name @param {string} [label] @param {string} [value]
     */
    function rate(i, back, name, label, value) {
        const now = samples[i], before = earlier(i, back);
        if (now === before) return 0;
        return (sum(now, name, label, value) - sum(before, name, label, value)) * 1000 / (now.at - before.at);
    }

    /**
     * The value below which a part of what a histogram has counted lately is; NaN if it has counted nothing. If that is
     * above all values that the histogram tells apart, the greatest of these, negated.
     * @param {number} part @param {string} name @param {string} [kind]
     */
    function quantile(part, name, kind) {
        const now = samples[samples.length - 1], before = earlier(samples.length - 1, BACK);
        /** @param {Sample} s @param {string} le */
        const below = (s, le) => s.all.reduce((n, m) => m.name === `${name}_bucket` && m.labels.get('le') === le &&
            (!kind || m.labels.get('kind') === kind) ? n + m.value : n, 0);
        const ends = [...new Set(now.all.filter(m => m.name === `${name}_bucket`).map(m => m.labels.get('le') || ''))];
        const counts = ends.map(le => below(now, le) - (before === now ? 0 : below(before, le)));
        const total = counts[counts.length - 1];
        if (!(total > 0)) return NaN;
        const i = counts.findIndex(n => n >= part * total);
        const low = i ? Number(ends[i - 1]) : 0, high = Number(ends[i].replace('+Inf', 'Infinity'));
        if (high === Infinity) return -low;
        const under = i ? counts[i - 1] : 0;
        return low + (high - low) * (part * total - under) / (counts[i] - under);
    }

    /** @param {number} x @param {(x: number) => string} form */
    const within = (x, form) => x < 0 ? `over ${form(-x)}` : form(x);
    /** @param {number} x */
    const text = x => Number.isNaN(x) ? '–' : Number.isInteger(x) || x >= 1000 ? Math.round(x).toLocaleString('en')
        : x.toPrecision(3);
    /** @param {number} x */
    const seconds = x => Number.isNaN(x) ? '–' : x >= 1 ? `${x.toPrecision(3)} s` : x >= 1e-3
        ? `${(x * 1e3).toPrecision(3)} ms` : `${(x * 1e6).toPrecision(3)} µs`;
    /** @param {number} x */
    const bytes = x => x >= 1 << 30 ? `${(x / 2 ** 30).toPrecision(3)} GiB` : `${(x / 2 ** 20).toPrecision(3)} MiB`;

    /**
     * @param {string} id @param {string[]} head @param {string[][]} rows @param {boolean[]} [marked] of the rows
     */
    function table(id, head, rows, marked) {
        element(id).replaceChildren(...[head, ...rows].map((cells, i) => {
            const row = document.createElement('tr');
            row.append(...cells.map((cell, j) => {
                const made = document.createElement(i && j ? 'td' : 'th');
                made.textContent = cell;
                return made;
            }));
            if (i && marked && marked[i - 1]) row.className = 'leads';
            return row;
        }));
    }

    /**
     * A number with its past. The element is made once.
     * @param {string} name @param {string} now @param {number[]} past
     */
    function measure(name, now, past) {
        const box = element('measures');
        let made = [...box.children].find(e => e instanceof HTMLElement && e.dataset.name === name);
        if (!made) {
            made = document.createElement('div');
            made.className = 'measure';
            /** @type {HTMLElement} */ (made).dataset.name = name;
            made.innerHTML = '<span></span><b></b><svg preserveAspectRatio="none"><polyline/></svg>';
            /** @type {HTMLElement} */ (made.firstChild).textContent = name;
            box.append(made);
        }
        /** @type {HTMLElement} */ (made.querySelector('b')).textContent = now;
        const most = Math.max(...past, 1e-9), wide = Math.max(past.length - 1, 60);
        /** @type {Element} */ (made.querySelector('svg')).setAttribute('viewBox', `0 -2 ${wide} 32`);
        /** @type {Element} */ (made.querySelector('polyline')).setAttribute('points',
            past.map((y, x) => `${x},${28 - 28 * y / most}`).join(' '));
    }

    function draw() {
        const last = samples.length - 1, now = samples[last];
        element('when').textContent = new Date(now.at).toLocaleTimeString();
        const members = now.all.filter(m => m.name === 'vkds_member_leads');
        const shard = members.some(m => m.labels.get('shard') !== '1');
        table('members', [...(shard ? ['shard'] : []), 'address', 'this one', 'leads'], members.map(m => [
            ...(shard ? [m.labels.get('shard') || ''] : []), m.labels.get('member') || '',
            m.labels.get('self') === 'true' ? 'yes' : '', m.value ? 'yes' : '']), members.map(m => m.value > 0));

        for (const [name, metric] of [['commands a second', 'vkds_commands_total'],
            ['errors a second', 'vkds_errors_total'], ['entries of the log a second', 'vkds_entry_operations_count']]) {
            const past = samples.map((_, i) => rate(i, 1, metric));
            measure(name, text(past[last]), past);
        }
        for (const [name, metric, form] of /** @type {[string, string, (x: number) => string][]} */ ([
            ['keys', 'vkds_keys', text], ['connections', 'vkds_clients', text],
            ['memory of the process', 'process_resident_memory_bytes', bytes],
            ['of it, Go\'s heap', 'go_memstats_heap_inuse_bytes', bytes],
            ['last entry that a majority has stored', 'vkds_log_stored', text],
            ['last entry that is applied here', 'vkds_log_applied', text]]))
            measure(name, form(sum(now, metric)), samples.map(s => sum(s, metric)));

        /**
         * @param {string} name @param {string} count @param {string} time @param {string} size
         * @param {string} [kind]
         */
        const row = (name, count, time, size, kind) => [name, text(rate(last, BACK, count, kind && 'kind', kind)),
            ...[0.5, 0.9, 0.99].map(part => within(quantile(part, time, kind), seconds)),
            ...[0.5, 0.99].map(part => within(quantile(part, size, kind), x => text(Math.ceil(x))))];
        const head = ['', 'a second', 'half within', '90 % within', '99 % within', 'half with operations', '99 % with'];
        table('times', head, [...[['reads', 'read'], ['writes', 'write'], ['ordered queries', 'ordered']].map(([name, kind]) =>
                row(name, 'vkds_batch_seconds_count', 'vkds_batch_seconds', 'vkds_batch_operations', kind)),
            row('entries of the log', 'vkds_entry_seconds_count', 'vkds_entry_seconds', 'vkds_entry_operations')]);

        const commands = now.all.filter(m => m.name === 'vkds_commands_total' && m.value > 0)
            .map(m => ({name: m.labels.get('command') || '', all: m.value}));
        table('commands', ['', 'a second', 'since the start'], commands.sort((a, b) => b.all - a.all).map(c =>
            [c.name, text(rate(last, BACK, 'vkds_commands_total', 'command', c.name)), text(c.all)]));
    }

    async function ask() {
        try {
            const answer = await fetch('metrics');
            if (!answer.ok) throw new Error(await answer.text());
            samples.push({at: Date.now(), all: parse(await answer.text())});
            if (samples.length > KEPT) samples.shift();
            draw();
            element('error').textContent = '';
        } catch (e) {
            element('error').textContent = `no answer: ${e instanceof Error ? e.message : e}`;
        }
        setTimeout(ask, EVERY);
    }

    ask();
})();
