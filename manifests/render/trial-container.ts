import type { EtcdPeer } from '../api/etcd-peer.ts';
import type { Container, EnvVar, PodSpec, Volume, VolumeMount } from '../kube-types.ts';
import { dataDirectory, trialArgs } from './etcd-args.ts';
import { dataVolume, etcdContainer } from './names.ts';
import { dataMountPath } from './pod-template.ts';
import { restorePaths } from './restore-paths.ts';
import { tlsMounts } from './tls-files.ts';

/**
 * An etcd as the member will be, on a copy of its restored data. A native sidecar: it ends with the pod. Image, limits,
 * environment and the files of the pod template are the member's own; its certificates are those of a drill.
 */
export function trialContainer(name: string, etcd: Container, peer: EtcdPeer, attempt: number): Container {
  const { image, resources, securityContext, env = [] } = etcd;
  const args = trialArgs(peer, restorePaths(dataDirectory, attempt).trial);
  return {
    name,
    ...(image !== undefined && { image }),
    restartPolicy: 'Always',
    command: ['/usr/local/bin/etcd'],
    args,
    env: env.filter((variable) => !isShadowed(variable, args)).map((variable) => ofContainer(variable, name)),
    ...(resources && { resources }),
    ...(securityContext && { securityContext }),
    volumeMounts: [{ name: dataVolume, mountPath: dataMountPath }, ...mountsOf(etcd, peer)],
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

/** What its mounts are of, besides the data. */
export function trialVolumes({ volumes = [] }: PodSpec, etcd: Container, peer: EtcdPeer): readonly Volume[] {
  const mounted = mountsOf(etcd, peer).map(({ name }) => name);
  return volumes.filter(({ name }) => mounted.includes(name));
}

function mountsOf({ volumeMounts = [] }: Container, peer: EtcdPeer): readonly VolumeMount[] {
  const own = [dataVolume, ...tlsMounts(peer).map(({ volume }) => volume)];
  return volumeMounts.filter(({ name }) => !own.includes(name));
}

/** etcd exits where a flag and its variable are both set. */
function isShadowed({ name }: EnvVar, args: readonly string[]): boolean {
  const flag = name
    .replace(/^ETCD_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
  return name.startsWith('ETCD_') && args.some((arg) => arg.startsWith(`--${flag}=`));
}

/** Its own limits, which are the member's. */
function ofContainer(variable: EnvVar, containerName: string): EnvVar {
  const limit = variable.valueFrom?.resourceFieldRef;
  if (limit?.containerName !== etcdContainer) return variable;
  return { ...variable, valueFrom: { resourceFieldRef: { ...limit, containerName } } };
}
