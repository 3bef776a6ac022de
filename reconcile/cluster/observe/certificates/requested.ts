import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certificateResource,
} from '../../../../manifests/render/cert-manager-certificate.ts';
import { annotations, labels } from '../../../../manifests/render/names.ts';
import { type Kube, KubeError } from '../../../interfaces/kube.ts';
import { listIn, type Where } from '../../../objects/list-in.ts';
import { kindText, notInstalled, whyNotRead } from '../../know/certificates/cert-manager-trouble.ts';
import type { Requested } from '../../know/certificates/requested.ts';
import type { CertManagerView } from '../../know/observation.ts';

/** A cluster, and what says how it was born. */
interface Owner {
  readonly cluster: EtcdCluster;
  readonly volumeClaims: readonly PersistentVolumeClaim[];
}

/**
 * All our Certificates in one LIST, and no request where no cluster uses cert-manager: the kind may not be installed,
 * or not be readable. An error is a value, so that it stops no other cluster.
 */
export async function listRequested(
  kube: Kube,
  read: readonly Owner[],
  options: Where,
): Promise<(cluster: EtcdCluster) => Requested> {
  const asking = new Set(read.filter(asksCertManager).map(({ cluster }) => cluster));
  if (asking.size === 0) return () => ({ kind: 'unasked' });
  const found = await listAll(kube, options);
  return (cluster) => {
    if (!asking.has(cluster)) return { kind: 'unasked' };
    if (found.kind !== 'known') return found;
    const { name, namespace } = cluster.metadata;
    const items = found.items.filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[labels.cluster] === name,
    );
    return { kind: 'known', items };
  };
}

function asksCertManager({ cluster, volumeClaims }: Owner): boolean {
  return (
    cluster.spec.tls?.mode === 'CertManager' ||
    volumeClaims.some(({ metadata }) => metadata.annotations?.[annotations.tlsMode] === 'CertManager')
  );
}

async function listAll(kube: Kube, options: Where): Promise<Exclude<Requested, { kind: 'unasked' }>> {
  try {
    const labelSelector = `${labels.managedBy}=etcd-ratchet`;
    const { items } = await listIn<CertManagerCertificate>(kube, certificateResource, { ...options, labelSelector });
    return { kind: 'known', items };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return whyNot(error);
  }
}

function whyNot(error: KubeError): Extract<CertManagerView, { kind: 'unknown' }> {
  const kind = kindText(certificateResource);
  if (error.status !== 404) return { kind: 'unknown', ...whyNotRead(error, `list ${kind}`) };
  const missing = `spec.tls.mode is CertManager, and the API server does not serve ${kind}`;
  return { kind: 'unknown', ...notInstalled(missing) };
}
