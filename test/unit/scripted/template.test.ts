import { describe, expect, it } from 'vitest';
import { firstUnmet, render } from '../../../src/scripted/template.js';

const scope = { who: 'Bob', n: 3, last: { workers: [{ id: 'w01' }], ok: true } };

describe('templates', () => {
  it.each([
    ['Hello {{who}}, {{ n }} times', 'Hello Bob, 3 times'],
    ['{{n}}', 3],
    ['{{last.workers}}', [{ id: 'w01' }]],
    ['id {{last.workers.0.id}}; {{last.workers}}', 'id w01; [{"id":"w01"}]'],
    [
      { a: ['{{who}}', 1, null], b: { c: '{{last.ok}}' } },
      { a: ['Bob', 1, null], b: { c: true } },
    ],
    ['not { {who} }, {who}', 'not { {who} }, {who}'],
  ])('fill %j', (value, filled) => {
    expect(render(value, scope)).toEqual(filled);
  });

  it.each(['{{nobody}}', '{{last.workers.5.id}}', '{{who.length}}', '{{constructor}}'])(
    'refuse %s, which leads nowhere',
    (text) => {
      expect(() => render(text, scope)).toThrow(/which has no value here/);
    },
  );

  it('keep a replacement with dollar signs as it is', () => {
    expect(render('a {{x}} b', { x: '$& $1' })).toBe('a $& $1 b');
  });
});

describe('conditions', () => {
  const value = { state: 'done', summary: 'two files changed', n: 2, list: [1, 2], inner: { a: 1 } };

  it.each([
    [{ state: 'done', n: 2 }],
    [{ state: ['failed', 'done'] }],
    [{ state: { not: 'timeout' } }],
    [{ state: { not: ['timeout', 'failed'] } }],
    [{ summary: { match: '^two .* changed$' } }],
    [{ missing: { exists: false }, state: { exists: true } }],
    [{ list: { count: 2 } }],
    [{ list: { equals: [1, 2] } }],
    [{ 'inner.a': 1, inner: { a: 1 } }],
    [{ 'list.1': 2 }],
    [{}],
  ])('%j hold', (conditions) => {
    expect(firstUnmet(conditions, value)).toBeNull();
  });

  it.each([
    [{ state: 'timeout' }, 'state is done, wanted timeout'],
    [{ n: '2' }, 'n is 2, wanted 2'],
    [{ missing: 1 }, 'missing is absent, wanted 1'],
    [{ state: 'done', list: { count: 3 } }, 'list is [1,2], wanted {"count":3}'],
    [{ summary: { match: '^files' } }, 'summary is two files changed, wanted {"match":"^files"}'],
  ])('%j do not hold, and say why', (conditions, reason) => {
    expect(firstUnmet(conditions, value)).toBe(reason);
  });
});
