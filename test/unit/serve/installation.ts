import type { CronJob } from '../../../functions/pass/follow-up/chain.ts';
import { fleetSecretLabels } from '../../../functions/pass/secret.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube, type FakeKubeOptions } from '../../support/fakes/kube.ts';

export const namespace = 'etcd-ratchet';
export const url = 'https://git.example.com/platform/etcd.git';

/** What a pod of ours knows about itself. */
export const env = { POD_NAMESPACE: namespace, POD_NAME: 'serve', POD_UID: 'u', CRONJOB_NAME: 'etcd-ratchet' };

export const cronJob: CronJob & { readonly spec: { readonly suspend: boolean } } = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'etcd-ratchet', namespace, uid: 'cronjob' },
  spec: {
    suspend: false,
    jobTemplate: {
      metadata: { labels: { 'app.kubernetes.io/name': 'etcd-ratchet' } },
      spec: { template: { spec: { containers: [{ args: ['--namespace=$(POD_NAMESPACE)'] }] } } },
    },
  },
};

export function fleet(name: string, spec: Partial<EtcdFleet['spec']> = {}): EtcdFleet {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { name, namespace, uid: `uid-of-${name}`, generation: 1 },
    spec: {
      git: { url, ref: 'main' },
      webhook: { type: 'GitHub', secretName: 'webhook' },
      ...spec,
    },
  };
}

/** An API server with a fleet `production` that takes GitHub's deliveries, and the CronJob. */
export function installation(options: FakeKubeOptions = {}): FakeKube {
  const kube = createFakeKube(options);
  kube.seed(resources.cronJobs, cronJob);
  kube.seed(resources.fleets, fleet('production'));
  seedSecret(kube, 'webhook', { secret: 'secret' });
  return kube;
}

export function seedSecret(
  kube: FakeKube,
  name: string,
  data: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> = fleetSecretLabels,
): void {
  const encoded = Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels }, data: encoded };
  kube.seed(resources.secrets, secret);
}
