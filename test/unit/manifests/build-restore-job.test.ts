import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../../manifests/kube-types.ts';
import { dataDirectory } from '../../../manifests/render/etcd-args.ts';
import { hasTrial, restoreContainers, restoreJob } from '../../../manifests/render/restore-job.ts';
import { statefulSet } from '../../../manifests/render/stateful-set.ts';
import { peerOf } from './build-fixtures.ts';

/** The trial of what a rollback restores: an etcd as the member will be, on a copy and on loopback. */

const limits = { cpu: '2', memory: '4Gi' };
const files = { name: 'jwt', mountPath: '/etc/jwt', readOnly: true };
const peer = peerOf({
  podTemplate: {
    spec: {
      containers: [
        {
          name: 'etcd',
          env: [
            { name: 'ETCD_LOG_LEVEL', value: 'debug' },
            { name: 'ETCD_MAX_REQUEST_BYTES', value: '10000000' },
          ],
          volumeMounts: [files],
        },
      ],
      volumes: [{ name: 'jwt', configMap: { name: 'jwt' } }],
    },
  },
  resources: { requests: limits, limits },
  etcd: {
    quotaBackendBytes: '3Gi',
    featureGates: { LeaseCheckpoint: true },
    extraArgs: { 'max-txn-ops': '4096' },
  },
});
const order = {
  ...{ image: 'registry.example/us:v1', id: '0123456789ab', attempt: 2, token: 'token', bump: 7 },
  snapshot: { object: 'gs://backups/orders/a.db' },
};
const job = restoreJob(peer, { ...order, trial: true });
const { initContainers = [], containers } = job.spec.template.spec;
const trial = initContainers.find(({ name }) => name === restoreContainers.trial) ?? assert.fail('no trial');
const member = statefulSet(peer).spec.template.spec.containers[0] ?? assert.fail('no etcd');

function flag({ args = [] }: Container, name: string): string | undefined {
  return args.find((arg) => arg.startsWith(`--${name}=`));
}

test('its etcd has image, limits, quota and flags of the member, and knows of its own limits', () => {
  assert.deepEqual([trial.image, trial.resources], [member.image, member.resources]);
  for (const name of ['quota-backend-bytes', 'max-txn-ops', 'name'])
    assert.equal(flag(trial, name), flag(member, name), name);
  assert.match(flag(trial, 'feature-gates') ?? '', /LeaseCheckpoint=true/);
  const told = (trial.env ?? []).map(({ name, valueFrom }) => [name, valueFrom?.resourceFieldRef?.containerName]);
  assert.deepEqual(told, [
    ['GOMAXPROCS', 'trial'],
    ['GOMEMLIMIT', 'trial'],
    // Without those that a flag of the trial sets, of which etcd would die.
    ['ETCD_MAX_REQUEST_BYTES', undefined],
  ]);
});

test('its etcd has a copy only, answers on loopback alone, and begins no cluster of its own', () => {
  for (const name of ['listen-client-urls', 'listen-peer-urls', 'advertise-client-urls'])
    assert.match(flag(trial, name) ?? '', /\/\/127\.0\.0\.1:\d+$/, name);
  assert.equal(flag(trial, 'listen-metrics-urls'), undefined);
  assert.equal(flag(trial, 'initial-cluster-state'), '--initial-cluster-state=existing');
  assert.equal(flag(trial, 'data-dir'), '--data-dir=/var/lib/etcd/.restoring-2/trial/data');
  assert.ok(!trial.args?.some((arg) => arg.startsWith(`--data-dir=${dataDirectory}`)));
  assert.deepEqual(trial.volumeMounts, [{ name: 'data', mountPath: '/var/lib/etcd' }, files]);
  const volumes = job.spec.template.spec.volumes?.map(({ name }) => name) ?? [];
  assert.ok(volumes.includes('jwt') && !volumes.includes('peer-tls'), volumes.join());
});

test('the data get their name by a container that waits for the trial; a birth has none', () => {
  assert.deepEqual(
    [...initContainers, ...containers].map(({ name, restartPolicy }) => `${name} ${restartPolicy ?? ''}`.trim()),
    ['fetch', 'restore', 'copy', 'trial Always', 'place'],
  );
  const place = JSON.parse(
    containers[0]?.env?.find(({ name }) => name === 'RATCHET_BACKUP_REQUEST')?.value ?? '{}',
  ) as object;
  assert.partialDeepStrictEqual(place, {
    operation: 'place',
    trial: { endpoint: 'https://127.0.0.1:2379', startSeconds: 1800 },
  });
  const birth = restoreJob(peer, order);
  assert.deepEqual([hasTrial(job), hasTrial(birth)], [true, false]);
  assert.doesNotMatch(JSON.stringify(birth), /trial/);
});

test('what the pod template runs before etcd runs before the trial, with what it leaves for etcd', () => {
  const secrets = { name: 'keys', mountPath: '/keys' };
  const limit = { containerName: 'etcd', resource: 'limits.memory' };
  const env = [{ name: 'ETCD_MEMORY', valueFrom: { resourceFieldRef: limit } }];
  const prepared = peerOf({
    podTemplate: {
      spec: {
        initContainers: [{ name: 'copy', image: 'registry.example/keys:v1', env, volumeMounts: [secrets] }],
        containers: [{ name: 'etcd', volumeMounts: [secrets] }],
        volumes: [
          { name: 'keys', emptyDir: {} },
          { name: 'other', emptyDir: {} },
        ],
      },
    },
  });
  const { spec } = restoreJob(prepared, { ...order, trial: true }).spec.template;
  assert.deepEqual(
    spec.initContainers?.map(({ name }) => name),
    ['fetch', 'restore', 'copy', 'member-copy', 'trial'],
  );
  const [, , , own, etcd] = spec.initContainers ?? [];
  assert.deepEqual([own?.volumeMounts, etcd?.volumeMounts?.slice(1)], [[secrets], [secrets]]);
  assert.equal(own?.env?.[0]?.valueFrom?.resourceFieldRef?.containerName, 'trial');
  const volumes = spec.volumes?.map(({ name }) => name) ?? [];
  assert.ok(volumes.includes('keys') && !volumes.includes('other'), volumes.join());
  assert.doesNotMatch(JSON.stringify(restoreJob(prepared, order)), /keys/);
});

test('the etcd of a trial gets no Secret that fetching has, whatever its volumes are called', () => {
  const names = ['gcs-key', 'age-identity', 'store-ca', 'tmp'];
  const volumeMounts = names.map((name) => ({ name, mountPath: `/${name}` }));
  const own = peerOf({
    podTemplate: {
      spec: {
        initContainers: [{ name: 'first', image: 'registry.example/any:v1', volumeMounts }],
        containers: [{ name: 'etcd', volumeMounts }],
        volumes: names.map((name) => ({ name, configMap: { name: `own-${name}` } })),
      },
    },
  });
  const snapshot = {
    ...order.snapshot,
    gcs: { keySecretName: 'key' },
    encryption: { identitySecretName: 'identity' },
    caBundle: { secretName: 'ca' },
  };
  const { spec } = restoreJob(own, { ...order, snapshot, trial: true }).spec.template;
  const theirs = spec.initContainers?.filter(({ name }) => name === 'first' || name === restoreContainers.trial) ?? [];
  assert.equal(theirs.length, 2);
  const called = spec.volumes?.map(({ name }) => name) ?? [];
  assert.deepEqual(called, [...new Set(called)]);
  for (const { name, volumeMounts: mounts = [] } of theirs)
    for (const mount of mounts.filter(({ mountPath }) => mountPath !== '/var/lib/etcd')) {
      const volume = spec.volumes?.find((one) => one.name === mount.name);
      assert.deepEqual(volume?.configMap, { name: `own-${mount.mountPath.slice(1)}` }, `${name}: ${mount.mountPath}`);
    }
});
