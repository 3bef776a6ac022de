import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFile } from '../../../gitops/specs/parse.ts';
import { plainScalar, readBefore } from '../../../gitops/specs/scalars.ts';
import { specText } from './specs.ts';

for (const [text, now, before] of [
  ['0440', 288, 440],
  ['-010', -8, -10],
  ['08', 8, 8],
  ['0o440', 288, 288],
  ['0x1f', 31, 31],
  ['+0x1f', 31, '+0x1f'],
  ['0b101', 5, '0b101'],
  ['1_000', 1000, '1_000'],
  ['yes', true, 'yes'],
  ['Off', false, 'Off'],
  ['n', false, 'n'],
  ['true', true, true],
  ['1e3', 1000, 1000],
  ['.5', 0.5, 0.5],
  ['-0', 0, -0],
  ['1e400', '1e400', '1e400'],
  ['12:30', '12:30', '12:30'],
  ['2026-01-01', '2026-01-01', '2026-01-01'],
  ['3.6.16', '3.6.16', '3.6.16'],
  ['8Gi', '8Gi', '8Gi'],
] as const) {
  test(`${text} is ${now}`, () => {
    assert.equal(plainScalar(text), now);
    assert.ok(readBefore(text) === before, `before: ${readBefore(text)}`);
  });
}

test('what was read otherwise before is found at its place, and nothing that is quoted or tagged', async () => {
  const extra = `  podTemplate:
    spec:
      securityContext: {runAsUser: 0100, fsGroup: 100, runAsNonRoot: yes}
      volumes: [{configMap: {defaultMode: 0440}}, {configMap: {defaultMode: 0o440}}]
    metadata: {labels: {a: "0440", b: !!str 0440, 'on': x}}
`;
  const { documents } = await parseFile('a.yaml', Buffer.from(specText('a', { extra })));
  assert.deepEqual(
    documents[0]?.rereads.map(({ path, text, was, now }) => [path.slice(2).join('.'), text, was, now]).sort(),
    [
      ['spec.securityContext.runAsNonRoot', 'yes', 'yes', true],
      ['spec.securityContext.runAsUser', '0100', 100, 64],
      ['spec.volumes.0.configMap.defaultMode', '0440', 440, 288],
    ],
  );
});

test('a document is read so, keys and words under a directive too', async () => {
  for (const head of ['', '%YAML 1.1\n---\n', '%YAML 1.2\n---\n']) {
    const [document] = (await parseFile('a.yaml', Buffer.from(`${head}kind: Etcd\na: 0440\n0440: yes\nb: '0440'\n`)))
      .documents;
    assert.deepEqual(document?.object, { 288: true, kind: 'Etcd', a: 288, b: '0440' });
  }
});

test('of thousands the first few are told', async () => {
  const extra = `  etcd: {x: [${'0440,'.repeat(9_000)}]}\n`;
  const { documents } = await parseFile('a.yaml', Buffer.from(specText('a', { extra })));
  assert.equal(documents[0]?.rereads.length, 20);
});
