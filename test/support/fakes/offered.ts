import { forBackupsLabels, type Named, namedBy } from '../../../manifests/render/offers.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeKube } from './kube.ts';

const resourceOf = {
  Secret: resources.secrets,
  ServiceAccount: resources.serviceAccounts,
  PersistentVolumeClaim: resources.volumeClaims,
} as const;

type Fake = Pick<FakeKube, 'seed' | 'stored'>;

/** What owners do in a world where backups may use whatever they name. */
export function offerNamed(kube: Fake, namespace: string, settings: Parameters<typeof namedBy>[0]): void {
  for (const one of namedBy(settings)) offer(kube, namespace, one);
}

/** Where it is missing, it is made. */
export function offer(kube: Fake, namespace: string, { kind, name }: Named): void {
  const isThere = kube
    .stored(resourceOf[kind])
    .some(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (isThere) return;
  const volume = kind === 'PersistentVolumeClaim' && { spec: { accessModes: ['ReadWriteOnce'], resources: {} } };
  kube.seed(resourceOf[kind], { metadata: { namespace, name, labels: forBackupsLabels }, ...volume });
}
