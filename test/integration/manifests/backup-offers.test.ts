import assert from 'node:assert/strict';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { Job } from '../../../manifests/kube-types.ts';
import { stepBackups } from '../../../reconcile/backup/pass.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { install, startApiServer } from './api-server.ts';
import { kubectlRatchet } from './kubectl-ratchet.ts';
import { untilAllowed } from './until-allowed.ts';

/**
 * Two tenants of one installation: olga owns what is in `payments`, where mallory writes backups, and no more; bob has
 * `team-b`. The pass acts as the installation's own account.
 */

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '-k', install]);
const secret = (namespace: string) => [
  ...['-n', namespace, 'create', 'secret', 'generic', 'backup-credentials'],
  ...['--from-literal=access-key-id=a', '--from-literal=secret-access-key=crown-jewels'],
];
for (const [namespace, admin] of [
  ['payments', 'olga'],
  ['team-b', 'bob'],
] as const) {
  await api.kubectl(['create', 'namespace', namespace]);
  await api.kubectl(['-n', namespace, 'create', 'rolebinding', admin, '--clusterrole=admin', `--user=${admin}`]);
  await api.kubectl(secret(namespace));
}
await api.kubectl(['-n', 'payments', 'create', 'serviceaccount', 'billing-admin']);
await api.kubectl([
  ...['-n', 'payments', 'create', 'role', 'backups'],
  ...['--verb=create,get', '--resource=etcdbackups.etcd.ratchet.dev'],
]);
await api.kubectl(['-n', 'payments', 'create', 'rolebinding', 'mallory', '--role=backups', '--user=mallory']);
const as = (user: string) => [`--as=${user}`, '--as-group=system:authenticated'];
await untilAllowed(api.kubectl, [...as('mallory'), '-n', 'payments'], ['create', 'etcdbackups.etcd.ratchet.dev']);
await untilAllowed(api.kubectl, [...as('olga'), '-n', 'payments'], ['patch', 'secrets']);
await untilAllowed(api.kubectl, [...as('bob'), '-n', 'team-b'], ['patch', 'secrets']);
const kube = await api.kubeOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet' });
const signal = AbortSignal.timeout(60_000);

async function ask(user: string, namespace: string, name: string, to: Readonly<Record<string, unknown>> = {}) {
  const s3 = { endpoint: 'https://store.mallory.example', credentialsSecretName: 'backup-credentials' };
  const backup = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { name, namespace },
    spec: {
      source: { endpoints: ['http://203.0.113.9:2379'] },
      to: { object: 's3://bucket/{{uid}}.db', s3, ...to },
    },
  };
  await api.kubectl(['create', ...as(user), '-f', '-'], { stdin: JSON.stringify(backup) });
}

/** One pass over the backups of both tenants, and what became of that one. */
async function pass(namespace: string, name: string) {
  const { items } = await kube.list<EtcdBackup>(resources.backups, { signal });
  const context = { kube, holder: { pod: '', uid: '' }, clusters: [], log: () => undefined, signal };
  await stepBackups(items, context);
  const { status } = (await kube.get<EtcdBackup>(resources.backups, namespace, name, { signal })) ?? {};
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const jobs = await api.kubectl(['-n', namespace, 'get', 'jobs', '-o', 'json']);
  return { ...ready, jobs: (JSON.parse(jobs) as { readonly items: readonly Job[] }).items };
}

/** What the message says to run, as arguments of kubectl. */
const commandIn = (message = '') => (/: kubectl ([^;]*)$/.exec(message)?.[1] ?? assert.fail(message)).split(' ');

test('whose author may not read a Secret gets none of it into a Job, until its owner offers it', async () => {
  await ask('mallory', 'payments', 'steal');
  const refused = await pass('payments', 'steal');
  assert.deepEqual([refused.reason, refused.jobs], ['NotOffered', []]);
  await assert.rejects(api.kubectl([...as('mallory'), ...commandIn(refused.message)]), /forbidden/i);

  // The other tenant, meanwhile: by the command of the page.
  const [offer = assert.fail()] = typedIn('integration/manifests/backup-offers')(
    'docs/how-to/backups.md#what-a-backup-may-use',
  );
  await api.kubectl([...as('bob'), ...offer.text.trim().replace('payments', 'team-b').split(' ').slice(1)]);
  await ask('bob', 'team-b', 'own');
  const own = await pass('team-b', 'own');
  assert.deepEqual([own.reason, own.jobs.length], ['Taking', 1], own.message);

  assert.deepEqual((await pass('payments', 'steal')).jobs, []);
  await api.kubectl([...as('olga'), ...commandIn(refused.message)]);
  const { jobs } = await pass('payments', 'steal');
  const volumes = jobs[0]?.spec.template.spec.volumes ?? [];
  const [shown] = volumes.filter(({ name }) => name === 's3-credentials');
  assert.deepEqual(
    shown?.projected?.sources.flatMap(({ secret: of }) => of?.items.map(({ key }) => key) ?? []),
    ['access-key-id', 'secret-access-key', 'session-token'],
  );
});

test('of a Secret that is only looked at, nothing but its metadata is sent', async () => {
  const options = { signal, metadataOnly: true };
  const found = await kube.get(resources.secrets, 'payments', 'backup-credentials', options);
  assert.deepEqual(Object.keys(found ?? {}).toSorted(), ['apiVersion', 'kind', 'metadata']);
  assert.doesNotMatch(JSON.stringify(found), /crown-jewels|Y3Jvd24tamV3ZWxz/);
});

test('a service account and a volume of others are offered as well, and each is named', async () => {
  await ask('mallory', 'payments', 'as-admin', { serviceAccountName: 'billing-admin' });
  const asAdmin = await pass('payments', 'as-admin');
  assert.match(asAdmin.message ?? '', /^ServiceAccount payments\/billing-admin is not for backups/);
  await api.kubectl([...as('olga'), ...commandIn(asAdmin.message)]);
  assert.equal((await pass('payments', 'as-admin')).reason, 'Taking');
  await ask('mallory', 'payments', 'on-volume', { object: 'pvc://files/{{uid}}.db', s3: undefined });
  const onVolume = await pass('payments', 'on-volume');
  assert.match(onVolume.message ?? '', /^there is no PersistentVolumeClaim payments\/files/);
});

test('kubectl ratchet offers prints what the backups of all namespaces still lack', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'backup-offers-'));
  const kubeconfig = join(directory.path, 'kubeconfig');
  await writeFile(kubeconfig, await api.kubeconfigOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet' }));
  await using installed = await kubectlRatchet(kubeconfig);
  const { code, stdout } = await installed.ratchet('offers', '-A');
  const lacking = 'kubectl -n payments label --overwrite persistentvolumeclaim files etcd.ratchet.dev/for-backups=true';
  assert.deepEqual([code, stdout], [0, `${lacking}\n`]);
});
