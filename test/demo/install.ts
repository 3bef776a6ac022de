import { join } from 'node:path';
import { fleetSecretLabels } from '../../functions/pass/secret.ts';
import type { Kubectl } from '../support/cluster/kubectl.ts';
import type { PeoplesForge } from '../support/forge/peoples-forge.ts';
import { localSettings } from '../support/network.ts';

const checkout = join(import.meta.dirname, '../..');

const kinds = ['etcdfleets', 'etcdclusters', 'etcdpeers'].map((plural) => `${plural}.etcd.ratchet.dev`);

/** Installs what a user installs: the kustomization as it is. */
export async function install(kubectl: Kubectl): Promise<void> {
  await kubectl(['apply', '--server-side', '-k', join(checkout, 'manifests/install')]);
  await kubectl(['wait', '--for=condition=Established', '--timeout=30s', 'crd', ...kinds]);
}

/** The namespace, the fleet and its Secrets, as a platform team would set them up once. */
export function fleetObjects({ gitUrl, apiUrl, token }: Pick<PeoplesForge, 'gitUrl' | 'apiUrl' | 'token'>): string {
  const namespace = 'etcd-ratchet';
  const shared = { namespace, labels: fleetSecretLabels };
  const objects = [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'etcd-ratchet-settings', namespace },
      data: localSettings,
    },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'payments' } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'etcd-ratchet-fleet', namespace: 'payments' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'etcd-ratchet-fleet' },
      subjects: [{ kind: 'ServiceAccount', name: 'fleet', namespace }],
    },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'git-credentials', ...shared }, stringData: { token } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'forge-token', ...shared }, stringData: { token } },
    {
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdFleet',
      metadata: { name: 'production', namespace },
      spec: {
        git: { url: gitUrl, ref: 'main', path: 'clusters/prod', secretName: 'git-credentials' },
        forge: { type: 'Gitea', apiURL: apiUrl, secretName: 'forge-token' },
      },
    },
  ];
  return objects.map((object) => JSON.stringify(object)).join('\n---\n');
}
