import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type { Job, Pod, PodSpec, StatefulSet } from '../../../manifests/kube-types.ts';
import { takeJob, verifyJob } from '../../../manifests/render/backup-jobs.ts';
import { jobPodsOf } from '../../../manifests/render/job-pods.ts';
import { logJob } from '../../../manifests/render/log-job.ts';
import { etcdPeer } from '../../../manifests/render/peer.ts';
import { podTemplate } from '../../../manifests/render/pod-template.ts';
import { recoveryJob } from '../../../manifests/render/recovery-job.ts';
import { restoreJob } from '../../../manifests/render/restore-job.ts';
import { pruneJob } from '../../../manifests/render/schedule-objects.ts';
import { statefulSet } from '../../../manifests/render/stateful-set.ts';
import { driftOf } from '../../../reconcile/cluster/observe/own-set.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { assignUsers, firstUser, usersOf } from '../../e2e/support/assigned-users.ts';
import { until } from '../../e2e/support/until.ts';
import { blocksOf } from '../../support/docs/blocks.ts';
import { read } from '../../unit/docs/pages.ts';
import { install, startApiServer } from './api-server.ts';

/** docs/how-to/platforms.md: the API server refuses users of ours, or fills in its own, as OpenShift does. */

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['create', 'namespace', 'payments']);
const named = 'object.spec.?securityContext.?';
const policy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'assigned-users' },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    },
    validations: ['runAsUser', 'runAsGroup', 'fsGroup'].map((field) => ({
      expression: `!${named}${field}.hasValue()`,
      message: `${field} is assigned by the platform`,
    })),
  },
};
const binding = {
  apiVersion: policy.apiVersion,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'assigned-users' },
  spec: {
    policyName: 'assigned-users',
    validationActions: ['Deny'],
    matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'payments' } } },
  },
};
for (const object of [policy, binding]) await api.kubectl(['create', '-f', '-'], { stdin: JSON.stringify(object) });

const page = 'docs/how-to/platforms.md';
const documents = blocksOf(page, read(page)).filter(({ kind }) => kind === 'yaml');
// Without it the API server takes no pod there.
await until('the namespace has its account', () =>
  api.kubectl(['-n', 'payments', 'get', 'serviceaccount', 'default']).catch(() => undefined),
);

interface Workload {
  readonly kind: string;
  readonly spec: Partial<Job['spec']> & { readonly jobTemplate?: Pick<Job, 'spec'> };
}

async function stored<T>(kind: string, name: string): Promise<T> {
  return JSON.parse(await api.kubectl(['-n', 'payments', 'get', kind, name, '-o', 'json'])) as T;
}

/** As a controller would make it. */
function tried(spec: PodSpec, namespace = 'payments', ...how: readonly string[]): Promise<string> {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'tried-', namespace }, spec };
  const args = ['create', '--dry-run=server', ...how, '-f', '-'];
  return api.kubectl(args, { stdin: JSON.stringify(pod) }).catch(String);
}

function peerOf(cluster: EtcdCluster): EtcdPeer {
  const bootstrap = { token: 'token', initialCluster: [], state: 'New' } as const;
  const made = etcdPeer(cluster, cluster.spec, 0, bootstrap);
  return { ...made, metadata: { ...made.metadata, uid: 'peer' } };
}

function podsOf(cluster: EtcdCluster): Readonly<Record<string, PodSpec>> {
  const peer = peerOf(cluster);
  const backup: EtcdBackup = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { name: 'nightly', namespace: 'payments', uid: 'backup' },
    spec: { clusterName: 'orders', to: { object: 'pvc://backups/a.db' } },
  };
  const location = { scheme: 'pvc', bucket: 'backups', path: 'a.db' } as const;
  const pods = jobPodsOf(undefined, cluster.spec);
  const order = { image: 'registry.example.com/us:v1', attempt: 1, location, pods };
  const specOf = ({ spec }: Job) => spec.template.spec;
  const schedule: EtcdBackupSchedule = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackupSchedule',
    metadata: { name: 'nightly', namespace: 'payments', uid: 'schedule' },
    spec: { schedule: '30 2 * * *', template: backup.spec },
  };
  const restored = { ...order, id: '0123456789ab', token: 't', bump: 1, snapshot: { object: 'pvc://backups/a.db' } };
  return {
    restore: specOf(restoreJob(peer, restored)),
    rollback: specOf(restoreJob(peer, { ...restored, trial: true })),
    log: specOf(logJob(peer, { ...order, situation: '0123456789', node: 'node-a' })),
    retention: specOf(pruneJob(schedule, { after: backup, spare: [] }, order)),
    member: podTemplate(peer).spec,
    recovery: specOf(recoveryJob(peer, { ...order, id: '0123456789ab', withoutCopy: false })),
    backup: specOf(takeJob(backup, { ...order, endpoints: ['https://10.0.0.1:2379'] })),
    drill: specOf(verifyJob(backup, { ...order, etcdImage: 'quay.io/coreos/etcd:v3.6.16', snapshotBytes: 1 })),
  };
}

const isRefused = /is assigned by the platform/;

test('the clusters and the backup of the page are stored as they are written', async () => {
  for (const { text } of documents) await api.kubectl(['create', '-f', '-'], { stdin: text });
  const { spec } = await stored<EtcdCluster>('etcdclusters.etcd.ratchet.dev', 'assigned');
  assert.deepEqual(spec.podTemplate?.spec, { securityContext: { runAsUser: null, runAsGroup: null, fsGroup: null } });
});

test('a fleet applies what is null as well', async () => {
  const { text } = documents.find((one) => one.text.includes('name: assigned')) ?? assert.fail();
  const fromGit = text.replace('name: assigned', 'name: from-git');
  await api.kubectl(['apply', '--server-side', '--field-manager=etcd-ratchet-fleet-a', '-f', '-'], { stdin: fromGit });
  const { spec } = await stored<EtcdCluster>('etcdclusters.etcd.ratchet.dev', 'from-git');
  assert.deepEqual(spec.podTemplate?.spec, { securityContext: { runAsUser: null, runAsGroup: null, fsGroup: null } });
});

test('a platform that assigns users takes members, and every Job beside them', async () => {
  const usual = podsOf(await stored<EtcdCluster>('etcdclusters.etcd.ratchet.dev', 'orders'));
  await until('the policy counts', async () => isRefused.test(await tried(usual.member ?? assert.fail())));
  for (const [what, spec] of Object.entries(usual)) assert.match(await tried(spec), isRefused, what);
  const assigned = podsOf(await stored<EtcdCluster>('etcdclusters.etcd.ratchet.dev', 'assigned'));
  for (const [what, spec] of Object.entries(assigned)) assert.match(await tried(spec), /created/, what);
});

test('a platform that fills users in gives members, and every Job beside them, its own', async () => {
  const namespace = 'filled';
  await api.kubectl(['create', 'namespace', namespace]);
  await api.kubectl(['-n', namespace, 'wait', '--for=create', 'serviceaccount/default', '--timeout=30s']);
  await assignUsers({ kubectl: api.kubectl, namespace });
  const usual = podsOf(await stored<EtcdCluster>('etcdclusters.etcd.ratchet.dev', 'orders'));
  for (const [what, spec] of Object.entries(usual))
    assert.match(await tried(spec, namespace), /is outside of the range/, what);
  const assigned = podsOf(await stored<EtcdCluster>('etcdclusters.etcd.ratchet.dev', 'assigned'));
  for (const [what, spec] of Object.entries(assigned)) {
    const pod = JSON.parse(await tried(spec, namespace, '-o', 'json')) as Pod;
    assert.deepEqual(usersOf(pod), { users: [firstUser], group: firstUser }, what);
  }
});

test('a StatefulSet is ours also where a policy fills users into its template', async () => {
  const template = 'Object.spec.template';
  const users = `securityContext: ${template}.spec.securityContext{runAsUser: ${firstUser}, fsGroup: ${firstUser}}`;
  const expression = `Object{spec: Object.spec{template: ${template}{spec: ${template}.spec{${users}}}}}`;
  const name = 'fills-templates';
  const rule = {
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['statefulsets'],
  };
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    reinvocationPolicy: 'Never',
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
  };
  const { apiVersion } = policy;
  for (const object of [
    { apiVersion, kind: 'MutatingAdmissionPolicy', metadata: { name }, spec },
    { apiVersion, kind: 'MutatingAdmissionPolicyBinding', metadata: { name }, spec: { policyName: name } },
  ])
    await api.kubectl(['create', '-f', '-'], { stdin: JSON.stringify(object) });
  const account = { namespace: 'payments', name: 'default' };
  await api.kubectl([
    '-n',
    'payments',
    'create',
    'rolebinding',
    'a',
    '--clusterrole=edit',
    '--serviceaccount=payments:default',
  ]);
  const kube = await api.kubeOf(account);
  const peer = peerOf(await stored<EtcdCluster>('etcdclusters.etcd.ratchet.dev', 'assigned'));
  const filledIn = async () => {
    const { spec } = await kube.dryRun(resources.statefulSets, statefulSet(peer));
    return spec.template.spec.securityContext?.runAsUser === firstUser;
  };
  await until('the policy counts', filledIn);
  const made = await kube.create<StatefulSet>(resources.statefulSets, statefulSet(peer));
  assert.deepEqual(usersOf({ ...made.spec.template } as Pod), { users: [firstUser], group: firstUser });
  const means = { kube, offered: async () => ({}), signal: AbortSignal.timeout(20_000) };
  assert.equal(await driftOf(made, peer, means), undefined);
});

test('our own pods name no user with the component platform-users', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'platform-'));
  after(() => rm(directory, { recursive: true }));
  const from = (path: string) => relative(directory, join(install, path));
  const components = ['webhooks', 'page', 'metrics', 'platform-users'].map((name) => from(`components/${name}`));
  const bases = ['.', '../knative/events'].map(from);
  await writeFile(join(directory, 'kustomization.yaml'), JSON.stringify({ resources: bases, components }));
  const printed = parseAllDocuments(await api.kubectl(['kustomize', directory])).map((one) => one.toJS() as Workload);
  const pods = printed.flatMap(({ kind, spec }) =>
    kind === 'CronJob' ? [spec.jobTemplate?.spec.template.spec] : kind === 'Deployment' ? [spec.template?.spec] : [],
  );
  assert.equal(pods.length, 4);
  const seccompProfile = { type: 'RuntimeDefault' };
  for (const pod of pods) assert.deepEqual(pod?.securityContext, { runAsNonRoot: true, seccompProfile });
  const service = printed.find(({ kind, spec }) => kind === 'Service' && spec.template)?.spec.template?.spec;
  assert.doesNotMatch(JSON.stringify(service ?? assert.fail()), /runAsUser|runAsGroup/);
});
