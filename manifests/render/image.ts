import type { EtcdPeerSpec } from '../api/etcd-peer.ts';
import { imageDefaults } from '../api/spec-defaults.ts';
import { formatVersion, parseVersion } from '../api/version.ts';

/**
 * The etcd image of a peer: the tag follows the version. etcd's are tagged `v3.6.16`; Kubernetes' copies `3.6.16-0`,
 * where the last number counts builds. With a digest the tag stays for the reader; container runtimes go by the digest.
 */
export function etcdImage({ image, version }: Pick<EtcdPeerSpec, 'image' | 'version'>): string {
  const repository = image.repository ?? imageDefaults.repository;
  const plain = formatVersion(parseVersion(version));
  const tag = /^(registry\.k8s\.io|k8s\.gcr\.io)\/etcd$/.test(repository) ? `${plain}-0` : `v${plain}`;
  return image.digest === undefined ? `${repository}:${tag}` : `${repository}:${tag}@${image.digest}`;
}
