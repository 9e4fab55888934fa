'use strict';
/* Names and logs come from anywhere: they reach the page as text nodes only. */
(() => {
  const D = JSON.parse(document.getElementById('data').textContent);
  const N = D.s.length;
  const [UNNEEDED, PASSED, CACHED, EXECUTED, FAILED, UNFINISHED] = [0, 1, 2, 3, 4, 5];
  const COLORS = ['unneeded', 'passed', 'cached', 'executed', 'failed', 'unfinished'];
  const ROW = 30;
  const $ = (id) => document.getElementById(id);

  function el(tag, props, ...children) {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(props || {})) {
      if (k === 'style') for (const [p, s] of Object.entries(v)) e.style.setProperty(p, s);
      else if (k in e) e[k] = v;
      else e.setAttribute(k, v);
    }
    e.append(...children);
    return e;
  }
  function svg(tag, props) {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [k, v] of Object.entries(props)) e.setAttribute(k, v);
    return e;
  }

  function hide(section) {
    $(section).hidden = true;
    document.querySelector('nav a[href="#' + section + '"]').hidden = true;
  }

  /* ---- how things are said ---- */

  const begin = (t) => D.b[t] / 10; // ms; the data have tenths of them
  const took = (t) => D.d[t] / 10;
  const ran = (t) => D.s[t] >= EXECUTED;
  const name = (t) => D.recipes[D.r[t]] + (D.k[t] < 0 ? '' : ':' + D.kinds[D.k[t]]);
  function span(ms) {
    if (ms < 10) return (Math.round(ms * 10) / 10) + 'ms';
    if (ms < 1000) return Math.round(ms) + 'ms';
    if (ms < 9950) return (Math.round(ms / 100) / 10).toFixed(1) + 's';
    const s = Math.round(ms / 1000);
    if (s < 60) return s + 's';
    if (s < 3600) return Math.floor(s / 60) + 'm' + String(s % 60).padStart(2, '0') + 's';
    return Math.floor(s / 3600) + 'h' + String(Math.floor(s / 60) % 60).padStart(2, '0') + 'm';
  }
  function size(kib) {
    if (kib < 1000) return kib + ' KiB';
    if (kib < 1000 * 1024) return (kib / 1024).toFixed(kib < 10240 ? 1 : 0) + ' MiB';
    return (kib / 1048576).toFixed(1) + ' GiB';
  }
  const some = (n, f) => (n > 0 ? f(n) : '–');
  const plural = (n, word) => n.toLocaleString('en') + ' ' + word + (n === 1 ? '' : 's');
  const color = (id) => 'var(--' + id + ')';

  /* ---- summary ---- */

  function summary() {
    const facts = $('facts');
    facts.append(el('span', {className: 'badge ' + D.result, textContent: D.result}), ' ',
      D.targets.join(' ') + ' · ' + span(D.took) + (D.time ? ' · ' + D.time.replace('T', ' ').replace('Z', ' UTC') : ''));
    const n = D.counts;
    const parts = [['executed', 'executed', n.executed], ['cached', 'from cache', n.cached],
      ['failed', 'failed', n.failed], ['unneeded', 'not needed', n.not_needed],
      ['passed', 'nothing to run', n.noexec], ['unfinished', 'not started', n.not_started]];
    const all = parts.reduce((sum, p) => sum + p[2], 0) || 1;
    const ring = svg('svg', {viewBox: '0 0 120 120', role: 'img', 'aria-label':
      parts.filter((p) => p[2]).map((p) => p[2] + ' ' + p[1]).join(', ')});
    let at = 0;
    const round = 2 * Math.PI * 48;
    ring.append(svg('circle', {cx: 60, cy: 60, r: 48, fill: 'none', stroke: color('line'), 'stroke-width': 16}));
    for (const [id, , count] of parts) {
      if (!count) continue;
      const arc = svg('circle', {cx: 60, cy: 60, r: 48, fill: 'none', stroke: color(id), 'stroke-width': 16,
        'stroke-dasharray': (count / all * round) + ' ' + round, 'stroke-dashoffset': -at / all * round,
        transform: 'rotate(-90 60 60)'});
      ring.append(arc);
      at += count;
    }
    /* What was cached made others needless: both were hits. */
    const hits = n.cached + n.not_needed, looked = hits + n.executed + n.failed + n.not_started;
    const big = svg('text', {x: 60, y: 63, class: 'hole'});
    const small = svg('text', {x: 60, y: 79, class: 'under'});
    big.textContent = looked ? Math.floor(100 * hits / looked) + '%' : '–';
    small.textContent = 'did not run';
    ring.append(big, small);
    $('donut').append(ring);
    for (const [id, word, count] of parts)
      if (count || id === 'executed' || id === 'cached')
        $('legend').append(el('li', {}, el('span', {className: 'swatch', style: {background: color(id)}}),
          word, el('b', {textContent: count.toLocaleString('en')})));
    const number = (word, value, more) => $('numbers').append(el('div', {}, el('dt', {textContent: word}),
      el('dd', {}, value, el('small', {textContent: more || ''}))));
    number('Took', span(D.took), plural(n.tasks, 'task'));
    number('Tasks ran for', span(D.busy), (D.took ? (D.busy / D.took).toFixed(1) : 0) + ' at a time, ' + D.jobs + ' allowed');
    number('Critical path', span(D.chainTook), plural(D.chain.length, 'task'));
    number('CPU time', some(D.cpu, span), D.took && D.cpu ? (D.cpu / D.took).toFixed(1) + ' CPUs busy' : 'not measured');
    number('Saved by the cache', some(D.saved, (ms) => 'about ' + span(ms)), D.saved ? 'of running tasks, as earlier runs tell' : 'nothing, or not known');
    number('Largest process', some(D.memory, size), D.memoryUsed ? 'of the whole machine up to ' + size(D.memoryUsed) + ' in use' : 'of a task');
    const button = (t) => el('button', {type: 'button', textContent: name(t), onclick: () => select(t)});
    for (const [t, why] of Object.entries(D.x)) {
      $('failures').hidden = false;
      $('failure-list').append(el('li', {}, button(+t), ' ' + why));
    }
    for (const [t, other, more, path] of D.overlaps) {
      $('overlaps').hidden = false;
      $('overlap-list').append(el('li', {}, path + (more ? ' and ' + more + ' more' : '') + ' by ', button(t), ' and ', button(other)));
    }
    if (D.overlapping > D.overlaps.length) $('overlap-list').append(el('li', {className: 'dim', textContent: 'and ' + (D.overlapping - D.overlaps.length) + ' more'}));
    if (D.causes.length || D.fresh || D.compared.startsWith('First')) {
      $('causes').hidden = false;
      for (const [title, reaches] of D.causes)
        $('cause-list').append(el('li', {textContent: title + ', reaches ' + plural(reaches, 'task')}));
      if (D.fresh) $('cause-list').append(el('li', {textContent: plural(D.fresh, 'task') + (D.fresh === 1 ? ' is' : ' are') + ' new'}));
      $('cause-list').hidden = !$('cause-list').children.length;
      $('since').textContent = D.compared + '.';
    }
    $('footer').textContent = 'Made by bitzel ' + D.bitzel + ' from the events of the build. This page loads nothing.';
  }

  /* ---- tables: only the rows in sight exist ---- */

  function table(where, label, columns, onPick) {
    const body = el('div', {className: 'body', role: 'rowgroup'});
    const filler = el('div', {});
    const heads = el('div', {className: 'row heads', role: 'row'});
    const box = el('div', {className: 'table', role: 'grid', tabIndex: 0, 'aria-label': label}, heads, body);
    let rows = [], by = -1, down = true, active = -1;
    box.style.setProperty('--columns', columns.map((c) => c.width || '110px').join(' '));
    box.style.setProperty('--narrow', columns.filter((c) => !c.wide).map((c) => c.narrow || c.width || '76px').join(' '));
    const cells = columns.map((c, i) => {
      const head = el('div', {role: 'columnheader', className: (c.text ? '' : 'number') + (c.wide ? ' wide' : ''), 'aria-sort': 'none'},
        el('button', {type: 'button', className: c.text ? '' : 'number', textContent: c.head, onclick: () => sort(i)}));
      heads.append(head);
      return head;
    });
    function paint() {
      const first = Math.max(0, Math.floor(body.scrollTop / ROW) - 4);
      const last = Math.min(rows.length, first + Math.ceil((body.clientHeight || 450) / ROW) + 8);
      const shown = [];
      for (let i = first; i < last; i++) {
        const row = el('div', {role: 'row', id: where.id + '-' + i, 'aria-rowindex': i + 2, 'aria-selected': i === active, className: 'row' + (onPick ? ' pick' : '') + (i === active ? ' active' : ''),
          style: {top: i * ROW + 'px'}});
        for (const c of columns) {
          const cell = el('div', {role: 'gridcell', className: (c.text ? '' : 'number') + (c.wide ? ' wide' : '')});
          if (c.dot) cell.append(el('span', {className: 'dot', style: {background: color(c.dot(rows[i]))}}));
          cell.append(c.show ? c.show(rows[i]) : String(c.value(rows[i])));
          if (c.text) cell.title = cell.textContent;
          row.append(cell);
        }
        if (onPick) row.onclick = () => { active = i; paint(); onPick(rows[i]); };
        shown.push(row);
      }
      filler.style.height = rows.length * ROW + 'px';
      body.replaceChildren(filler, ...shown);
      box.setAttribute('aria-rowcount', rows.length + 1);
      /* Who listens hears of the row that is active; it exists, since it is in sight. */
      if (active >= first && active < last) box.setAttribute('aria-activedescendant', where.id + '-' + active);
      else box.removeAttribute('aria-activedescendant');
    }
    function order() {
      if (by < 0) return;
      const {value} = columns[by];
      const keyed = rows.map((r) => [value(r), r]);
      keyed.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (down ? -1 : 1));
      rows = keyed.map((k) => k[1]);
    }
    function sort(i, way) {
      down = way !== undefined ? way : by === i ? !down : !columns[i].text;
      by = i;
      cells.forEach((c, k) => c.setAttribute('aria-sort', k === i ? (down ? 'descending' : 'ascending') : 'none'));
      active = -1;
      order();
      body.scrollTop = 0;
      paint();
    }
    body.onscroll = paint;
    box.onkeydown = (e) => {
      if (e.target !== box) return; // but a heading
      const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -rows.length, End: rows.length};
      if (e.key === 'Enter' && onPick && rows[active] !== undefined) onPick(rows[active]);
      else if (e.key in steps && rows.length) {
        active = Math.max(0, Math.min(rows.length - 1, active + steps[e.key]));
        if (active * ROW < body.scrollTop) body.scrollTop = active * ROW;
        else if ((active + 1) * ROW > body.scrollTop + body.clientHeight) body.scrollTop = (active + 1) * ROW - body.clientHeight;
        paint();
      } else return;
      e.preventDefault();
    };
    where.append(box);
    addEventListener('resize', paint);
    return {sort, set(list) { rows = list; active = -1; order(); body.scrollTop = 0; filler.style.height = rows.length * ROW + 'px';
      body.style.height = Math.min(450, Math.max(1, rows.length) * ROW) + 'px'; paint(); }};
  }

  function tasks() {
    const t = table($('task-table'), 'Tasks', [
      {head: 'Task', text: true, width: 'minmax(0, 1fr)', value: name, dot: (i) => COLORS[D.s[i]]},
      {head: 'State', text: true, width: '130px', wide: true, value: (i) => D.states[D.s[i]]},
      {head: 'Began', value: (i) => (ran(i) ? begin(i) : -1), show: (i) => (ran(i) ? span(begin(i)) : '–'), wide: true},
      {head: 'Took', value: (i) => (ran(i) ? took(i) : -1), show: (i) => (ran(i) ? span(took(i)) : '–')},
      {head: 'CPU', value: (i) => D.c[i], show: (i) => some(D.c[i] / 10, span), wide: true},
      {head: 'Memory', value: (i) => D.m[i], show: (i) => some(D.m[i], size), narrow: '84px'},
      {head: 'Saved', value: (i) => D.v[i], show: (i) => some(D.v[i] / 10, span), wide: true},
      {head: 'Wave', value: (i) => D.w[i] + 1, wide: true, width: '84px'},
    ], select);
    $('state').append(el('option', {value: '', textContent: 'all states'}));
    D.states.forEach((word, s) => $('state').append(el('option', {value: s, textContent: word})));
    const lower = [];
    function filter() {
      const words = $('find').value.toLowerCase().split(/\s+/).filter(Boolean), state = $('state').value;
      const list = [];
      for (let i = 0; i < N; i++) {
        if (state !== '' && D.s[i] !== +state) continue;
        if (words.length && lower[i] === undefined) lower[i] = name(i).toLowerCase();
        if (words.every((w) => lower[i].includes(w))) list.push(i);
      }
      $('found').textContent = plural(list.length, 'task');
      t.set(list);
    }
    $('find').oninput = filter;
    $('state').onchange = filter;
    filter();
    t.sort(3, true);
  }

  /* Rows with what their tasks add up to. */
  function sums(key, n, label) {
    const rows = Array.from({length: n}, (_, i) => ({label: label(i), n: [0, 0, 0, 0, 0, 0], ran: 0, cpu: 0, saved: 0, memory: 0}));
    for (let i = 0; i < N; i++) {
      const r = rows[key(i)];
      r.n[D.s[i]]++;
      if (ran(i)) r.ran += took(i);
      r.cpu += D.c[i] / 10;
      r.saved += D.v[i] / 10;
      r.memory = Math.max(r.memory, D.m[i]);
    }
    return rows;
  }
  function sumTable(where, title, first, rows) {
    const t = table(where, title, [first,
      {head: 'Executed', value: (r) => r.n[EXECUTED], width: '104px', narrow: '84px'},
      {head: 'Cached', value: (r) => r.n[CACHED], width: '92px', narrow: '74px'},
      {head: 'Failed', value: (r) => r.n[FAILED] + r.n[UNFINISHED], wide: true, width: '88px'},
      {head: 'Not needed', value: (r) => r.n[UNNEEDED], wide: true, width: '118px'},
      {head: 'Ran', value: (r) => r.ran, show: (r) => some(r.ran, span), width: '92px', narrow: '74px'},
      {head: 'CPU', value: (r) => r.cpu, show: (r) => some(r.cpu, span), wide: true, width: '92px'},
      {head: 'Saved', value: (r) => r.saved, show: (r) => some(r.saved, span), wide: true, width: '92px'},
      {head: 'Memory', value: (r) => r.memory, show: (r) => some(r.memory, size), wide: true, width: '104px'},
    ]);
    t.set(rows);
    return t;
  }

  /* ---- what came from elsewhere, and went there ---- */

  function traffic() {
    const bytes = (n) => (n < 1000 ? n + ' B' : size(Math.round(n / 1024)));
    const number = (head, k, how) => ({head, value: (r) => r[k], show: (r) => some(r[k], how || String), ...how && {narrow: '80px'}});
    const place = (head, k, narrow) => ({head, text: true, width: 'minmax(0, 1fr)', narrow, value: (r) => r[k]});
    if (!D.places.length && !D.downloads.length) { hide('traffic'); return; }
    $('place-table').hidden = !D.places.length;
    table($('place-table'), 'Cache traffic', [place('Place', 6), {...number('Hits', 0), narrow: '46px'}, {...number('Misses', 1), wide: true},
      number('Read', 2, bytes), {...number('Files', 3), wide: true}, number('Written', 4, bytes), {...number('Files', 5), wide: true}]).set(D.places);
    $('download-head').hidden = $('download-table').hidden = !D.downloads.length;
    table($('download-table'), 'Downloads', [place('From', 3), number('Size', 0, bytes), {...number('Files', 1), wide: true},
      number('Took', 2, span)]).set(D.downloads);
  }

  /* ---- one task, and what is around it ---- */

  let picked = -1, before = null, behind = null;
  /* Who waits for whom, and the other way round, when first asked for; page.c packs it. */
  function unpack() {
    if (before || D.e === null) return;
    const value = new Uint8Array(128);
    [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach((c, i) => { value[c.charCodeAt(0)] = i; });
    let at = 0;
    const next = () => {
      for (let n = 0, unit = 1; ; unit *= 32) {
        const v = value[D.e.charCodeAt(at++)];
        n += (v & 31) * unit;
        if (v < 32) return n;
      }
    };
    before = Array.from({length: N}, () => []);
    behind = Array.from({length: N}, () => []);
    for (let t = 0; t < N; t++)
      for (let left = next(), on = -1; left > 0; left--) {
        const n = next();
        on = on >= 0 ? on + n : n % 2 ? t + (n - 1) / 2 : t - n / 2;
        before[t].push(on);
        behind[on].push(t);
      }
  }
  /* A task in the graph: a button, whether it is on the critical path, and one that shows
   * what lies behind it, on the same side. */
  function node(t, side, depth) {
    const more = side()[t], line = el('div', {className: 'line'},
      el('button', {type: 'button', className: 'name', title: name(t), onclick: () => select(t)},
        el('span', {className: 'dot', style: {background: color(COLORS[D.s[t]])}}), name(t)));
    const item = el('li', {}, line);
    if (onPath[t]) line.append(el('span', {className: 'critical', title: 'on the critical path', role: 'img', 'aria-label': 'on the critical path', textContent: '◆'}));
    if (more.length && depth < 6) {
      const inner = el('ul', {hidden: true});
      const grow = el('button', {type: 'button', className: 'grow', 'aria-expanded': 'false', 'aria-label': 'Show the ' + more.length + ' beyond ' + name(t), textContent: '+' + more.length});
      grow.onclick = () => {
        inner.hidden = !inner.hidden;
        grow.setAttribute('aria-expanded', String(!inner.hidden));
        if (!inner.children.length) neighbours(inner, more, side, depth + 1);
        wires();
      };
      line.append(grow);
      item.append(inner);
    }
    return item;
  }
  function neighbours(list, ids, side, depth) {
    const most = depth ? 12 : 24;
    if (!ids) {
      list.replaceChildren(el('li', {className: 'dim', textContent: 'not kept: there are too many'}));
      return;
    }
    const sorted = [...ids].sort((a, b) => (ran(b) ? took(b) : -1) - (ran(a) ? took(a) : -1));
    list.replaceChildren(...sorted.slice(0, most).map((t) => node(t, side, depth)));
    if (ids.length > most) list.append(el('li', {className: 'dim', textContent: 'and ' + (ids.length - most) + ' more'}));
    if (!ids.length) list.append(el('li', {className: 'dim', textContent: 'nothing'}));
  }
  function wires() {
    const box = $('around').getBoundingClientRect(), here = $('here').getBoundingClientRect();
    const lines = [];
    for (const b of $('around').querySelectorAll('#before > li > .line > .name, #behind > li > .line > .name')) {
      const r = b.parentNode.getBoundingClientRect(), left = r.right < here.left;
      const x1 = (left ? r.right : r.left) - box.left, y1 = r.top + r.height / 2 - box.top;
      const x2 = (left ? here.left : here.right) - box.left, y2 = here.top + here.height / 2 - box.top;
      const mid = (x1 + x2) / 2;
      lines.push(svg('path', {d: `M${x1} ${y1}C${mid} ${y1} ${mid} ${y2} ${x2} ${y2}`}));
    }
    $('wires').replaceChildren(...lines);
  }
  function select(t) {
    picked = t;
    $('task').hidden = false;
    $('task-name').textContent = name(t);
    const pairs = [['State', D.states[D.s[t]] + (onPath[t] ? ', on the critical path' : '')], ['Wave', D.w[t] + 1]];
    if (ran(t)) pairs.push(['Ran', span(took(t)) + ', from ' + span(begin(t)) + ' to ' + span(begin(t) + took(t)) + ', in slot ' + (D.l[t] + 1)]);
    if (D.c[t]) pairs.push(['CPU time', span(D.c[t] / 10)]);
    if (D.m[t]) pairs.push(['Largest process', size(D.m[t])]);
    if (D.v[t]) pairs.push(['Took when it ran', 'about ' + span(D.v[t] / 10)]);
    if (D.x[t] !== undefined) pairs.push(['Failure', D.x[t]]);
    if (D.key[t]) pairs.push(['Signature', D.key[t] + '…']);
    $('task-facts').replaceChildren(...pairs.flatMap(([k, v]) => [el('dt', {textContent: k}), el('dd', {textContent: v})]));
    $('here').textContent = name(t);
    unpack();
    neighbours($('before'), before && before[t], () => before, 0);
    neighbours($('behind'), behind && behind[t], () => behind, 0);
    $('task-show').hidden = !ran(t);
    wires();
    $('task').scrollIntoView({block: 'nearest'});
    $('task').focus({preventScroll: true});
    draw();
  }
  $('task-close').onclick = () => { $('task').hidden = true; picked = -1; draw(); };
  $('task-show').onclick = () => {
    const w = Math.max(took(picked) * 6, D.took / 500);
    look(begin(picked) + took(picked) / 2 - w / 2, w);
    $('timeline').scrollIntoView({block: 'start'});
    $('canvas').focus({preventScroll: true});
  };

  /* ---- timeline ---- */

  const canvas = $('canvas'), tip = $('tip'), pen = canvas.getContext('2d');
  const AXIS = 22, total = Math.max(D.took, 1);
  const rowHeight = Math.max(3, Math.min(22, Math.floor(520 / Math.max(1, D.slots))));
  let cursor = -1; // what the keys are at
  let from = 0, width = total, hues = [], ink = {}, queued = false;
  const lanes = Array.from({length: D.slots}, () => []);
  for (let i = 0; i < N; i++) if (ran(i)) lanes[D.l[i]].push(i);
  lanes.forEach((lane) => lane.sort((a, b) => D.b[a] - D.b[b]));
  const onPath = new Uint8Array(N);
  D.chain.forEach((t) => { onPath[t] = 1; });
  const hueOf = new Map(); // the kinds of tasks that took longest have colours of their own
  (() => {
    const time = D.kinds.map((_, i) => [0, i]);
    for (let i = 0; i < N; i++) if (ran(i) && D.k[i] >= 0) time[D.k[i]][0] += took(i);
    time.filter((x) => x[0] > 0).sort((a, b) => b[0] - a[0]).slice(0, 9).forEach(([, kind], i) => hueOf.set(kind, i));
  })();

  function inks() {
    const style = getComputedStyle(document.documentElement);
    const v = (id) => style.getPropertyValue('--' + id).trim();
    hues = Array.from({length: 10}, (_, i) => v('k' + i));
    ink = {back: v('back'), text: v('text'), dim: v('dim'), line: v('line'), failed: v('failed'), unfinished: v('unfinished'), accent: v('accent')};
  }
  function look(start, w) {
    width = Math.max(Math.min(w, total), total / 1e5, 0.05);
    from = Math.max(0, Math.min(start, total - width));
    draw();
  }
  function zoom(factor, at) { look(at - (at - from) * factor, width * factor); }
  function step(ms) { // the next larger one that reads well
    const unit = 10 ** Math.floor(Math.log10(ms)), s = 1000, m = 60 * s, h = 60 * m;
    const steps = ms > 10 * s ? [15 * s, 30 * s, m, 2 * m, 5 * m, 10 * m, 15 * m, 30 * m, h, 2 * h, 6 * h, 12 * h, 24 * h]
      : [1, 2, 5, 10].map((k) => k * unit);
    return steps.find((x) => x >= ms) || Math.ceil(ms / (24 * h)) * 24 * h;
  }
  function draw() {
    if (!queued) requestAnimationFrame(paintAll);
    queued = true;
  }
  /* The colour tells the task: the recipe matters more where there is no room for both. */
  function caption(t, room) {
    const fits = (text) => pen.measureText(text).width <= room;
    return [name(t), D.recipes[D.r[t]]].find(fits) || (room > 38 ? D.recipes[D.r[t]] : '');
  }
  function paintTask(t, y, scale, dimmed) {
    const x = (begin(t) - from) * scale, w = Math.max(took(t) * scale, 0.7);
    const hue = hueOf.get(D.k[t]);
    pen.globalAlpha = dimmed ? 0.15 : 1;
    pen.fillStyle = D.s[t] === FAILED ? ink.failed : D.s[t] === UNFINISHED ? ink.unfinished : hues[hue === undefined ? 9 : hue];
    pen.fillRect(x, y + 1, w > 3 ? w - 0.6 : w, rowHeight - 2);
    if (t === picked || t === cursor) {
      pen.strokeStyle = t === cursor ? ink.accent : ink.text;
      pen.lineWidth = 2;
      pen.strokeRect(x, y + 1, Math.max(w, 2), rowHeight - 2);
    }
    if (w > 24 && rowHeight >= 13) {
      const left = Math.max(x, 0);
      pen.save();
      pen.beginPath();
      pen.rect(left, y, x + w - left - 3, rowHeight);
      pen.clip();
      pen.fillStyle = '#fff';
      if (matchMedia('(prefers-color-scheme: dark)').matches) pen.fillStyle = '#10151b';
      pen.fillText(caption(t, x + w - left - 8), left + 5, y + rowHeight / 2);
      pen.restore();
    }
    pen.globalAlpha = 1;
  }
  function paintAll() {
    queued = false;
    const dots = devicePixelRatio || 1, w = canvas.clientWidth, h = D.slots * rowHeight + AXIS + 2;
    canvas.width = Math.round(w * dots);
    canvas.height = Math.round(h * dots);
    canvas.style.height = h + 'px';
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.fillStyle = ink.back;
    pen.fillRect(0, 0, w, h);
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    const scale = w / width, every = step(width / Math.max(2, w / 90));
    for (let at = Math.ceil(from / every) * every; at <= from + width; at += every) {
      const x = Math.round((at - from) * scale) + 0.5;
      pen.fillStyle = ink.line;
      pen.fillRect(x, 0, 1, h);
      pen.fillStyle = ink.dim;
      pen.fillText(at === 0 ? '0' : span(at), x + 4, AXIS / 2);
    }
    const only = $('only-path').checked;
    lanes.forEach((lane, slot) => {
      const y = AXIS + slot * rowHeight;
      for (let i = firstAfter(lane, from); i < lane.length && begin(lane[i]) < from + width; i++)
        paintTask(lane[i], y, scale, only && !onPath[lane[i]]);
    });
  }
  /* The first of a lane that ends after this moment. */
  function firstAfter(lane, ms) {
    let low = 0, high = lane.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (begin(lane[mid]) + took(lane[mid]) < ms) low = mid + 1;
      else high = mid;
    }
    return low;
  }
  function under(e) {
    const box = canvas.getBoundingClientRect(), lane = lanes[Math.floor((e.clientY - box.top - AXIS) / rowHeight)];
    const scale = box.width / width, at = from + (e.clientX - box.left) / scale;
    if (!lane || e.clientY - box.top < AXIS) return -1;
    for (const i of [firstAfter(lane, at), firstAfter(lane, at - 2 / scale)])
      if (i < lane.length && begin(lane[i]) <= at + 2 / scale) return lane[i];
    return -1;
  }
  function pointers() {
    const down = new Map();
    let moved = 0;
    const time = (x) => from + (x - canvas.getBoundingClientRect().left) / canvas.clientWidth * width;
    canvas.onpointerdown = (e) => { down.set(e.pointerId, e.clientX); moved = 0; canvas.setPointerCapture(e.pointerId); };
    canvas.onpointerup = canvas.onpointercancel = (e) => {
      down.delete(e.pointerId);
      if (e.type === 'pointerup' && moved < 5) {
        const t = under(e);
        if (t >= 0) select(t);
      }
    };
    canvas.onpointermove = (e) => {
      const was = down.get(e.pointerId);
      if (was === undefined) { hover(e); return; }
      const xs = [...down.values()];
      moved += Math.abs(e.clientX - was);
      if (down.size === 1) look(from - (e.clientX - was) / canvas.clientWidth * width, width);
      else {
        const other = [...down].find(([id]) => id !== e.pointerId)[1];
        const before = Math.abs(xs[0] - xs[1]), now = Math.abs(other - e.clientX);
        if (before > 10 && now > 10) zoom(before / now, time((other + e.clientX) / 2));
      }
      down.set(e.pointerId, e.clientX);
    };
    canvas.onpointerleave = () => { tip.hidden = true; };
    canvas.addEventListener('wheel', (e) => {
      if (e.ctrlKey || e.metaKey) zoom(Math.exp(Math.max(-50, Math.min(50, e.deltaY)) * 0.01), time(e.clientX));
      else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) look(from + e.deltaX / canvas.clientWidth * width, width);
      else return;
      e.preventDefault();
    }, {passive: false});
  }
  function hover(e) {
    const t = under(e), box = canvas.getBoundingClientRect();
    tip.hidden = t < 0;
    canvas.style.cursor = t < 0 ? 'grab' : 'pointer';
    if (t < 0) return;
    show(t, e.clientX - box.left, e.clientY - box.top);
  }
  function show(t, x, y) {
    tip.hidden = false;
    tip.textContent = name(t) + ' – ' + D.states[D.s[t]] + ', ' + span(took(t)) + (onPath[t] ? ', on the critical path' : '');
    tip.style.left = Math.max(0, Math.min(x + 12, canvas.clientWidth - tip.offsetWidth)) + 'px';
    tip.style.top = y + 16 + 'px';
  }
  /* To another task by keys: along its slot, or to the one beside it at that time. */
  function go(slots, steps) {
    const at = cursor < 0 ? from : begin(cursor);
    let slot = cursor < 0 ? 0 : D.l[cursor];
    if (cursor >= 0) slot = Math.max(0, Math.min(D.slots - 1, slot + slots));
    const lane = lanes[slot];
    let i = Math.min(lane.length - 1, firstAfter(lane, at));
    if (cursor >= 0 && steps) i = Math.max(0, Math.min(lane.length - 1, lane.indexOf(cursor) + steps));
    cursor = lane[i];
    if (begin(cursor) < from || begin(cursor) + Math.min(took(cursor), width) > from + width)
      look(begin(cursor) + took(cursor) / 2 - width / 2, width);
    const box = canvas.getBoundingClientRect(), scale = box.width / width;
    show(cursor, Math.max(0, (begin(cursor) - from) * scale), AXIS + slot * rowHeight + rowHeight / 2);
    draw();
  }
  function timeline() {
    if (!D.slots) { hide('timeline'); return; }
    const middle = () => from + width / 2;
    $('zoom-in').onclick = () => zoom(0.5, middle());
    $('zoom-out').onclick = () => zoom(2, middle());
    $('zoom-all').onclick = () => look(0, total);
    $('only-path').onchange = draw;
    canvas.onkeydown = (e) => {
      const keys = {ArrowLeft: () => look(from - width / 8, width), ArrowRight: () => look(from + width / 8, width),
        '+': () => zoom(0.6, middle()), '=': () => zoom(0.6, middle()), '-': () => zoom(1 / 0.6, middle()),
        0: () => look(0, total), Home: () => look(0, width), End: () => look(total, width),
        ArrowDown: () => go(1, 0), ArrowUp: () => go(-1, 0), '.': () => go(0, 1), ',': () => go(0, -1), n: () => go(0, 1), p: () => go(0, -1),
        Enter: () => { if (cursor >= 0) select(cursor); }, Escape: () => { cursor = -1; tip.hidden = true; draw(); }};
      if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
      keys[e.key]();
      e.preventDefault();
    };
    canvas.onblur = () => { cursor = -1; tip.hidden = true; draw(); };
    pointers();
    for (const [kind, i] of hueOf) $('kinds').append(el('li', {}, el('span', {className: 'swatch', style: {background: color('k' + i)}}), D.kinds[kind]));
    if (hueOf.size === 9) $('kinds').append(el('li', {}, el('span', {className: 'swatch', style: {background: color('k9')}}), 'others'));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { inks(); draw(); });
    addEventListener('resize', () => { draw(); if (picked >= 0) wires(); });
    inks();
    draw();
  }

  function path() {
    if (!D.chain.length) { hide('path'); return; }
    const most = Math.max(...D.chain.map(took)) || 1, shown = 100;
    $('path-sum').textContent = plural(D.chain.length, 'task') + ', ' + span(D.chainTook) + ' of ' + span(D.took) +
      ': no number of CPUs makes the build shorter than these.';
    for (const t of D.chain.slice(0, shown))
      $('path-list').append(el('li', {}, el('button', {type: 'button', onclick: () => select(t)}, el('span', {textContent: name(t)}),
        el('b', {textContent: span(took(t))}), el('i', {style: {width: 100 * took(t) / most + '%'}}))));
    if (D.chain.length > shown) $('path-list').append(el('li', {className: 'dim', textContent: 'and ' + (D.chain.length - shown) + ' more'}));
  }

  /* ---- logs ---- */

  function logs() {
    if (!D.logs.length) { hide('logs'); return; }
    const choice = $('log-choice'), find = $('log-find'), box = $('log-text');
    const texts = D.logs.map((l) => l[1]);
    const lower = texts.map((t) => t.toLowerCase());
    let marks = [], at = -1;
    $('logs').hidden = false;
    D.logs.forEach(([t], i) => choice.append(el('option', {value: i, textContent: name(t) + ' (' + D.states[D.s[t]] + ')'})));
    function hits(i, word) {
      const found = [];
      for (let k = lower[i].indexOf(word); word && k >= 0 && found.length < 5000; k = lower[i].indexOf(word, k + word.length)) found.push(k);
      return found;
    }
    function go(to) {
      if (marks[at]) marks[at].className = '';
      at = marks.length ? (to + marks.length) % marks.length : -1;
      if (!marks[at]) return;
      marks[at].className = 'now';
      box.scrollTop += marks[at].getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
    }
    function show() {
      const i = +choice.value, word = find.value.toLowerCase(), found = hits(i, word), parts = [];
      let from = 0;
      marks = [];
      at = -1;
      if (D.logs[i][2]) parts.push('[only the end of the log]\n');
      for (const k of found) {
        const mark = el('mark', {textContent: texts[i].slice(k, k + word.length)});
        parts.push(texts[i].slice(from, k), mark);
        marks.push(mark);
        from = k + word.length;
      }
      box.replaceChildren(...parts, texts[i].slice(from) || (from ? '' : '(empty)'));
      if (word) {
        const all = D.logs.reduce((sum, _, k) => sum + hits(k, word).length, 0);
        $('log-found').textContent = plural(found.length, 'match').replace('matchs', 'matches') + ' here, ' + all + ' in all logs';
        go(0);
      } else {
        $('log-found').textContent = plural(D.logs.length, 'log') + ': what failed, and the slowest tasks';
        box.scrollTop = D.s[D.logs[i][0]] === FAILED ? box.scrollHeight : 0;
      }
    }
    /* The next match; after the last one of a log, that of the next log with one. */
    function next() {
      const word = find.value.toLowerCase();
      if (at + 1 < marks.length) { go(at + 1); return; }
      for (let k = 1; k <= D.logs.length; k++) {
        const i = (+choice.value + k) % D.logs.length;
        if (hits(i, word).length) { choice.value = i; show(); return; }
      }
    }
    choice.onchange = show;
    find.oninput = () => {
      const word = find.value.toLowerCase(), here = +choice.value;
      if (word && !hits(here, word).length) {
        const other = D.logs.findIndex((_, i) => hits(i, word).length);
        if (other >= 0) choice.value = other;
      }
      show();
    };
    find.onkeydown = (e) => { if (e.key === 'Enter') next(); };
    $('log-next').onclick = next;
    show();
  }

  summary();
  timeline();
  path();
  tasks();
  const label = {text: true, width: 'minmax(0, 1fr)', value: (r) => r.label};
  sumTable($('recipe-table'), 'Recipes', {...label, head: 'Recipe'}, sums((i) => D.r[i], D.recipes.length, (i) => D.recipes[i])).sort(5, true);
  sumTable($('wave-table'), 'Waves', {...label, head: 'Wave'}, sums((i) => D.w[i], D.waves, (i) => i + 1)).sort(0, false);
  traffic();
  logs();
  document.body.dataset.ready = Math.round(performance.now());
})();
