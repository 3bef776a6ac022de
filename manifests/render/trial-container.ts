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
function trialContainer(etcd: Container, { peer, attempt, names, forces }: TrialOrder): Container {
  const { image, resources, securityContext, env = [] } = etcd;
  const name = names.trial;
  const args = trialArgs(peer, { ...restorePaths(dataDirectory, attempt).trial, ...(forces && { forces }) });
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

/** Volumes of the template under no name of ours: else a container of its author would have what only the agent may. */
function apartFrom(ours: readonly Volume[], spec: PodSpec): PodSpec {
  const taken = ours.map(({ name }) => name).filter((name) => name !== dataVolume);
  const named = <T extends { readonly name: string }>(one: T): T =>
    taken.includes(one.name) ? { ...one, name: `member-${one.name}` } : one;
  const mounting = ({ volumeMounts, ...container }: Container): Container => ({
    ...container,
    ...(volumeMounts && { volumeMounts: volumeMounts.map(named) }),
  });
  const { volumes = [], containers, initContainers = [] } = spec;
  return {
    ...spec,
    containers: containers.map(mounting),
    initContainers: initContainers.map(mounting),
    volumes: volumes.map(named),
  };
}

/** What runs before the data get their name, and the volumes that are of no other container of the Job. */
interface Trial {
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}

/**
 * The etcd, after what the pod template runs before it: it may need what these leave. No container and no volume of
 * theirs has a name of ours.
 */
export function trialOf(given: PodSpec, order: TrialOrder): Trial {
  const { peer, names, volumes: ours } = order;
  const spec = apartFrom(ours, given);
  const { initContainers = [], volumes = [] } = spec;
  const etcd = spec.containers.find(({ name }) => name === etcdContainer);
  if (!etcd) return { containers: [], volumes: [] };
  const others = Object.values<string>(names);
  const before = initContainers.map(({ env, ...one }) => ({
    ...one,
    ...(others.includes(one.name) && { name: `member-${one.name}` }),
    ...(env && { env: env.map((variable) => ofContainer(variable, names.trial)) }),
  }));
  const mounts = [...mountsOf(etcd, peer), ...before.flatMap(({ volumeMounts = [] }) => volumeMounts)];
  return {
    containers: [...before, trialContainer(etcd, order)],
    volumes: volumes.filter(({ name }) => mounts.some((mount) => mount.name === name)),
  };
}

interface TrialOrder {
  readonly peer: EtcdPeer;
  readonly attempt: number;
  /** Of the Job's containers. */
  readonly names: Readonly<Record<'trial', string>>;
  /** It forgets all other members first. */
  readonly forces?: true;
  /** Of the Job's other containers. */
  readonly volumes: readonly Volume[];
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

/** Limits of the trial, which are the member's. */
function ofContainer(variable: EnvVar, containerName: string): EnvVar {
  const limit = variable.valueFrom?.resourceFieldRef;
  if (limit?.containerName !== etcdContainer) return variable;
  return { ...variable, valueFrom: { resourceFieldRef: { ...limit, containerName } } };
}
