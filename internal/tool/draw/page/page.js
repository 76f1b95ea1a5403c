// @ts-check
'use strict';

// The time line, the lists, and what the user does.

const model = tree ? new Tree() : runs ? new Runs() : new Lists(), view = new View();
const thing = tree ? 'node' : runs ? 'run' : 'slab', Thing = thing[0].toUpperCase() + thing.slice(1);
let playing = false, due = 0, stale = true;

/** Draws at the next frame. */
function refresh() { stale = true; }

/** @param {number} to */
function seek(to) {
    notice = '';
    model.seek(to);
    input('at').value = String(model.at);
    refresh();
}

/**
 * The next event, from the one that comes next on, for which a test holds; `count` if there is none.
 * @param {(i: number) => boolean} test
 */
function next(test) {
    let i = model.at;
    while (i < count && !test(i)) i++;
    return i;
}

let notice = ''; // instead of what happens now

/**
 * Goes behind the next event for which a test holds, and shows where that is.
 * @param {(i: number) => boolean} test
 */
function jump(test) {
    pause();
    const to = next(test);
    if (to === count) {
        notice = 'There is no further one.';
        return refresh();
    }
    seek(to + 1);
    const n = model.at > 0 ? model.nodes.get(field(model.at - 1, 3)) : undefined;
    if (n) view.show(n);
}

/** @param {number} i an event */
const sentence = i => model.sentence(eventAt(i));

/**
 * Whether an event is at a node, or names it.
 * @param {number} i @param {number} node
 */
const concerns = (i, node) => field(i, 0) > END && model.concerns(eventAt(i), node);

/**
 * The tests that "Stop at" has.
 * @returns {((i: number) => boolean)[]}
 */
function stops() {
    return input('stops').value.split(',').map(s => s.trim()).filter(Boolean).map(text => {
        const [, word, rest] = /^(?:(key|node|slab|run|operation|merge|op|#)\s*)?(\S.*)$/i.exec(text) || [];
        const named = (word || '').toLowerCase();
        if (named === 'key')
            return i => [field(i, 5), model.operations.get(field(i, 2))?.key ?? NONE].map(keyText).includes(rest);
        if (['node', 'slab', 'run'].includes(named)) return i => concerns(i, Number(rest));
        if (named) return i => field(i, 2) === Number(rest);
        return i => data.what[field(i, 0)] === text.toLowerCase();
    });
}

/** Says if "Stop at" names something that no event has. */
function checkStops() {
    const unknown = stops().some(test => {
        for (let i = 0; i < count; i++) if (test(i)) return false;
        return true;
    });
    element('stops').setAttribute('aria-invalid', String(unknown));
    element('stops').title = unknown ? 'No event is like one of these' : element('stops').dataset.title || '';
}

function pause() {
    playing = false;
    element('now').setAttribute('aria-live', 'polite');
    element('play').textContent = 'Play';
}

function play() {
    if (playing) return pause();
    if (model.at === count) seek(data.begin);
    playing = true;
    element('now').setAttribute('aria-live', 'off');
    due = 0;
    element('play').textContent = 'Pause';
    refresh();
}

/**
 * Plays what is due.
 * @param {number} milliseconds since the last frame
 */
function advance(milliseconds) {
    const tests = stops();
    due += Math.min(milliseconds, 1000) / 1000 * Number(input('speed').value);
    while (due >= 1 && model.at < count) {
        due--;
        const i = model.at;
        model.forth();
        if (tests.some(test => test(i))) return pause();
    }
    if (model.at === count) pause();
}

const LINE = 20, HISTORY = 200;

function listOperations() {
    const box = element('operations'), filler = element('filler'), active = input('which').value === 'active';
    const shown = active ? model.inOrder.filter(([, o]) => model.active(o)) : model.inOrder;
    element('count').textContent = `${shown.length} of ${model.inOrder.length}`;
    filler.style.height = `${shown.length * LINE}px`;
    const first = Math.max(0, Math.floor(box.scrollTop / LINE) - 2);
    const last = first + Math.ceil(box.clientHeight / LINE) + 4;
    const now = model.at > 0 ? field(model.at - 1, 2) : NONE;
    filler.replaceChildren(...shown.slice(first, last).map(([number, o], i) => {
        const row = document.createElement('div');
        row.className = 'operation' + (number === view.operation ? ' chosen' : '') + (number === now ? ' next' : '');
        row.setAttribute('role', 'option');
        row.dataset.number = String(number);
        row.style.top = `${(first + i) * LINE}px`;
        const place = o.at === NONE ? '' : ` · ${thing} ${o.at}`, over = o.last < model.at;
        const end = !o.ended ? 'its end is not recorded' : runs ? 'done' : data.statuses[o.status];
        row.textContent = model.title(o, number) + (o.first >= model.at ? '' : !over ? place : ` · ${end}`) +
            (o.waits ? ` · waited ${o.waits}` : '');
        return row;
    }));
}

/** @param {string} tag @param {string} text */
function made(tag, text) {
    const e = document.createElement(tag);
    e.textContent = text;
    return e;
}

/** @type {{node: number, events: number[]}} the events that concern the selected node */
let past = {node: NONE, events: []};

/** @param {number} node */
function historyOf(node) {
    if (past.node !== node) {
        past = {node, events: []};
        for (let i = 0; i < count; i++)
            if (field(i, 0) !== VISIT && concerns(i, node)) past.events.push(i);
    }
    return past.events;
}

/** @param {Place} n */
function tableOf(n) {
    const table = document.createElement('table'), head = table.insertRow();
    if (!tree) head.append(made('th', 'slot'));
    head.append(made('th', 'key'), made('th', n.level ? 'child' : 'value'));
    n.keys.forEach((k, i) => {
        const row = table.insertRow();
        if (!tree) row.append(made('td', String(i)));
        row.append(made('td', tree ? (k === NONE ? '(least)' : keyText(k))
            : k === GONE ? '(erased)' : k === FREE ? '(free)' : keyText(k)),
        made('td', n.level ? String(n.values[i]) : valueText(n.values[i])));
    });
    return table;
}

function describeNode() {
    const n = model.nodes.get(view.selected), box = element('node');
    if (!n) {
        box.replaceChildren(made('h2', Thing), made('p', runs ? 'Click a run to see its history.'
            : `Click a ${thing} to see its slots${tree ? ', versions' : ''} and history.`));
        return;
    }
    const parts = [made('h2', `${Thing} ${n.id}`), made('p', model.facts(n).join(', '))];
    if (!runs) parts.push(tableOf(n));
    for (const v of n.versions) parts.push(made('p', `version ${v.number}: ${v.keys.map(keyText).join(' ')}`));
    const events = historyOf(n.id), list = document.createElement('ol');
    const from = Math.max(0, Math.min(first(events, i => i >= model.at) - HISTORY / 2, events.length - HISTORY));
    for (const i of events.slice(from, from + HISTORY)) {
        const item = document.createElement('li'), link = made('button', `${i + 1 - data.begin}: ${sentence(i)}`);
        link.dataset.seek = String(i + 1);
        if (i + 1 === model.at) link.className = 'next';
        item.append(link);
        list.append(item);
    }
    const title = events.length > HISTORY ? `History (${HISTORY} of ${events.length} events)` : 'History';
    box.replaceChildren(...parts, made('h2', title), list);
}

/** Ticks over the time line: splits, conflicts of latches, restarts, marks. */
function drawTimes() {
    const box = canvas('times'), w = box.clientWidth, c = box.getContext('2d');
    if (!c) return;
    if (box.width !== w) box.width = w;
    box.height = 18;
    const {orphan, latched, chosen, kept} = view.colours;
    const colour = /** @type {Record<number, string>} */ ({[SPLIT]: orphan, [GROW]: orphan, [LINK]: orphan,
        [LATCHED]: latched, [LOST]: latched, [RESTART]: chosen, [KEEP]: kept, [ROW]: orphan});
    /** @param {number} i */
    const x = i => 8 + (w - 16) * (i - data.begin) / Math.max(count - data.begin, 1);
    for (let i = data.begin; i < count; i++) {
        const tick = colour[field(i, 0)];
        if (tick) c.fillStyle = tick, c.fillRect(x(i), 6, 1.5, 12);
    }
    c.fillStyle = view.colours.ink;
    for (const m of data.marks) c.fillRect(x(m.at), 0, 2, 18);
}

// The lists are made anew only if something changed, and not at each frame while it plays: a click is a press and a
// release on the same element.
let before = performance.now(), ticks = true, listed = '', listedAt = 0, lists = 0;
/** @param {number} time */
function frame(time) {
    if (playing) {
        advance(time - before);
        input('at').value = String(model.at);
        stale = true;
    }
    before = time;
    if (stale) {
        stale = false;
        view.draw();
        if (ticks) drawTimes();
        ticks = false;
        const mark = data.marks.filter(m => m.at < Math.max(model.at, 1)).pop();
        const moment = model.at - data.begin, all = count - data.begin;
        const now = notice || (moment === 0 ? `Before the first of ${all} events`
            : `${moment} of ${all}: ${sentence(model.at - 1)}`);
        element('now').textContent = now + (mark ? ` (${mark.text})` : '');
    }
    const shown = `${model.at} ${view.selected} ${view.operation} ${lists}`;
    if (listed !== shown && (!playing || time - listedAt > 250)) {
        listed = shown;
        listedAt = time;
        listOperations();
        describeNode();
    }
    requestAnimationFrame(frame);
}

/** @param {number} i an event @returns {Operation} */
const operationAt = i => /** @type {Operation} */ (model.operations.get(field(i, 2)));

/** The operation that was chosen, or else the one that acted last. */
function followed() {
    return view.operation !== NONE ? view.operation : field(Math.max(model.at - 1, 0), 2);
}

/** @type {[string, string, string, (i: number) => boolean][]} what to jump to: name, key, title, test */
const jumps = tree ? [
    ['Next split', 's', 'The next split', i => field(i, 0) === SPLIT || field(i, 0) === GROW],
    ['Next conflict', 'l', 'The next operation that finds a latch taken', i => field(i, 0) === LATCHED],
    ['Next restart', 'r', 'The next operation that goes back to the root', i => field(i, 0) === RESTART],
] : runs ? [
    ['Next merge', 's', 'The first tile of the next merge', i => field(i, 0) === MERGE && operationAt(i).first === i],
    ['Its end', 'l', 'The last tile of a merge', i => field(i, 0) === MERGE && operationAt(i).last === i],
] : [
    ['Next slab', 's', 'The next slab that is appended', i => field(i, 0) === LINK],
    ['Next conflict', 'l', 'The next operation that loses a slot to another', i => field(i, 0) === LOST],
];
jumps.push(['Same operation', 'o', 'What the chosen operation, or the last one, does next',
    i => field(i, 2) === followed()]);

/**
 * Selects another node: the next one as they are drawn, or the one of the last event if none is selected.
 * @param {number} by 1 or -1
 */
function choose(by) {
    const all = view.all(), at = all.findIndex(n => n.id === view.selected);
    const last = all.find(n => model.at > 0 && n.id === field(model.at - 1, 3)) || all[0];
    const n = at < 0 ? last : all[(at + by + all.length) % all.length];
    if (!n) return;
    view.selected = n.id;
    view.show(n);
    refresh();
}

/** @param {number} factor */
function zoom(factor) {
    view.zoom(factor, view.canvas.clientWidth / 2, view.canvas.clientHeight / 2);
    refresh();
}

function start() {
    const what = `${count - data.begin} events of ${model.inOrder.length} ${runs ? 'merges' : 'operations'}`;
    element('about').textContent = `${data.device}: ${what}` +
        (data.dropped ? `; ${data.dropped} more had no room` : '');
    const legend = tree ? [['leaf', 'leaf'], ['inner', 'inner node'], ['looked', 'an operation is here'],
        ['latched', 'latched', 'frame'], ['orphan', 'split off, and the parent does not know it', 'frame'],
        ['kept', 'kept for snapshots']]
        : runs ? [['leaf', 'pairs'], ['looked', 'a merge writes them'], ['latched', 'a merge reads it', 'frame']]
        : [['leaf', data.list === 'vertex' ? 'edge' : 'pair'], ['gone', 'erased'], ['unknown', 'filled before'],
            ['looked', 'an operation is here']];
    element('legend').replaceChildren(...legend.map(([name, text, frameOnly]) => {
        const item = document.createElement('li'), box = document.createElement('i');
        if (frameOnly === undefined) box.style.background = `var(--${name})`;
        else box.style.borderColor = `var(--${name})`;
        item.append(box, text);
        return item;
    }));
    input('at').min = String(data.begin);
    input('at').max = String(count);
    input('at').addEventListener('input', () => { pause(); seek(Number(input('at').value)); });
    /** @type {Record<string, () => void>} */
    const does = {
        first: () => { pause(); seek(data.begin); }, back: () => { pause(); seek(model.at - 1); }, play,
        step: () => { pause(); seek(model.at + 1); }, last: () => { pause(); seek(count); },
        whole: () => { view.fits = true; refresh(); },
    };
    for (const id of Object.keys(does)) element(id).addEventListener('click', does[id]);
    /** @type {Record<string, () => void>} */
    const keys = {Home: does.first, ArrowLeft: does.back, ' ': play, ArrowRight: does.step, End: does.last,
        '0': does.whole, '+': () => zoom(1.3), '-': () => zoom(1 / 1.3), n: () => choose(1), b: () => choose(-1)};
    for (const [name, x, y] of /** @type {[string, number, number][]} */ (
        [['Left', 1, 0], ['Right', -1, 0], ['Up', 0, 1], ['Down', 0, -1]]))
        keys['Shift+Arrow' + name] = () => { view.move(60 * x, 60 * y); refresh(); };
    for (const [name, key, title, test] of jumps) {
        const button = made('button', name);
        button.title = `${title} (${key})`;
        button.addEventListener('click', keys[key] = () => jump(test));
        element('jumps').append(button, ' ');
    }
    document.addEventListener('keydown', e => {
        const at = e.target instanceof Element ? e.target : document.body;
        const typing = at.matches('input:not([type=range]), select') || (at.matches('button') && e.key === ' ');
        const key = e.shiftKey && e.key.startsWith('Arrow') ? 'Shift+' + e.key : e.key;
        if (typing || e.ctrlKey || e.metaKey || e.altKey || !keys[key]) return;
        e.preventDefault();
        keys[key]();
    });
    element('heat').addEventListener('change', refresh);
    element('which').addEventListener('change', () => { lists++; });
    element('stops').dataset.title = element('stops').title;
    element('stops').addEventListener('change', checkStops);
    element('operations').addEventListener('scroll', () => { lists++; });
    element('operations').addEventListener('click', e => {
        const row = e.target instanceof HTMLElement ? e.target.dataset.number : undefined;
        if (row === undefined) return;
        view.operation = view.operation === Number(row) ? NONE : Number(row);
        const n = model.nodes.get(model.operations.get(view.operation)?.at ?? NONE);
        if (n) view.show(n);
        refresh();
    });
    element('node').addEventListener('click', e => {
        const to = e.target instanceof HTMLElement ? e.target.dataset.seek : undefined;
        if (to !== undefined) { pause(); seek(Number(to)); }
    });
    const picture = view.canvas;
    let moved = 0;
    picture.addEventListener('pointerdown', e => { picture.setPointerCapture(e.pointerId); moved = 0; });
    picture.addEventListener('pointermove', e => {
        if (!picture.hasPointerCapture(e.pointerId)) return;
        moved += Math.abs(e.movementX) + Math.abs(e.movementY);
        view.move(e.movementX, e.movementY);
        refresh();
    });
    picture.addEventListener('pointerup', e => {
        if (moved > 4) return;
        view.selected = view.pick(e.offsetX, e.offsetY)?.id ?? NONE;
        refresh();
    });
    picture.addEventListener('wheel', e => {
        e.preventDefault();
        view.zoom(Math.exp(-e.deltaY / 500), e.offsetX, e.offsetY);
        refresh();
    }, {passive: false});
    const again = () => { view.dress(); ticks = true; refresh(); };
    window.addEventListener('resize', again);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
    view.dress();
    // A link can name a moment, an operation and a node: #at=57&op=3&node=12
    const wanted = new URLSearchParams(location.hash.slice(1));
    seek(data.begin + (Number(wanted.get('at')) || 0));
    if (wanted.has('op')) view.operation = Number(wanted.get('op'));
    if (wanted.has('node')) view.selected = Number(wanted.get('node'));
    requestAnimationFrame(frame);
}

start();
