import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { Secret } from '../../../../manifests/kube-types.ts';
import { leadsTo, unbracketed } from '../../../../manifests/render/hosts.ts';
import { podHost } from '../../../../manifests/render/names.ts';
import type { EtcdTls } from '../../../interfaces/etcd.ts';
import type { Slot } from '../../know/observation.ts';

/** What etcd is asked with; or why there is nothing to ask with. */
export type EtcdAccess =
  | { readonly kind: 'plaintext' }
  | { readonly kind: 'tls'; readonly tls: EtcdTls }
  | { readonly kind: 'none'; readonly cause: string };

/** Out of our own Secret. Members are dialled by address, and each must show a certificate in its own name. */
export function credentialsIn(
  secret: Secret | undefined,
  secretName: string,
  { metadata }: Pick<EtcdCluster, 'metadata'>,
  slots: readonly Slot[],
): EtcdAccess {
  if (!secret) return { kind: 'none', cause: `there is no Secret ${secretName} to speak to etcd with` };
  const { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca } = secret.data ?? {};
  if (!cert || !key || !ca) {
    return { kind: 'none', cause: `Secret ${secretName} needs tls.crt, tls.key and ca.crt to speak to etcd with` };
  }
  const { namespace = '', name } = metadata;
  const serverName = (endpoint: string) => {
    const slot = slots.find(({ pod }) => pod?.address !== undefined && leadsTo(endpoint, pod.address));
    return slot ? podHost(namespace, name, slot.name) : unbracketed(new URL(endpoint).hostname);
  };
  return { kind: 'tls', tls: { cert: decoded(cert), key: decoded(key), ca: decoded(ca), serverName } };
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}
