import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job } from '../../../manifests/kube-types.ts';
import { agentAccess } from '../../../manifests/render/agent-container.ts';
import { takeJob, verifyJob } from '../../../manifests/render/backup-jobs.ts';
import { parseRequest } from '../../../reconcile/backup/agent/request.ts';
import { fullBackup, backup as plain } from '../manifests/api-documents.ts';

const image = 'registry.example.com/etcd-ratchet:v1';
const withUid = <T extends typeof plain>(one: T) => ({ ...one, metadata: { ...one.metadata, uid: 'uid-1' } });
const backup = withUid(plain);
const full = withUid(fullBackup);
const location = { scheme: 'pvc', bucket: 'backups', path: 'default/orders/a.db' } as const;
const inS3 = { scheme: 's3', bucket: 'backups.example', path: 'a.db' } as const;

const taken = takeJob(backup, {
  image,
  attempt: 2,
  location,
  endpoints: ['https://orders-0-0.orders-peers.default.svc:2379'],
  clusterId: 'cafe',
  tlsSecretName: 'orders-client-tls',
});
const takenToS3 = takeJob(full, { image, attempt: 1, location: inS3, endpoints: ['https://10.0.0.1:2379'] });
const order = { image, attempt: 1, location, etcdImage: 'quay.io/coreos/etcd:v3.6.16', snapshotBytes: 2 ** 30 };
const verified = verifyJob(backup, order);
const verifiedInS3 = verifyJob(full, { ...order, location: inS3 });
const looksFor = { ...full, spec: { ...full.spec, existing: { sha256: 'f'.repeat(64) } } };
const looked = takeJob(looksFor, { image, attempt: 1, location: inS3, endpoints: [] });
const all: readonly Job[] = [taken, takenToS3, looked, verified, verifiedInS3];

function containersOf({ spec }: Job) {
  const { initContainers = [], containers } = spec.template.spec;
  return [...initContainers, ...containers];
}

function requestsOf(job: Job) {
  return containersOf(job).flatMap(({ env = [] }) =>
    env.flatMap(({ name, value }) => (name === 'RATCHET_BACKUP_REQUEST' ? [value ?? ''] : [])),
  );
}

test('the agent takes every request that a Job gives it', () => {
  const operations = all.map((job) => requestsOf(job).map((request) => parseRequest(request).operation));
  assert.deepEqual(operations, [
    ['backup'],
    ['backup'],
    ['look'],
    ['stage-drill', 'compare'],
    ['stage-drill', 'compare'],
  ]);
  assert.partialDeepStrictEqual(parseRequest(requestsOf(taken)[0] ?? ''), {
    id: 'uid-1',
    object: 'pvc://backups/default/orders/a.db',
    store: { directory: '/var/lib/etcd-ratchet/backups' },
    source: { clusterId: 'cafe', tls: { directory: '/etc/etcd-ratchet/etcd-tls' } },
    deadlineSeconds: 3600,
  });
});

test('a look is shown what reads the store, and neither a key of age nor a certificate of etcd', () => {
  const [request = ''] = requestsOf(looked);
  assert.partialDeepStrictEqual(parseRequest(request), { object: 's3://backups.example/a.db', sha256: 'f'.repeat(64) });
  assert.doesNotMatch(request, /identity|recipients/);
  const mounted = (looked.spec.template.spec.volumes ?? []).map(({ name }) => name);
  assert.deepEqual(mounted.toSorted(), ['s3-credentials', 'store-ca', 'tmp']);
});

test('every file that a request names lies in a volume that its container mounts', () => {
  for (const job of all) {
    const volumes = (job.spec.template.spec.volumes ?? []).map(({ name }) => name);
    assert.equal(new Set(volumes).size, volumes.length, 'two volumes of one name');
    for (const container of containersOf(job)) {
      const mounts = container.volumeMounts ?? [];
      for (const { name } of mounts) assert.ok(volumes.includes(name), `${container.name} mounts ${name}`);
      const named = (container.env ?? []).flatMap(({ value = '' }) => value.match(/(?<=")\/[a-z/.0-9-]+(?=")/g) ?? []);
      for (const file of named) {
        assert.ok(
          mounts.some(({ mountPath }) => file === mountPath || file.startsWith(`${mountPath}/`)),
          `${container.name} is not shown ${file}`,
        );
      }
    }
  }
});

test('only what writes is shown the public key, and only what reads the private key', () => {
  const secretsOf = (job: Job) =>
    containersOf(job).map(({ name, volumeMounts = [] }) => [name, volumeMounts.map((mount) => mount.name)] as const);
  const [[, writing = []] = []] = secretsOf(takenToS3);
  assert.ok(writing.includes('age-recipients') && !writing.includes('age-identity'));
  const seen = new Map(secretsOf(verifiedInS3));
  assert.ok(seen.get('stage')?.includes('age-identity'));
  for (const other of ['restore', 'etcd', 'compare']) assert.ok(!seen.get(other)?.includes('age-identity'), other);
  // etcd's images are shown no credentials at all.
  assert.deepEqual([seen.get('restore'), seen.get('etcd')], [['scratch'], ['scratch']]);
});

test('a volume of backups is read-only for the one that reads', () => {
  const stage = containersOf(verified).find(({ name }) => name === 'stage');
  assert.equal(stage?.volumeMounts?.find(({ name }) => name === 'backups')?.readOnly, true);
});

test('the pods of backups are restricted, bounded, never repeated, and go with their EtcdBackup', () => {
  for (const { metadata, spec } of all) {
    const pod = spec.template.spec;
    assert.partialDeepStrictEqual(pod, {
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    assert.equal(spec.backoffLimit, 0);
    assert.ok((spec.activeDeadlineSeconds ?? 0) > 3600 && (spec.ttlSecondsAfterFinished ?? 0) > 0);
    assert.partialDeepStrictEqual(metadata.ownerReferences?.[0], { kind: 'EtcdBackup', uid: 'uid-1' });
    for (const { securityContext, resources } of containersOf({ metadata, spec })) {
      assert.partialDeepStrictEqual(securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      assert.ok(resources?.requests?.memory);
    }
  }
});

test('only the etcd that is compared goes on beside the others, on loopback', () => {
  const beside = containersOf(verified).filter(({ restartPolicy }) => restartPolicy === 'Always');
  assert.deepEqual(
    beside.map(({ name }) => name),
    ['etcd'],
  );
  const urls = beside.flatMap(({ args = [] }) => args).filter((arg) => arg.includes('-urls='));
  assert.equal(urls.length, 4);
  for (const url of urls) assert.match(url, /=https?:\/\/127\.0\.0\.1:\d+$/);
});

test('scratch has room for the snapshot three times, or what the spec says, where it says', () => {
  const scratchOf = (job: Job) => job.spec.template.spec.volumes?.find(({ name }) => name === 'scratch');
  assert.deepEqual(scratchOf(verified), { name: 'scratch', emptyDir: { sizeLimit: `${3 * 1024 + 512}Mi` } });
  assert.partialDeepStrictEqual(scratchOf(verifiedInS3)?.ephemeral, {
    volumeClaimTemplate: { spec: { storageClassName: 'fast', resources: { requests: { storage: '20Gi' } } } },
  });
});

test('the longest names give Jobs whose names are labels', () => {
  const longest = { ...backup, metadata: { ...backup.metadata, name: 'x'.repeat(52) } };
  assert.ok(verifyJob(longest, { ...order, attempt: 99 }).metadata.name.length <= 63);
});

test('credentials of another scheme are never shown', () => {
  const { volumes } = agentAccess(location, fullBackup.spec.to, 'read');
  assert.deepEqual(
    volumes.map(({ name }) => name),
    ['backups', 'age-identity'],
  );
});
