import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { annotations, approverOf } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { condition } from './support/conditions.ts';
import { type } from './support/runbooks/typing.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

const noYaml = 'apiVersion: etcd.ratchet.dev/v1alpha1\nkind: [EtcdCluster\n';
const toBeDeleted = 'several-objects-are-to-be-deleted';

const stage = scene({ fleet: { prune: false } });

/** What Git says is all that matters here, so nothing runs. */
function resting(name: string): string {
  return clusterYaml(name, stage().namespace, { suspend: true });
}

async function names(): Promise<readonly string[]> {
  return (await stage().list<EtcdCluster>(resources.clusters)).map(({ metadata }) => metadata.name).toSorted();
}

async function setFleet(spec: object): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'patch', 'etcdfleet', 'fleet', '--type=merge', '-p', JSON.stringify({ spec })]);
}

beforeEach(async () => {
  const { push, tick } = stage();
  await setFleet({ prune: false, git: { path: 'clusters' } });
  await push({ 'clusters/a.yaml': resting('a'), 'clusters/b.yaml': resting('b'), 'clusters/c.yaml': resting('c') });
  assert.equal((await tick()).code, 0);
  assert.deepEqual(await names(), ['a', 'b', 'c']);
});

test('with pruning off, what Git no longer lists stays, and the fleet says so', async () => {
  const { push, tick, fleet } = stage();
  await push({ 'clusters/a.yaml': resting('a'), 'clusters/b.yaml': resting('b') });
  await tick();
  assert.deepEqual(await names(), ['a', 'b', 'c']);
  assert.match(condition(await fleet(), 'Unlisted')?.message ?? '', /c\b/);
});

test('with pruning on, one file that is gone takes its cluster along', async () => {
  const { push, tick } = stage();
  await setFleet({ prune: true });
  await push({ 'clusters/a.yaml': resting('a'), 'clusters/b.yaml': resting('b') });
  await tick();
  assert.deepEqual(await names(), ['a', 'b']);
});

test('fleet.md: a document that is refused, and several that are to go, end as the page says', async () => {
  const { push, tick, fleet } = stage();
  const page = 'docs/runbooks/fleet.md';
  const blocksAt = typedIn('e2e/prune');
  const typed = (...sections: string[]) =>
    type(stage(), '', { FLEET: 'fleet' }, [page, ...sections.map((one) => `${page}#${one}`)].flatMap(blocksAt));
  const stalled = async () => condition(await fleet(), 'Stalled');
  await setFleet({ prune: true });
  await push({ 'clusters/a.yaml': resting('a'), 'clusters/b.yaml': resting('b'), 'clusters/c.yaml': noYaml });
  await tick();
  assert.equal((await stalled())?.reason, 'DocumentsRefused');
  assert.match((await stalled())?.message ?? '', /^clusters\/c\.yaml:\d+:\d+: .*docs\/runbooks\/fleet\.md\)$/);
  await typed();

  await push({ 'clusters/a.yaml': resting('a') });
  await tick();
  assert.equal((await stalled())?.reason, 'PruneNeedsConfirmation');
  assert.deepEqual(await names(), ['a', 'b', 'c']);
  await typed(toBeDeleted);
  await tick();
  assert.deepEqual([await names(), await stalled()], [['a'], undefined]);
});

test('several at once need a confirmation that is bound to the commit and the set', async () => {
  const { push, tick, fleet, kubectl, namespace } = stage();
  await setFleet({ prune: true });
  await push({ 'clusters/a.yaml': resting('a') });
  await tick();
  assert.deepEqual(await names(), ['a', 'b', 'c']);
  const message = condition(await fleet(), 'Stalled')?.message ?? '';
  const [annotation] = /etcd\.ratchet\.dev\/confirm-prune=\S+?(?=["',.;)]?(?:\s|$))/.exec(message) ?? [];
  assert.ok(annotation, `the message gives the annotation: ${message}`);

  const by = await kubectl(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}']);
  const fleetTo = ['-n', namespace, 'annotate', '--overwrite', 'etcdfleet', 'fleet'];
  const who = `${approverOf(annotations.confirmPrune)}=${by}`;
  await kubectl([...fleetTo, who, `${annotations.confirmPrune}=else`]);
  await tick();
  assert.deepEqual(await names(), ['a', 'b', 'c'], 'another confirmation is none');

  await kubectl([...fleetTo, who, annotation]);
  await tick();
  assert.deepEqual(await names(), ['a']);
});

for (const [what, broken, says] of [
  ['a typing error in a kind', (text) => text.replace('EtcdCluster', 'EtcdClutser'), /did you mean EtcdCluster\?/],
  ['a file that is no YAML', () => noYaml, /clusters\/a\.yaml:\d+:\d+: not valid YAML/],
  [
    'a misspelt field',
    (text) => text.replace('replicas', 'replicsa'),
    /clusters\/a\.yaml:4:8: spec\.replicsa is not a known field; did you mean replicas\?/,
  ],
] as const satisfies readonly (readonly [string, (text: string) => string, RegExp])[]) {
  test(`${what} prunes nothing, and is shown with its place`, async () => {
    const { push, tick, fleet, forge } = stage();
    await setFleet({ prune: true });
    const sha = await push({
      'clusters/a.yaml': broken(resting('a')),
      'clusters/b.yaml': resting('b'),
    });
    await tick();
    assert.deepEqual(await names(), ['a', 'b', 'c']);
    const message = condition(await fleet(), 'Stalled')?.message ?? '';
    assert.match(message, /clusters\/a\.yaml:\d+:\d+: /);
    assert.match(message, says);
    const status = forge.statusesOf(sha).get('etcd-ratchet/fleet');
    assert.equal(status?.state, 'failure');
    assert.match(status?.description ?? '', /clusters\/a\.yaml:\d+:\d+/);
  });
}

test('an empty tree prunes nothing', async () => {
  const { push, tick } = stage();
  await setFleet({ prune: true });
  await push({ 'README.md': 'nothing here' });
  await tick();
  assert.deepEqual(await names(), ['a', 'b', 'c']);
});

test('a renamed path prunes nothing', async () => {
  const { push, tick } = stage();
  await setFleet({ prune: true });
  await push({ 'clusters/a.yaml': resting('a'), 'moved/b.yaml': resting('b') });
  await setFleet({ prune: true, git: { path: 'moved' } });
  await tick();
  assert.deepEqual(await names(), ['a', 'b', 'c']);
});

test('a repository that breaks off in the middle changes nothing and prunes nothing', async () => {
  const { push, tick, git, fleet } = stage();
  await setFleet({ prune: true });
  await push({ 'clusters/a.yaml': resting('a').replace('1Gi', '2Gi') });
  git.breakWith({ kind: 'cut' });
  const { code } = await tick();
  git.breakWith(undefined);
  assert.equal(code, 0);
  assert.deepEqual(await names(), ['a', 'b', 'c']);
  assert.equal((await stage().cluster('a')).spec.storage.size, '1Gi');
  assert.equal(condition(await fleet(), 'SourceReady')?.status, 'False');
});

test('a cluster that was edited or deleted by hand comes back as Git has it', async () => {
  const { tick, kubectl, namespace, cluster } = stage();
  await kubectl(['-n', namespace, 'patch', 'etcdcluster', 'a', '--type=merge', '-p', '{"spec":{"replicas":5}}']);
  await kubectl(['-n', namespace, 'delete', 'etcdcluster', 'b']);
  const { code, stderr } = await tick();
  assert.equal(code, 0, stderr);
  assert.deepEqual(await names(), ['a', 'b', 'c']);
  assert.equal((await cluster('a')).spec.replicas, 3);
  const events = await kubectl([
    '-n',
    namespace,
    'get',
    'events',
    '--field-selector',
    'reason=PutBackByGit',
    '-o',
    'json',
  ]);
  const told = (JSON.parse(events) as { items: { message: string; involvedObject: { name: string } }[] }).items;
  assert.deepEqual(
    told.map(({ involvedObject }) => involvedObject.name),
    ['a'],
    'a deleted one is created anew: nobody reads its events',
  );
  assert.match(told[0]?.message ?? '', /outside of Git.*clusters\/a\.yaml/);
});
