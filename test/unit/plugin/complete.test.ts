import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { saidOn } from '../../support/plugin/said.ts';

function world() {
  const kube = createFakeKube();
  for (const [namespace, name] of [
    ['payments', 'orders'],
    ['shop', 'carts'],
  ] as const)
    kube.seed(resources.clusters, { metadata: { namespace, name } });
  kube.seed(resources.fleets, { metadata: { namespace: 'payments', name: 'production' } });
  kube.seed(resources.backups, { metadata: { namespace: 'payments', name: 'nightly' } });
  return kube;
}

async function completed(...words: readonly string[]): Promise<string> {
  const { code, out } = await saidOn(world(), ['__complete', ...words]);
  assert.equal(code, 0);
  return out;
}

test('names are those of the namespace that is typed, and of the kind that the command takes', async () => {
  assert.equal(await completed('members', ''), 'orders\n:4\n');
  assert.equal(await completed('-n', 'shop', 'members', ''), 'carts\n:4\n');
  assert.equal(await completed('--namespace=shop', 'members', ''), 'carts\n:4\n');
  assert.equal(await completed('approve', '--fleet', ''), 'production\n:4\n');
  assert.equal(await completed('restore', 'n'), 'nightly\n:4\n');
  assert.equal(await completed('why', 'orders', ''), ':4\n', 'it takes no more');
  assert.equal(
    await completed('approve', 'orders', '--for', 'r'),
    'recover-quorum\nroll-back\nreplace-member\nresume-rollout\n:4\n',
  );
});

test('what takes any kind completes a cluster, a kind with its slash, and a name behind that', async () => {
  assert.match(await completed('why', ''), /^orders\n[\s\S]*fleet\/\n[\s\S]*nodepolicy\/\n:4\n$/);
  assert.equal(await completed('why', 'fl'), 'fleet/\n:4\n');
  assert.equal(await completed('why', 'fleet/'), 'fleet/production\n:4\n');
  assert.equal(await completed('history', 'etcdbackup/n'), 'etcdbackup/nightly\n:4\n');
});

test('options are those of the command and of all, commands begin as was typed', async () => {
  const options = await completed('status', '--');
  assert.match(options, /^--all-namespaces\t.*\n--exit-code\t[\s\S]*\n--namespace\t[\s\S]*:4\n$/);
  assert.match(await completed('re'), /^request\t.*\nresume\t.*\nreconcile\t.*\nrestore\t.*\n:4\n$/);
  assert.doesNotMatch(await completed(''), /__complete/);
});

test('nothing that is typed makes it fail, and nothing hostile is drawn', async () => {
  for (const words of [
    [],
    ['x'],
    ['x', 'y', ''],
    ['-n'],
    ['-n', ''],
    ['--', ''],
    ['-o', 'json', '--x=y', 'why', '\u001b'],
  ])
    assert.match(await completed(...words), /^([\P{Cc}\t\n]*\n)?:[04]\n$/u, words.join(' '));
  const kube = world();
  kube.seed(resources.clusters, { metadata: { namespace: 'payments', name: 'a\u001b[2J\nb' } });
  assert.equal((await saidOn(kube, ['__complete', 'why', 'a'])).out, 'a\\u001b[2J\\u000ab\n:4\n');
  const denied = createFakeKube({ authorize: () => false });
  assert.equal((await saidOn(denied, ['__complete', 'why', ''])).out, ':1\n');
});
