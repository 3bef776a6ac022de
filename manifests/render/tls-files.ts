import type { EtcdPeer } from '../api/etcd-peer.ts';
import { parseVersion } from '../api/version.ts';
import { memberSecretName, ownNamesOf } from './certificate-names.ts';
import { revocationsKey, revocationsName } from './names.ts';

/** A member's certificates: two Secrets, mounted read-only, whose files follow the Secrets without a restart. */

export const tlsMountPath = '/etc/etcd/tls';

interface TlsMount {
  readonly volume: string;
  readonly source: Record<string, unknown>;
  readonly directory: string;
}

/** None in a plaintext cluster. */
export function tlsMounts({ metadata, spec }: EtcdPeer): readonly TlsMount[] {
  if (spec.tls.mode === 'Disabled') return [];
  return [
    ...(['peer', 'server'] as const).map((purpose) => ({
      volume: `${purpose}-tls`,
      // Readable by etcd's group only, which fsGroup makes the files' own.
      source: { secret: { secretName: memberSecretName(metadata.name, purpose), defaultMode: 0o440 } },
      directory: `${tlsMountPath}/${purpose}`,
    })),
    ...(spec.tls.revocations ? [revocationsMount(spec.clusterName)] : []),
  ];
}

/** By its key: no pod starts before the list is there, since etcd refuses all clients where it can't read it. */
function revocationsMount(cluster: string): TlsMount {
  const items = [{ key: revocationsKey, path: revocationsKey }];
  return {
    volume: 'revocations',
    source: { configMap: { name: revocationsName(cluster), items } },
    directory: `${tlsMountPath}/revocations`,
  };
}

/** 3.7 knows only the later word, 3.5 only the earlier one. */
function anySource({ spec }: EtcdPeer): string {
  const flag = 'peer-skip-client-san-verification';
  return parseVersion(spec.version).minor < 6 ? `experimental-${flag}` : flag;
}

/**
 * Both lists have a name of the cluster's own, so that none can lock out members or us. etcd looks at DNS names of the
 * leaf, and between members in both directions. Its gateway would refuse itself, and say so again and again.
 */
function nameFlags({ metadata, spec }: EtcdPeer): Readonly<Record<string, string | boolean>> {
  const { allowedNames, clientNames = [] } = spec.tls;
  if (allowedNames === undefined) return {};
  const own = ownNamesOf({ namespace: metadata.namespace ?? 'default', cluster: spec.clusterName });
  return {
    'peer-cert-allowed-hostname': own.members,
    'client-cert-allowed-hostname': [own.clients, ...clientNames].join(','),
    'enable-grpc-gateway': false,
  };
}

/** etcd's flags for them: without a certificate of the right CA no connection is accepted. */
export function tlsFlags(peer: EtcdPeer): Readonly<Record<string, string | boolean>> {
  const [members, server, revoked] = tlsMounts(peer);
  if (!members || !server) return {};
  return {
    'peer-cert-file': `${members.directory}/tls.crt`,
    'peer-key-file': `${members.directory}/tls.key`,
    'peer-trusted-ca-file': `${members.directory}/ca.crt`,
    'peer-client-cert-auth': true,
    ...(peer.spec.tls.peerSourceAddress === 'Any' && { [anySource(peer)]: true }),
    'cert-file': `${server.directory}/tls.crt`,
    'key-file': `${server.directory}/tls.key`,
    'trusted-ca-file': `${server.directory}/ca.crt`,
    'client-cert-auth': true,
    ...nameFlags(peer),
    ...(revoked && { 'client-crl-file': `${revoked.directory}/${revocationsKey}` }),
  };
}
