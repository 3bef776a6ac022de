import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { annotations, labels } from '../../../manifests/render/names.ts';
import type { DesiredSpec, DesiredTree, SpecProblem } from '../../../reconcile/fleet/reading.ts';

export const sha = 'a'.repeat(40);
export const revision = `main@sha1:${sha}`;
const url = 'https://git.example.com/platform/etcd.git';

export function fleetWith(
  status: Partial<NonNullable<EtcdFleet['status']>> = {},
  { name = 'production', prune = false, annotations = {}, forge = false } = {},
): EtcdFleet {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { name, namespace: 'platform', uid: `uid-${name}`, generation: 1, resourceVersion: '1', annotations },
    spec: {
      git: { url, ref: 'main', path: '.' },
      prune,
      ...(forge && { forge: { type: 'GitHub' as const, secretName: 'forge' } }),
    },
    status: { observedGeneration: 1, source: { url, ref: 'main', path: '.' }, ...status },
  };
}

export function clusterOf(
  name: string,
  {
    owner = 'production',
    annotated = {},
    ...metadata
  }: { owner?: string; annotated?: Record<string, string> } & Partial<EtcdCluster['metadata']> = {},
  status?: EtcdCluster['status'],
): EtcdCluster {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: {
      name,
      namespace: 'payments',
      uid: `uid-${name}`,
      generation: 1,
      ...(owner && { labels: { [labels.fleet]: `uid-${owner}` } }),
      annotations: { ...(owner && { [annotations.fleetName]: `platform/${owner}` }), ...annotated },
      ...metadata,
    },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' }, tls: { mode: 'Disabled' } },
    ...(status && { status }),
  };
}

export function specOf(name: string, file = `${name}.yaml`): DesiredSpec {
  const metadata = { name, namespace: 'payments' };
  return { object: { metadata, spec: {} }, kind: 'EtcdCluster', namespace: 'payments', name, file, line: 1, column: 1 };
}

export function treeOf(specs: readonly DesiredSpec[], more: Partial<DesiredTree> = {}): DesiredTree {
  return { specs, problems: [], files: new Set(specs.map(({ file }) => file)), complete: true, notes: [], ...more };
}

export function entryOf(name: string, source = `${name}.yaml`, generation = 1) {
  return { namespace: 'payments', name, uid: `uid-${name}`, generation, source };
}

export function problemAbout(file: string, name?: string): SpecProblem {
  const about = name === undefined ? {} : { kind: 'EtcdCluster', namespace: 'payments', name };
  return { file, line: 4, column: 9, message: 'replicas must be a number', ...about };
}

export function conditions(...pairs: readonly (readonly [string, 'True' | 'False', string?])[]) {
  return pairs.map(([type, status, message = 'said']) => ({
    type,
    status,
    reason: 'Because',
    message,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));
}
