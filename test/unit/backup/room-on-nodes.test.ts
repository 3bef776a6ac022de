import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuantity } from '../../../manifests/api/quantity.ts';
import type { Container, Job } from '../../../manifests/kube-types.ts';
import { takeJob, verifyJob } from '../../../manifests/render/backup-jobs.ts';
import { smallerResources } from '../../../manifests/render/member-resources.ts';
import { backup as plain } from '../manifests/api-documents.ts';

const backup = { ...plain, metadata: { ...plain.metadata, uid: 'uid-1' } };
const image = 'registry.example.com/etcd-ratchet:v1';
const location = { scheme: 'pvc', bucket: 'backups', path: 'default/orders/a.db' } as const;
/** A member that fills most of a node: three nodes have no room for a fourth. */
const resources = { requests: { cpu: '6', memory: '24Gi' }, limits: { memory: '24Gi' } };
const gibibyte = 2 ** 30;

/** As the scheduler counts: sidecars run beside all that comes after them. */
function memoryAsked({ spec }: Job): number {
  const { initContainers = [], containers } = spec.template.spec;
  const of = ({ resources: { requests, limits } = {} }: Container) =>
    parseQuantity(requests?.memory ?? limits?.memory ?? '0');
  let beside = 0;
  let most = 0;
  for (const one of initContainers) {
    if (one.restartPolicy === 'Always') beside += of(one);
    else most = Math.max(most, beside + of(one));
  }
  return Math.max(most, beside + containers.reduce((sum, one) => sum + of(one), 0));
}

test('a backup is taken on nodes that have no room for another member', () => {
  const job = takeJob(backup, { image, attempt: 1, location, endpoints: [], resources });
  assert.ok(memoryAsked(job) <= gibibyte, `${memoryAsked(job) / gibibyte} GiB for the agent, which uses half of one`);
});

test('the drill of a backup finds a node where a member does', () => {
  const etcdImage = 'quay.io/coreos/etcd:v3.6.16';
  const job = verifyJob(backup, { image, attempt: 1, location, etcdImage, snapshotBytes: gibibyte, resources });
  assert.ok(memoryAsked(job) <= 25 * gibibyte, `${memoryAsked(job) / gibibyte} GiB, and a member has 24`);
});

test('our program beside members takes the same keys in the same ratio, and no device', () => {
  const taken = smallerResources({
    requests: { cpu: '6', memory: '24Gi', 'example.com/gpu': 1 },
    limits: { cpu: '12', memory: '48Gi', 'ephemeral-storage': '1Gi', 'example.com/gpu': 1 },
  });
  assert.deepEqual(taken, {
    requests: { cpu: '500m', memory: '256Mi' },
    limits: { cpu: '1000m', memory: '512Mi', 'ephemeral-storage': '1Gi' },
  });
  const odd = { requests: { cpu: '1', memory: '500Mi' }, limits: { cpu: '3e0', memory: '1500Mi' } };
  assert.deepEqual(smallerResources(odd), {
    requests: { cpu: '334m', memory: '171Mi' },
    limits: { cpu: '1000m', memory: '512Mi' },
  });
  const small = { requests: { cpu: 0, memory: '256Mi' } };
  assert.deepEqual(smallerResources(small), small);
});
