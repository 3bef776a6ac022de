import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type { Job, PodSpec } from '../../../manifests/kube-types.ts';
import { takeJob, verifyJob } from '../../../manifests/render/backup-jobs.ts';
import { logJob } from '../../../manifests/render/log-job.ts';
import { memberResources } from '../../../manifests/render/member-resources.ts';
import { podTemplate } from '../../../manifests/render/pod-template.ts';
import { recoveryJob } from '../../../manifests/render/recovery-job.ts';
import { restoreJob } from '../../../manifests/render/restore-job.ts';
import { pruneJob } from '../../../manifests/render/schedule-objects.ts';
import { until } from '../../e2e/support/until.ts';
import { peerOf } from '../../unit/manifests/build-fixtures.ts';
import { shareApiServer } from '../shared-api-server.ts';
import { noteQuota } from './noted-quota.ts';

/** Whether every pod of ours is admitted where its member is, by the admission of a real API server. */
const api = await shareApiServer();
after(() => api[Symbol.asyncDispose]());

const quota = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'all' },
  spec: { hard: { 'requests.cpu': '4', 'requests.memory': '4Gi', 'limits.cpu': '4', 'limits.memory': '4Gi' } },
};
const range = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'small' },
  spec: { limits: [{ type: 'Container', max: { cpu: '500m', memory: '300Mi' }, default: { cpu: '250m' } }] },
};
const ratio = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'ratio' },
  spec: { limits: [{ type: 'Container', maxLimitRequestRatio: { cpu: '3', memory: '3' } }] },
};
const third = { requests: { cpu: '1', memory: '1000Mi' }, limits: { cpu: '3', memory: '3000Mi' } };
const least = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'least' },
  spec: { limits: [{ type: 'Container', min: { cpu: '1', memory: '1000Mi' } }] },
};
const limited = { requests: { cpu: '100m', memory: '256Mi' }, limits: { cpu: '500m', memory: '300Mi' } };

async function inNamespace(name: string, ...objects: readonly { readonly kind: string }[]): Promise<void> {
  await api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
  for (const object of [account, ...objects]) {
    const path = `/api/v1/namespaces/${name}/${object.kind.toLowerCase()}s`;
    const { status, body } = await api.send('POST', path, object);
    assert.equal(status, 201, body.message);
    if (object.kind !== 'ResourceQuota') continue;
    await noteQuota(api, name, quota.metadata.name);
    // Admission has its own cache of quotas.
    await until(
      'the quota is known',
      async () => (await admits(name, 'first', podTemplate(peerOf({ resources: limited })).spec)).status === 201,
    );
  }
}

/** The member's own pod, and every one that we make for it. */
function podsFor(peer: EtcdPeer): Readonly<Record<string, PodSpec>> {
  const location = { scheme: 's3', bucket: 'backups', path: 'one' } as const;
  const to = { object: 's3://backups/one', s3: { region: 'x' } };
  const backup = { metadata: { name: 'one', namespace: 'x', uid: 'b' }, spec: { clusterName: 'orders', to } };
  const resources = memberResources(peer.spec);
  const common = { image: 'ours', attempt: 1, location, resources };
  const schedule: EtcdBackupSchedule = {
    ...{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdBackupSchedule' },
    metadata: { name: 'nightly', namespace: 'x', uid: 's' },
    spec: { schedule: '30 2 * * *', template: { clusterName: 'orders', to } },
  };
  const pruned = { after: backup as unknown as EtcdBackup, spare: [] };
  const specOf = ({ spec }: Job) => spec.template.spec;
  const snapshot = { object: 's3://backups/one', s3: { region: 'x' } };
  return {
    member: podTemplate(peer).spec,
    log: specOf(logJob(peer, { image: 'ours', situation: '0123456789', node: 'node-a' })),
    recovery: specOf(recoveryJob(peer, { image: 'ours', id: 'r', attempt: 1, withoutCopy: false })),
    restore: specOf(restoreJob(peer, { image: 'ours', id: 'r', attempt: 1, snapshot, token: 't', bump: 1 })),
    rollback: specOf(
      restoreJob(peer, { image: 'ours', id: 'r', attempt: 1, snapshot, token: 't', bump: 1, trial: true }),
    ),
    backup: specOf(takeJob(backup as unknown as EtcdBackup, { ...common, endpoints: ['https://10.0.0.1:2379'] })),
    drill: specOf(verifyJob(backup as unknown as EtcdBackup, { ...common, etcdImage: 'etcd', snapshotBytes: 2 ** 20 })),
    retention: specOf(pruneJob(schedule, pruned, { image: 'ours', resources })),
  };
}

async function admits(namespace: string, name: string, spec: PodSpec): Promise<{ status: number; message: string }> {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec };
  const { status, body } = await api.send('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
  return { status, message: body.message ?? '' };
}

describe('every pod of a member is admitted where the member is:', () => {
  for (const [namespace, what, objects, resources] of [
    ['demands-limits', 'under a ResourceQuota that demands limits', [quota], limited],
    ['small-range', 'under a LimitRange with a maximum, with limits', [range], limited],
    ['ratio', 'under a LimitRange with a ratio of limit to request', [ratio], third],
    ['defaulted-range', 'under a LimitRange with a maximum, without limits', [range], undefined],
  ] as const) {
    test(what, async () => {
      await inNamespace(namespace, ...objects);
      const peer = peerOf(resources && { resources });
      for (const [name, spec] of Object.entries(podsFor(peer))) {
        const { status, message } = await admits(namespace, name, spec);
        assert.equal(status, 201, `${name}: ${message}`);
      }
    });
  }

  test('with resources of the whole pod, of which etcd has all', async () => {
    await inNamespace('whole-pod');
    const resources = { requests: { cpu: '2', memory: '4Gi' }, limits: { cpu: '2', memory: '4Gi' } };
    const peer = peerOf({ resources, podTemplate: { spec: { resources } } });
    for (const [name, spec] of Object.entries(podsFor(peer))) {
      const { status, message } = await admits('whole-pod', name, spec);
      assert.equal(status, 201, `${name}: ${message}`);
    }
  });

  test('under a LimitRange with a minimum, where only one runs at a time', async () => {
    await inNamespace('least', least);
    const { member, recovery, restore } = podsFor(peerOf({ resources: third }));
    for (const [name, spec] of Object.entries({ member, recovery, restore })) {
      const { status, message } = await admits('least', name, spec ?? assert.fail(name));
      assert.equal(status, 201, `${name}: ${message}`);
    }
  });

  test('and where the member is not, the quota does what it is for', async () => {
    const { status, message } = await admits('demands-limits', 'member', podTemplate(peerOf()).spec);
    assert.equal(status, 403);
    assert.match(message, /must specify limits\.cpu/);
  });
});
