import assert from 'node:assert/strict';
import { test } from 'node:test';
import { desiredTree } from '../../../functions/read/desired-tree.ts';
import type { Tree } from '../../../gitops/git/tree.ts';
import type { DesiredTree } from '../../../reconcile/fleet/reading.ts';
import { fleet } from '../serve/installation.ts';

const megabyte = 1024 * 1024 - 100;
const head = 'kind: EtcdCluster\n';
const document = 'apiVersion: etcd.ratchet.dev/v1alpha1\nkind: EtcdCluster\nmetadata: {name: a}\n---\n';

/** Each of a megabyte, as one file may be. */
const hostile: Readonly<Record<string, string>> = {
  'copies of one document': document.repeat(12_000),
  'empty documents': `${head}---\n${'{}\n---\n'.repeat(140_000)}`,
  'broken documents': `${head}---\n${']\n---\n'.repeat(160_000)}`,
  brackets: `${head}a: ${'['.repeat(megabyte)}`,
  dashes: `${head}a:\n${' - '.repeat(300_000)}`,
  'keys of keys': `${head}${'? '.repeat(500_000)}`,
  braces: `${head}a: ${'{a: '.repeat(250_000)}`,
  'deeper and deeper lines': `${head}${Array.from({ length: 1_400 }, (_, n) => `${' '.repeat(n)}a:\n`).join('')}`,
  aliases: `${head}a: &a [1]\nb: [${'*a,'.repeat(300_000)}]`,
  anchors: `${head}b: [${Array.from({ length: 90_000 }, (_, n) => `&a${n} 1,`).join('')}]`,
  'unknown tags': `${head}b: [${'!x 1,'.repeat(200_000)}]`,
  keys: `${head}${Array.from({ length: 90_000 }, (_, n) => `k${n}: 1\n`).join('')}`,
  'one huge key': `${head}${'k'.repeat(megabyte)}: 1`,
  'one huge value': `${document.slice(0, -4)}spec: {version: ${'k'.repeat(megabyte / 2)}}`,
  'our documents in one list': `[${JSON.stringify({ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdCluster', metadata: {} })},${'{"kind":"EtcdCluster","spec":{}},'.repeat(8_000)}1]`,
  'lists in lists around one of ours': `${'['.repeat(190)}{kind: EtcdCluster, spec: {}}${']'.repeat(190)}`,
  'lists in lists around one of ours, too many': `${'['.repeat(9_000)}{kind: EtcdCluster, spec: {}}${']'.repeat(9_000)}`,
  'a list of one of ours by aliases': `a: &a {kind: EtcdCluster, spec: {}}\nb: &b [${'*a,'.repeat(90)}]\n`,
  'aliases that expand': `${head}a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, n) => `${'bcdefghij'[n]}: &${'bcdefghij'[n]} [${`*${'abcdefghi'[n]},`.repeat(9)}]\n`).join('')}`,
};

for (const [what, text] of Object.entries(hostile)) {
  test(`a megabyte of ${what} costs a few seconds at most, and ends in a few problems`, async () => {
    const { used, read } = await cpuOf(() => desired({ 'a.yaml': text }));
    assert.ok(used < 8_000, `${used.toFixed(0)} ms of processor time`);
    assert.ok(read.problems.length >= 1 && read.problems.length <= 11, `${read.problems.length} problems`);
    const isNamed = read.problems.every(({ name }) => name !== undefined);
    assert.ok(!read.complete || isNamed, 'nothing may be pruned after it');
    assert.ok(read.problems.every(({ message }) => message.length < 1_000));
  });
}

test('megabytes of words that name us, or could, are looked through in seconds', async () => {
  const names = Array.from({ length: 20_000 }, (_, n) => `"etcd.ratchet.dev/v1 ${n}"`).join(',');
  const texts = [
    `[${names}]`,
    `["${'\\\\u00'.repeat(170_000)}"]`,
    `x${' '.repeat(megabyte)}y`,
    `['${'\\'.repeat(megabyte - 9)}', etcd]`,
    `${'\\u0065'.repeat(170_000)}`,
  ];
  const { used, read } = await cpuOf(() => desired(Object.fromEntries(texts.map((text, n) => [`${n}.yaml`, text]))));
  assert.ok(used < 8_000, `${used.toFixed(0)} ms of processor time`);
  assert.ok(!read.complete, 'nothing may be pruned after it');
  assert.ok(read.notes.every((note) => note.length < 200));
});

test('of 12,000 copies of one document ten are told, with how many more there are', async () => {
  const { problems, specs } = await desired({ 'a.yaml': hostile['copies of one document'] ?? '' });
  assert.equal(specs.length, 0);
  assert.equal(problems.length, 11);
  assert.match(problems.at(-1)?.message ?? '', /^and \d+ more problems in this file$/);
});

test('an abort is heeded in the middle of a file', async () => {
  const stop = new AbortController();
  setImmediate(() => stop.abort());
  await assert.rejects(desired({ 'a.yaml': document.repeat(12_000) }, stop.signal), { reason: 'Aborted' });
});

test('fifty thousand files and one more are refused, and what to do about it is said', async () => {
  const files = Object.fromEntries(Array.from({ length: 50_001 }, (_, n) => [`${n}.yaml`, '']));
  await assert.rejects(desired(files), { reason: 'TooLarge', message: /set a narrower path/ });
});

test('a file that has more problems than are told spoils no other', async () => {
  const good = `${document.slice(0, -4).replace('name: a', 'name: b')}spec:\n  replicas: 3\n  version: 3.6.16\n  storage: {size: 8Gi}\n  tls: {mode: Disabled}\n`;
  const { specs } = await desired({ 'a.yaml': document.repeat(500), 'b.yaml': good });
  assert.deepEqual(
    specs.map(({ name }) => name),
    ['b'],
  );
});

async function desired(files: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<DesiredTree> {
  const names = Object.keys(files);
  const tree: Tree = {
    revision: { ref: 'main', sha: 'a'.repeat(40) },
    root: 'root',
    folder: async () => names.map((name) => ({ name, kind: 'file', oid: name })),
    need: async () => {},
    file: async (oid) => Buffer.from(files[oid] ?? ''),
  };
  return desiredTree(tree, fleet('production'), { signal: signal ?? AbortSignal.timeout(60_000) });
}

async function cpuOf(run: () => Promise<DesiredTree>): Promise<{ readonly used: number; readonly read: DesiredTree }> {
  const before = process.cpuUsage();
  const read = await run();
  const { user, system } = process.cpuUsage(before);
  return { used: (user + system) / 1_000, read };
}
