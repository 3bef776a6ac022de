import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { JobPods } from '../../../manifests/api/job-pods.ts';
import type { PodTemplate } from '../../../manifests/api/member-settings.ts';
import type { Job, PodSpec } from '../../../manifests/kube-types.ts';
import { jobMetadata, jobPodsOf, placedPod } from '../../../manifests/render/job-pods.ts';
import { labels, podSelector } from '../../../manifests/render/names.ts';
import { recoveryJob } from '../../../manifests/render/recovery-job.ts';
import { peerOf } from './build-fixtures.ts';

const toleration = { key: 'dedicated', value: 'etcd', effect: 'NoSchedule' } as const;
const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } };
const own: PodSpec = { containers: [], securityContext: { runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532 } };

function placed(template: PodTemplate, given?: JobPods): PodSpec {
  return placedPod(own, jobPodsOf(given, { podTemplate: template }));
}

test('a Job runs where the members run, and is pulled with their secrets', () => {
  const spec = {
    nodeSelector: { pool: 'etcd' },
    tolerations: [toleration],
    affinity: { nodeAffinity, podAntiAffinity: { ofMembers: true } },
    imagePullSecrets: [{ name: 'members' }],
    runtimeClassName: 'gvisor',
    schedulerName: 'packing',
  };
  const image = { pullSecrets: [{ name: 'pull' }, { name: 'members' }] };
  const pod = placedPod(own, jobPodsOf(undefined, { image, podTemplate: { spec } }));
  assert.deepEqual(pod, {
    ...own,
    ...spec,
    affinity: { nodeAffinity },
    imagePullSecrets: [{ name: 'pull' }, { name: 'members' }],
  });
});

test('nothing else of the members’ template gets into a Job, no label and no annotation', () => {
  const template = {
    metadata: { labels: { app: 'orders' }, annotations: { 'linkerd.io/inject': 'enabled' } },
    spec: {
      containers: [{ name: 'sidecar', image: 'sidecar' }],
      volumes: [{ name: 'more', emptyDir: {} }],
      hostAliases: [{ ip: '10.0.0.1', hostnames: ['store'] }],
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone' }],
      terminationGracePeriodSeconds: 90,
    },
  };
  assert.deepEqual(placed(template), own);
  assert.equal(jobPodsOf(undefined, { podTemplate: template }).metadata, undefined);
});

test('what a backup says itself replaces or joins what the members have', () => {
  const template = { spec: { nodeSelector: { pool: 'etcd' }, tolerations: [toleration], schedulerName: 'packing' } };
  const other = { operator: 'Exists', key: 'spot' } as const;
  const affinity = { nodeAffinity: {} };
  const spec = { nodeSelector: { pool: 'spot' }, tolerations: [other], affinity };
  assert.deepEqual(placed(template, { spec }), {
    ...own,
    nodeSelector: { pool: 'spot' },
    tolerations: [toleration, other],
    affinity,
    schedulerName: 'packing',
  });
});

test('a Job names no user where the platform assigns them: the members’ template says so, or it', () => {
  const template = { spec: { securityContext: { runAsUser: null, runAsGroup: null, fsGroup: null } } };
  assert.deepEqual(placed(template).securityContext, { runAsNonRoot: true });
  assert.deepEqual(placed(template, { users: 'Ours' }).securityContext, own.securityContext);
  assert.deepEqual(placed({}, { users: 'OfPlatform' }).securityContext, { runAsNonRoot: true });
  assert.deepEqual(placed({ spec: { securityContext: { runAsUser: 70 } } }).securityContext, own.securityContext);
});

test('a template that would lend our privileges lends a Job nothing either', () => {
  const refused = { spec: { hostNetwork: true, nodeSelector: { pool: 'etcd' } } };
  assert.deepEqual(jobPodsOf(undefined, { podTemplate: refused }), { spec: {}, users: 'Ours' });
});

test('labels that a pod is found by are ours, whatever an author says', () => {
  const { labels: found } = jobMetadata({ [labels.name]: 'etcd-backup' }, { labels: { [labels.name]: 'etcd' } });
  assert.notEqual(found[labels.name], podSelector('orders')[labels.name]);
});

test('meshes inject nothing into a Job, though they do into members, unless its author asks', () => {
  const inject = 'sidecar.istio.io/inject';
  assert.equal(jobMetadata({}, {}, { labels: { [inject]: 'true' } }).labels[inject], 'false');
  assert.equal(jobMetadata({}, { labels: { [inject]: 'true' } }).labels[inject], 'true');
  const peer = peerOf();
  const metadata = { labels: { [inject]: 'true' }, annotations: { 'linkerd.io/inject': 'enabled' } };
  const meshed = { ...peer, spec: { ...peer.spec, podTemplate: { metadata } } };
  const order = { image: 'us:v1', id: '0123456789ab', attempt: 1, withoutCopy: false };
  const job = recoveryJob(meshed, order).spec.template.metadata;
  assert.equal(job?.labels?.[inject], 'false');
  assert.equal(job?.annotations?.['linkerd.io/inject'], 'disabled');
});

test('the CronJob’s pods are kept out of meshes by the same words', () => {
  const file = join(import.meta.dirname, '../../../manifests/install/workload/cronjob.yaml');
  const { spec } = parse(readFileSync(file, 'utf8')) as { readonly spec: { readonly jobTemplate: Pick<Job, 'spec'> } };
  const { metadata } = spec.jobTemplate.spec.template;
  assert.deepEqual(metadata, jobMetadata({ [labels.name]: 'etcd-ratchet' }));
});
