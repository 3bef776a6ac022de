import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fleetSource } from '../../../functions/pass/fleet-git.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { clusterYaml } from '../../e2e/support/specs.ts';
import { until } from '../../e2e/support/until.ts';
import { type Block, blocksOf } from '../../support/docs/blocks.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { startGitServer } from '../../support/git/server.ts';
import { read } from '../../unit/docs/pages.ts';
import { install, startApiServer } from './api-server.ts';
import { cronJobPass } from './cronjob-pass.ts';
import { noteQuota } from './noted-quota.ts';
import { untilAllowed } from './until-allowed.ts';

/** The commands of docs/how-to/tenants.md, as two teams would type them, until each has what its repository says. */

const page = 'docs/how-to/tenants.md';
const blocksAt = typedIn('integration/manifests/tenants-page');
const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '-k', install]);
const kube = await api.kubeOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet' });
const signal = AbortSignal.timeout(120_000);

type Team = 'team-a' | 'team-b';
const teams: readonly Team[] = ['team-a', 'team-b'];
const adminOf = { 'team-a': 'alice', 'team-b': 'bob' } as const;
const tokenOf = (team: Team) => `token-of-${team}`;
/** Each opens its repositories to one token. */
const gitOf = {
  'team-a': await startGitServer({ auth: { token: tokenOf('team-a') } }),
  'team-b': await startGitServer({ auth: { token: tokenOf('team-b') } }),
};
after(() => Promise.all(Object.values(gitOf).map((server) => server.stop())));

/** As it is for a team. */
function asOf(team: Team, blocks: readonly Block[]): string {
  const text = blocks.map((block) => block.text).join('');
  return text
    .replaceAll('team-a', team)
    .replaceAll('alice', adminOf[team])
    .replaceAll('https://git.example.com', gitOf[team].url)
    .replaceAll('=…', `=${tokenOf(team)}`);
}

function commandsOf(heading: string, team: Team): readonly string[][] {
  const lines = asOf(team, blocksAt(`${page}#${heading}`))
    .trim()
    .split('\n');
  assert.ok(lines.length >= 4);
  return lines.map((line) =>
    line
      .replace('-f fleet.yaml', '-f -')
      .replace(/^kubectl /, '')
      .split(' '),
  );
}

const documents = blocksOf(page, read(page)).filter(({ kind }) => kind === 'yaml');
const as = (team: Team) => [`--as=${adminOf[team]}`, '--as-group=system:authenticated'];
const stdin = (team: Team) => ({ stdin: asOf(team, documents) });

test('two teams set themselves up by the commands of the page', async () => {
  for (const team of teams) {
    for (const command of commandsOf('what-the-platform-does', team)) await api.kubectl(command);
    await noteQuota(api, team, 'team');
    const fleets = 'etcdfleets.etcd.ratchet.dev';
    await untilAllowed(api.kubectl, [...as(team), '-n', team], ['create', fleets], ['create', 'secrets']);
    for (const command of commandsOf('what-a-team-does', team))
      await api.kubectl([...as(team), ...command], stdin(team));
  }
});

test('no team gets through with any of these commands in the namespace of another', async () => {
  for (const command of commandsOf('what-a-team-does', 'team-a'))
    await assert.rejects(api.kubectl([...as('team-b'), ...command], stdin('team-a')), /forbidden/i, command.join(' '));
});

test('the fleet of a team reads its own Secret, and writes where it may', async () => {
  for (const [team, other] of [
    ['team-a', 'team-b'],
    ['team-b', 'team-a'],
  ] as const) {
    const fleet = (await kube.get<EtcdFleet>(resources.fleets, team, 'clusters', { signal })) ?? assert.fail();
    assert.equal((await fleetSource(fleet, { kube, signal })).credentials?.token, tokenOf(team));
    const own = kube.as({ namespace: team, name: 'fleet' });
    const cluster = (namespace: string): KubeObject => ({
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { name: `of-${team}`, namespace },
      ...{ spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } } },
    });
    // Admission has its own cache of quotas.
    await until('the quota is known', () =>
      own.create(resources.clusters, cluster(team), { signal }).catch((error: unknown) => {
        if (!/status unknown for quota/.test(String(error))) throw error;
      }),
    );
    await assert.rejects(own.create(resources.clusters, cluster(other), { signal }), { reason: 'Forbidden' });
  }
});

test('etcd-ratchet acts as the account of that name in a team’s namespace, and as no other one', async () => {
  await api.kubectl(['-n', 'team-a', 'create', 'serviceaccount', 'boss']);
  const boss = kube.as({ namespace: 'team-a', name: 'boss' });
  await assert.rejects(boss.list(resources.clusters, { namespace: 'team-a', signal }), /impersonate/);
});

/** As the API server has it. */
const fleetOf = async (team: Team) =>
  (await kube.get<EtcdFleet>(resources.fleets, team, 'clusters', { signal })) ?? assert.fail();

test('passes make each team what its repository says, and nothing in the namespace of the other', async () => {
  const files = {
    'team-a': { 'orders.yaml': clusterYaml('orders', 'team-a') },
    'team-b': {
      'orders.yaml': clusterYaml('orders', 'team-b'),
      'more.yaml': clusterYaml('more', 'team-a'),
      'theirs.yaml': clusterYaml('orders', 'team-a', { replicas: 1 }),
    },
  };
  for (const team of teams) {
    const repository = await gitOf[team].createRepository(`${team}/etcd`);
    await repository.commit(files[team]);
  }
  await cronJobPass(api);
  await cronJobPass(api);
  for (const team of teams) {
    const { items } = await kube.list<EtcdCluster>(resources.clusters, { namespace: team, signal });
    assert.deepEqual(items.map(({ metadata }) => metadata.name).toSorted(), [`of-${team}`, 'orders']);
    const orders = items.find(({ metadata }) => metadata.name === 'orders');
    assert.equal(orders?.spec.replicas, 3);
    assert.ok(orders.status?.history?.length, `${team} got no step`);
    const { inventory = [] } = (await fleetOf(team)).status ?? {};
    const made = inventory.map(({ namespace, name, uid }) => ({ namespace, name, uid }));
    assert.deepEqual(made, [{ namespace: team, name: 'orders', uid: orders.metadata.uid }]);
  }
  const [ofA, ofB] = await Promise.all(teams.map(fleetOf));
  assert.equal(conditionOf(ofA?.status, 'Stalled'), undefined);
  assert.equal(conditionOf(ofB?.status, 'Stalled')?.reason, 'DocumentsRefused');
  const problems = (ofB?.status?.problems ?? []).toSorted((a, b) => (a.file < b.file ? -1 : 1));
  const [more, theirs, ...others] = problems;
  assert.match(
    `${more?.file}: ${more?.message}`,
    /^more\.yaml: service account team-b\/fleet may not create etcdclusters in namespace team-a\. To go on: let the fleet in: kubectl /,
  );
  assert.match(
    `${theirs?.file}: ${theirs?.message}`,
    /^theirs\.yaml: EtcdCluster team-a\/orders belongs to fleet team-a\/clusters: /,
  );
  assert.deepEqual(others, []);
});
