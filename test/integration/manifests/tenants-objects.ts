import assert from 'node:assert/strict';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import type { Answering } from './api-server.ts';

/** What tenants make, and what kubelet says of it, where there is no kubelet. */

export function cluster(namespace: string, name: string, spec: Partial<EtcdCluster['spec']> = {}) {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name, namespace },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' }, tls: { mode: 'Disabled' }, ...spec },
  } as const;
}

/** Takes over what the pods of that app are said to be. */
export function adopting(namespace: string, name: string, app: string) {
  const existing = { clusterID: 'cafe', memberIDs: ['1'], podLabels: { app } };
  return cluster(namespace, name, { replicas: 1, bootstrap: { existing } });
}

interface Reported {
  readonly podIP?: string;
  readonly phase: 'Running' | 'Failed';
  readonly exitCode?: number;
}

/** A pod, as kubelet reports it; in the installation's namespace, one of etcd-ratchet. Its UID. */
export async function reportPod(
  api: Answering,
  namespace: string,
  name: string,
  { podIP, phase, exitCode }: Reported,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const labels = namespace === 'etcd-ratchet' ? { 'app.kubernetes.io/name': 'etcd-ratchet' } : { app: name };
  const found = await api.send('GET', `${path}/${name}`);
  const none = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
  const containers = [{ name: 'x', image: 'x', securityContext: none }];
  // No kubelet of the cluster takes it.
  const spec = { automountServiceAccountToken: false, securityContext, containers, schedulerName: 'none' };
  const made = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels }, spec };
  const { body } = found.status === 200 ? found : await api.send('POST', path, made);
  assert.equal(body.kind, 'Pod', body.message);
  const at = new Date().toISOString().replace(/\.\d+/, '');
  const state =
    exitCode === undefined
      ? { running: { startedAt: at } }
      : { terminated: { exitCode, reason: 'OOMKilled', startedAt: at, finishedAt: at } };
  const status = {
    phase,
    ...(podIP && { podIP, podIPs: [{ ip: podIP }], conditions: [{ type: 'Ready', status: 'True' }] }),
    containerStatuses: [{ name: 'x', ready: phase === 'Running', restartCount: 0, image: 'x', imageID: 'x', state }],
  };
  // Controllers write pods, too.
  const { resourceVersion: _, ...metadata } = (body as unknown as Pod).metadata;
  const answer = await api.send('PUT', `${path}/${name}/status`, { ...body, metadata, status });
  assert.equal(answer.status, 200, answer.body.message);
  return (answer.body as unknown as Pod).metadata.uid ?? assert.fail();
}
