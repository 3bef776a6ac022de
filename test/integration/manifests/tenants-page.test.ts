import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fleetSource } from '../../../functions/pass/fleet-git.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { type Block, blocksOf } from '../../support/docs/blocks.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { read } from '../../unit/docs/pages.ts';
import { install, startApiServer } from './api-server.ts';
import { noteQuota } from './noted-quota.ts';
import { untilAllowed } from './until-allowed.ts';

/** The commands of docs/how-to/tenants.md, as two teams would type them. */

const page = 'docs/how-to/tenants.md';
const blocksAt = typedIn('integration/manifests/tenants-page');
const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '-k', install]);
const kube = await api.kubeOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet' });
const signal = AbortSignal.timeout(60_000);

type Team = 'team-a' | 'team-b';
const adminOf = { 'team-a': 'alice', 'team-b': 'bob' } as const;

/** As it is for a team. */
function asOf(team: Team, blocks: readonly Block[]): string {
  const text = blocks.map((block) => block.text).join('');
  return text.replaceAll('team-a', team).replaceAll('alice', adminOf[team]);
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
  for (const team of ['team-a', 'team-b'] as const) {
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
    assert.equal((await fleetSource(fleet, { kube, signal })).credentials?.token, '…');
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
