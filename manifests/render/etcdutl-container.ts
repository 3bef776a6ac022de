import type { EtcdPeer } from '../api/etcd-peer.ts';
import type { Container } from '../kube-types.ts';
import { dataDirectory } from './etcd-args.ts';
import { formatInitialCluster } from './initial-cluster.ts';
import { dataVolume } from './names.ts';
import { dataMountPath } from './pod-template.ts';
import { restorePaths } from './restore-paths.ts';

export interface EtcdutlOrder {
  readonly attempt: number;
  /** The new cluster's ID is made of it. */
  readonly token: string;
  /** By so many revisions the restored store is ahead of the snapshot, so that no watcher goes back in time. */
  readonly bump: number;
}

/** The member alone in a cluster of its own: members of the snapshot's cluster can't join it. */
export function etcdutlContainer(
  name: string,
  { image, resources, securityContext }: Container,
  peer: EtcdPeer,
  { attempt, token, bump }: EtcdutlOrder,
): Container {
  const { initialCluster } = peer.spec.bootstrap;
  const alone = initialCluster.filter((member) => member.name === peer.metadata.name);
  const paths = restorePaths(dataDirectory, attempt);
  return {
    name,
    ...(image !== undefined && { image }),
    command: ['/usr/local/bin/etcdutl'],
    args: [
      'snapshot',
      'restore',
      paths.snapshot,
      `--data-dir=${paths.data}`,
      `--name=${peer.metadata.name}`,
      `--initial-cluster=${formatInitialCluster(alone)}`,
      `--initial-cluster-token=${token}`,
      `--initial-advertise-peer-urls=${alone[0]?.url ?? ''}`,
      `--bump-revision=${bump}`,
      '--mark-compacted',
    ],
    ...(resources && { resources }),
    ...(securityContext && { securityContext }),
    volumeMounts: [{ name: dataVolume, mountPath: dataMountPath }],
    // What it said before it failed is then in the pod's status, where a step can read it.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}
