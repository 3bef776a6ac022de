import assert from 'node:assert/strict';
import { fleetSecretLabels } from '../../../functions/pass/secret.ts';
import { isReason, type Kube, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from './until.ts';

/**
 * What a scene makes and takes away for itself, by the client that it has: a kubectl is a process for each. What a
 * person would type stays kubectl.
 */

const rbac = 'rbac.authorization.k8s.io/v1';

/** A namespace, and the service account that its fleet applies as: it may touch clusters here and nowhere else. */
export async function furnishNamespace(kube: Kube, namespace: string): Promise<{ readonly uid: string }> {
  const { metadata } = await kube.create<KubeObject>(resources.namespaces, {
    ...{ apiVersion: 'v1', kind: 'Namespace' },
    metadata: { name: namespace },
  });
  const make = (resource: Resource, name: string, fields: object, labels?: Readonly<Record<string, string>>) =>
    kube.create<KubeObject>(resource, {
      ...{ apiVersion: resource.apiVersion, kind: resource.kind },
      metadata: { name, namespace, ...(labels && { labels }) },
      ...fields,
    });
  await Promise.all([
    make({ apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' }, 'fleet', {}),
    make(resources.secrets, 'forge', { stringData: { token: 'forge-token' } }, fleetSecretLabels),
    make({ apiVersion: rbac, kind: 'Role', plural: 'roles' }, 'fleet', {
      rules: [
        {
          apiGroups: ['etcd.ratchet.dev'],
          resources: ['etcdclusters', 'etcdbackups', 'etcdbackupschedules'],
          verbs: ['get', 'list', 'create', 'patch', 'update', 'delete'],
        },
      ],
    }),
    make({ apiVersion: rbac, kind: 'RoleBinding', plural: 'rolebindings' }, 'fleet', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'fleet' },
      subjects: [{ kind: 'ServiceAccount', name: 'fleet', namespace }],
    }),
  ]);
  return { uid: metadata.uid ?? assert.fail('a namespace without a UID') };
}

export function fleetObject(
  namespace: string,
  url: string,
  forgeUrl: string,
  spec: Readonly<Record<string, unknown>>,
): KubeObject & { readonly spec: Readonly<Record<string, unknown>> } {
  return {
    ...{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdFleet' },
    metadata: { name: 'fleet', namespace },
    spec: {
      git: { url, ref: 'main', path: 'clusters' },
      forge: { type: 'Gitea', apiURL: `${forgeUrl}/api/v1`, secretName: 'forge' },
      serviceAccountName: 'fleet',
      ...spec,
    },
  };
}

/** Repeats where another writer was first: the garbage collector, or a follow-up that is still under way. */
export async function releaseFinalizers(
  kube: Kube,
  resource: Resource,
  namespace: string,
  name: string,
): Promise<void> {
  await until(`${resource.plural} ${name} without finalizers`, async () => {
    const found = await kube.get<KubeObject>(resource, namespace, name);
    if (found === undefined || (found.metadata.finalizers ?? []).length === 0) return true;
    try {
      await kube.update(resource, { ...found, metadata: { ...found.metadata, finalizers: [] } });
      return true;
    } catch (error) {
      if (isReason(error, 'Conflict')) return false;
      throw error;
    }
  });
}
