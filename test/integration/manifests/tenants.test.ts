import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openFleetForge } from '../../../functions/pass/fleet-forge.ts';
import { fleetSource } from '../../../functions/pass/fleet-git.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { actingFor } from '../../../reconcile/fleet/account.ts';
import { complaintFor } from '../../../reconcile/fleet/complaint.ts';
import { type KubeError, type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { install, startApiServer } from './api-server.ts';
import { untilAllowed } from './until-allowed.ts';

/** Two tenants of one installation: alice administers `team-a`; mallory writes fleets of `team-b`, and no more. */
const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '-k', install]);
for (const namespace of ['team-a', 'team-b']) {
  await api.kubectl(['create', 'namespace', namespace]);
  const token = ['--from-literal=token=crown-jewels'];
  await api.kubectl(['-n', namespace, 'create', 'secret', 'generic', 'git', ...token]);
}
await api.kubectl(['-n', 'team-a', 'create', 'rolebinding', 'alice', '--clusterrole=admin', '--user=alice']);
await api.kubectl([
  ...['-n', 'team-b', 'create', 'role', 'fleets'],
  ...['--verb=create,update,patch,get', '--resource=etcdfleets.etcd.ratchet.dev'],
]);
await api.kubectl(['-n', 'team-b', 'create', 'rolebinding', 'mallory', '--role=fleets', '--user=mallory']);
const kube = await api.kubeOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet' });

const as = (user: string) => [`--as=${user}`, '--as-group=system:authenticated'];
const fleets = 'etcdfleets.etcd.ratchet.dev';
await untilAllowed(api.kubectl, [...as('mallory'), '-n', 'team-b'], ['create', fleets], ['patch', fleets]);
await untilAllowed(api.kubectl, [...as('alice'), '-n', 'team-a'], ['create', fleets], ['get', 'secrets']);
const signal = () => ({ signal: AbortSignal.timeout(10_000) });

/** As that user writes it, and as the API server has it. */
async function fleetOf(user: string, namespace: string, url: string): Promise<EtcdFleet> {
  const fleet = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { name: 'mine', namespace },
    spec: {
      git: { url: `${url}/o/r.git`, ref: 'main', secretName: 'git' },
      forge: { type: 'Gitea', apiURL: `${url}/api/v1`, secretName: 'git' },
    },
  };
  const applied = await api.kubectl(['apply', ...as(user), '-o', 'json', '-f', '-'], { stdin: JSON.stringify(fleet) });
  return JSON.parse(applied) as EtcdFleet;
}

/** What the refusal says to run, as arguments of kubectl. */
function cureIn(message: string): string[] {
  const [, command = assert.fail(message)] = /: kubectl ([^;]*)/.exec(message) ?? [];
  return command.split(' ');
}

test('who writes fleets and may not read a Secret can not have it sent to a host of theirs', async () => {
  const fleet = await fleetOf('mallory', 'team-b', 'https://git.mallory.example');
  const refused = await fleetSource(fleet, { kube, ...signal() }).then(
    () => assert.fail('it was read'),
    (error: Error & { reason?: string }) => error,
  );
  assert.equal(refused.reason, 'SecretNotShared');
  assert.doesNotMatch(refused.message, /crown-jewels/);
  const forge = await openFleetForge(fleet, { kube, ...signal() });
  assert.ok(forge?.kind === 'failed' && forge.reason === 'SecretNotShared');
  await assert.rejects(api.kubectl([...as('mallory'), ...cureIn(refused.message)]), /forbidden/i);
});

test('the owner of a Secret shares it with the fleets of its namespace by the printed command', async () => {
  const fleet = await fleetOf('alice', 'team-a', 'https://git.example.com');
  const source = () => fleetSource(fleet, { kube, ...signal() });
  const refused = await source().then(
    () => assert.fail('it was read'),
    (error: Error) => error,
  );
  await api.kubectl([...as('alice'), ...cureIn(refused.message)]);
  assert.equal((await source()).credentials?.token, 'crown-jewels');
  assert.equal((await openFleetForge(fleet, { kube, ...signal() }))?.kind, 'open');

  await api.kubectl(['-n', 'team-a', ...as('alice'), 'label', 'secret', 'git', 'etcd.ratchet.dev/fleet-secret-']);
  await assert.rejects(source(), { reason: 'SecretNotShared' });
});

test('a fleet applies where an admin of the namespace lets it in, and nowhere else', async () => {
  const fleet = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { name: 'production', namespace: 'etcd-ratchet' },
    spec: { git: { url: 'https://git.example.com/o/r.git', ref: 'main' } },
  } as const satisfies EtcdFleet;
  const asFleet = kube.as({ namespace: 'etcd-ratchet', name: 'fleet' });
  const cluster = (namespace: string, replicas = 3): KubeObject => ({
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'orders', namespace },
    ...{ spec: { replicas, version: '3.6.16', storage: { size: '1Gi' } } },
  });
  const refused = (namespace: string) =>
    asFleet.create(resources.clusters, cluster(namespace)).then(
      () => assert.fail('it was created'),
      (error: KubeError) => complaintFor(error, { kind: 'EtcdCluster', namespace, name: 'orders' }, fleet),
    );
  const [ofA, ofB] = [cureIn(await refused('team-a')), cureIn(await refused('team-b'))];
  await assert.rejects(api.kubectl([...as('mallory'), ...ofB]), /forbidden/i);
  await api.kubectl([...as('alice'), ...ofA]);
  await assert.rejects(api.kubectl([...as('alice'), ...ofB]), /forbidden/i);

  const options = { fieldManager: 'etcd-ratchet/production', ...signal() };
  const made = await asFleet.apply(resources.clusters, cluster('team-a'), options);
  const { uid = '' } = await asFleet.apply(resources.clusters, cluster('team-a', 5), options).then((o) => o.metadata);
  assert.equal(uid, made.metadata.uid);
  await asFleet.delete(resources.clusters, 'team-a', 'orders', { preconditions: { uid } });
  await refused('team-b');
  await assert.rejects(asFleet.create(resources.clusters, cluster('etcd-ratchet')), { reason: 'Forbidden' });
});

test('a fleet acts neither as etcd-ratchet itself nor as an account that no admin listed', async () => {
  const namespace = 'etcd-ratchet';
  const by = ['-n', namespace, 'create'];
  await api.kubectl([...by, 'role', 'fleets', '--verb=create,update,patch,get', `--resource=${fleets}`]);
  await api.kubectl([...by, 'rolebinding', 'mallory', '--role=fleets', '--user=mallory']);
  await api.kubectl([...by, 'serviceaccount', 'team-c']);
  await untilAllowed(api.kubectl, [...as('mallory'), '-n', namespace], ['create', fleets], ['patch', fleets]);
  const fleet = await fleetOf('mallory', namespace, 'https://git.mallory.example');
  const patch = (name: string) =>
    api.kubectl([
      ...['-n', namespace, 'patch', ...as('mallory'), fleets, 'mine', '--type=merge'],
      ...['-p', JSON.stringify({ spec: { serviceAccountName: name } })],
    ]);
  // The CRD.
  for (const name of ['etcd-ratchet', 'etcd-ratchet-webhooks'])
    await assert.rejects(patch(name), /serviceAccountName.* must not be an account of etcd-ratchet itself/s);
  // The code, whatever an older CRD let in.
  const named = (serviceAccountName: string) => ({ ...fleet, spec: { ...fleet.spec, serviceAccountName } });
  assert.throws(() => actingFor(named('etcd-ratchet'), kube), { reason: 'AccountRefused', class: 'terminal' });
  // The Role: `fleet`, and what an admin adds.
  const refused = async (name: string) => {
    const error = await actingFor(named(name), kube)
      .list<KubeObject>(resources.clusters, { namespace, ...signal() })
      .then(
        () => assert.fail(`${name} could list`),
        (reason: KubeError) => reason,
      );
    return complaintFor(error, { kind: 'EtcdCluster', namespace, name: 'x' }, named(name));
  };
  const told = await refused('team-c');
  assert.match(
    told,
    /may not act as service account etcd-ratchet\/team-c\. .* resourceNames of Role etcd-ratchet-fleet-host/,
  );
  await assert.rejects(
    kube.as({ namespace, name: 'etcd-ratchet' }).list(resources.clusters, { namespace, ...signal() }),
    /cannot impersonate resource "serviceaccounts"/,
  );
  const add = JSON.stringify([{ op: 'add', path: '/rules/0/resourceNames/-', value: 'team-c' }]);
  await api.kubectl(['-n', namespace, 'patch', 'role', 'etcd-ratchet-fleet-host', '--type=json', '-p', add]);
  await until('the account may be acted as', async () =>
    /service account .* may not list/.test(await refused('team-c')),
  );
});
