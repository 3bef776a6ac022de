import type { EtcdPeer } from '../api/etcd-peer.ts';
import { memberSecretName } from './certificate-names.ts';

/** A member's certificates: two Secrets, mounted read-only, whose files follow the Secrets without a restart. */

export const tlsMountPath = '/etc/etcd/tls';

interface TlsMount {
  readonly volume: string;
  readonly secretName: string;
  readonly directory: string;
}

/** None in a plaintext cluster. */
export function tlsMounts({ metadata, spec }: EtcdPeer): readonly TlsMount[] {
  if (spec.tls.mode === 'Disabled') return [];
  return [
    {
      volume: 'peer-tls',
      secretName: memberSecretName(metadata.name, 'peer'),
      directory: `${tlsMountPath}/peer`,
    },
    {
      volume: 'server-tls',
      secretName: memberSecretName(metadata.name, 'server'),
      directory: `${tlsMountPath}/server`,
    },
  ];
}

/** etcd's flags for them: without a certificate of the right CA no connection is accepted. */
export function tlsFlags(peer: EtcdPeer): Readonly<Record<string, string | boolean>> {
  const [members, server] = tlsMounts(peer);
  if (!members || !server) return {};
  return {
    'peer-cert-file': `${members.directory}/tls.crt`,
    'peer-key-file': `${members.directory}/tls.key`,
    'peer-trusted-ca-file': `${members.directory}/ca.crt`,
    'peer-client-cert-auth': true,
    'cert-file': `${server.directory}/tls.crt`,
    'key-file': `${server.directory}/tls.key`,
    'trusted-ca-file': `${server.directory}/ca.crt`,
    'client-cert-auth': true,
  };
}
