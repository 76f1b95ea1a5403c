// @ts-check
'use strict';

// The page of a live structure: it asks for a sample now and then, and draws what it has, with time.
(() => {
    const KEPT = 900; // samples

    /** @typedef {{at: number, error: string, numbers: Map<string, number>, lists: Map<string, number[]>}} Sample */

    /** @type {Sample[]} */
    const samples = [];
    let follows = true; // the last sample is shown

    /** @param {string} id @returns {HTMLElement} */
    const element = id => /** @type {HTMLElement} */ (document.getElementById(id));
    const moment = /** @type {HTMLInputElement} */ (element('moment'));

    /**
     * Gathers the numbers of a value by their names, and lists of numbers.
     * @param {string} name @param {unknown} value @param {Sample} into
     */
    function gather(name, value, into) {
        if (typeof value === 'number') into.numbers.set(name, value);
        else if (Array.isArray(value)) {
            if (value.every(x => typeof x === 'number')) into.lists.set(name, value);
            else for (const field of Object.keys(value[0] || {})) {
                const list = value.map(x => Number(x[field]));
                if (list.every(x => !Number.isNaN(x))) into.lists.set(`${name}: ${field}`, list);
            }
        } else if (value && typeof value === 'object')
            for (const [field, x] of Object.entries(value)) gather(name ? `${name} ${field}` : field, x, into);
    }

    /** @param {any} from @returns {Sample} */
    function read(from) {
        const s = {at: from.At, error: from.Error || '', numbers: new Map(), lists: new Map()};
        gather('Metrics', from.Metrics, s);
        gather('', from.Stats, s);
        gather('Versions', from.Versions, s);
        return s;
    }

    /**
     * What a counter of Metrics grew by, a second.
     * @param {string} name @param {number} i
     */
    function rate(name, i) {
        const s = samples[i], before = samples[i - 1];
        if (!before || s.at === before.at) return 0;
        return ((s.numbers.get(name) || 0) - (before.numbers.get(name) || 0)) * 1000 / (s.at - before.at);
    }

    /** @param {number} x */
    const text = x => Number.isInteger(x) || Math.abs(x) >= 1000 ? Math.round(x).toLocaleString('en')
        : x.toPrecision(3);

    /**
     * Draws values side by side.
     * @param {HTMLCanvasElement} canvas @param {number[]} values @param {number} marked an index @param {boolean} bars
     */
    function plot(canvas, values, marked, bars) {
        const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
        canvas.width = Math.round(w * ratio);
        canvas.height = Math.round(h * ratio);
        const c = canvas.getContext('2d');
        if (!c || !values.length) return;
        c.scale(ratio, ratio);
        const style = getComputedStyle(document.documentElement), most = Math.max(...values.filter(v => v > 0), 1e-9);
        const room = bars ? values.length : Math.max(values.length, 60), step = w / room;
        c.fillStyle = style.getPropertyValue('--bar');
        values.forEach((v, i) => {
            if (!(v > 0)) return;
            const high = Math.max(1, v / most * (h - 2));
            c.fillRect(i * step, h - high, Math.max(step - (bars ? 2 : 0), 0.5), high);
        });
        if (bars) return;
        c.fillStyle = style.getPropertyValue('--mark');
        c.fillRect((marked + 0.5) * step, 0, 1, h);
    }

    /**
     * The element of a measure, which is made once.
     * @param {string} where @param {string} name
     */
    function measure(where, name) {
        const box = element(where);
        for (const e of box.children) if (e instanceof HTMLElement && e.dataset.name === name) return e;
        const made = document.createElement('div');
        made.className = 'measure';
        made.dataset.name = name;
        const label = document.createElement('span'), value = document.createElement('b');
        label.textContent = name;
        made.append(label, value, document.createElement('canvas'));
        box.append(made);
        return made;
    }

    /** @param {string} where @param {string} name @param {number[]} values @param {number} i */
    function show(where, name, values, i) {
        const e = measure(where, name);
        e.hidden = false;
        /** @type {HTMLElement} */ (e.querySelector('b')).textContent = text(values[i]);
        plot(/** @type {HTMLCanvasElement} */ (e.querySelector('canvas')), values, i, false);
    }

    function draw() {
        const i = Number(moment.value), s = samples[i];
        if (!s) return;
        element('when').textContent = new Date(s.at).toLocaleTimeString() +
            (follows ? '' : ' (the page goes on in the background)');
        element('error').textContent = s.error;
        // What this moment doesn't have is not shown, and where others lack it is a gap.
        for (const e of document.querySelectorAll('.measure')) if (e instanceof HTMLElement) e.hidden = true;
        for (const name of s.numbers.keys()) {
            const counter = name.startsWith('Metrics ') && name !== 'Metrics Bytes';
            show(counter ? 'rates' : 'sizes', counter ? name.slice(8) : name,
                samples.map((x, j) => counter ? rate(name, j) : x.numbers.get(name) ?? NaN), i);
        }
        for (const [name, values] of s.lists) {
            const e = measure('lists', name);
            e.hidden = false;
            /** @type {HTMLElement} */ (e.querySelector('b')).textContent = values.map(text).join(' · ');
            plot(/** @type {HTMLCanvasElement} */ (e.querySelector('canvas')), values, -1, true);
        }
    }

    /** @param {Sample} s */
    function add(s) {
        if (samples.length && samples[samples.length - 1].at === s.at) return;
        samples.push(s);
        if (samples.length > KEPT) {
            samples.shift();
            if (!follows) moment.value = String(Math.max(0, Number(moment.value) - 1));
        }
        moment.max = String(samples.length - 1);
        if (follows) moment.value = moment.max;
        draw();
    }

    async function ask() {
        try {
            const answer = await fetch('sample');
            if (!answer.ok) throw new Error(await answer.text());
            add(read(await answer.json()));
        } catch (e) {
            element('error').textContent = `no answer: ${e instanceof Error ? e.message : e}`;
        }
        setTimeout(ask, Number(document.body.dataset.every));
    }

    moment.addEventListener('input', () => {
        follows = moment.value === moment.max;
        draw();
    });
    window.addEventListener('resize', draw);
    ask();
})();
