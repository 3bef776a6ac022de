import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { alertsIn } from '../../../reconcile/nodes/outside.ts';

function answer(...alerts: readonly unknown[]): string {
  return JSON.stringify({ status: 'success', data: { alerts } });
}

function alert(alertname: string, labels: Readonly<Record<string, string>> = {}, state = 'firing') {
  return { labels: { alertname, ...labels }, annotations: {}, state, activeAt: '2026-11-23T12:00:00Z', value: '1e+00' };
}

test('alerts that are firing are named once, in order, and pending ones are not', () => {
  const text = answer(alert('B'), alert('A'), alert('B', { pod: 'x' }), alert('C', {}, 'pending'));
  assert.deepEqual(alertsIn(text, {}), { kind: 'read', names: ['A', 'B'] });
  assert.deepEqual(alertsIn(answer(), {}), { kind: 'read', names: [] });
});

test('alerts count by all of their labels, and not where they are ignored by name', () => {
  const text = answer(alert('Down', { severity: 'critical', team: 'db' }), alert('Slow', { severity: 'warning' }));
  assert.deepEqual(alertsIn(text, { labels: { severity: 'critical' } }), { kind: 'read', names: ['Down'] });
  assert.deepEqual(alertsIn(text, { labels: { severity: 'critical', team: 'web' } }), { kind: 'read', names: [] });
  assert.deepEqual(alertsIn(text, { ignore: ['Down'] }), { kind: 'read', names: ['Slow'] });
});

test('an alert without a name, or with hostile text for one, counts and is shown as plain text', () => {
  const nameless = { labels: { severity: 'critical' }, state: 'firing' };
  const hostile = alert(`\u001b[31m${'x'.repeat(10_000)}\u202e`);
  const found = alertsIn(answer(nameless, hostile), {});
  assert.ok(found.kind === 'read');
  assert.deepEqual(
    found.names.map((name) => name.length),
    [100, '(without a name)'.length],
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  assert.doesNotMatch(found.names.join(), /[\u0000-\u001f\u202e]/);
});

test('of very many alerts the first hundred names are kept', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => alert(`A${index}`));
  const found = alertsIn(answer(...many), {});
  assert.equal(found.kind === 'read' ? found.names.length : 0, 100);
});

const wrong = [
  ...['', 'null', '[]', '{', '"success"', '{"status":"error","data":{"alerts":[]}}', '{"status":"success"}'],
  ...['{"status":"success","data":{"alerts":{}}}', '{"status":"success","data":{"alerts":[1]}}'],
  ...['{"status":"success","data":{"alerts":[{"state":"firing"}]}}', '<html>login</html>'],
];
for (const text of wrong)
  test(`an answer that is no list of alerts is unreadable, and never empty: ${text.slice(0, 44)}`, () => {
    assert.equal(alertsIn(text, {}).kind, 'unreadable');
  });

test('any JSON is read or unreadable, and nothing is thrown', () => {
  fc.assert(
    fc.property(fc.json(), fc.json(), (one, other) => {
      for (const text of [one, `{"status":"success","data":{"alerts":[${one},${other}]}}`])
        assert.ok(['read', 'unreadable'].includes(alertsIn(text, { labels: { a: 'b' } }).kind));
    }),
  );
});
