import type { EtcdPeer } from '../api/etcd-peer.ts';
import { isRecord } from '../json.ts';
import type { Container, EnvVar, PodSpec, PodTemplateSpec, ResourceRequirements } from '../kube-types.ts';
import { dataDirectory, etcdArgs } from './etcd-args.ts';
import { etcdImage } from './image.ts';
import { withRequests } from './member-defaults.ts';
import { annotations, dataVolume, etcdContainer, peerLabels, podSelector, ports } from './names.ts';
import { mergePodSpec } from './pod-template-merge.ts';
import { privilegesIn } from './privileges.ts';
import { probes } from './probes.ts';
import { restrictedRights } from './restricted.ts';
import { tlsMounts } from './tls-files.ts';

export const dataMountPath = dataDirectory.slice(0, dataDirectory.lastIndexOf('/'));

/** What the installation has for members: it is no input of theirs. */
export interface Offered {
  /** A class that is there: a pod with another one is refused. */
  readonly priorityClassName?: string;
}

/**
 * The pod of one member: good defaults, the cluster's `podTemplate` merged over them, and then the basis of identity,
 * data and the seal put back, whatever the template says.
 */
export function podTemplate(peer: EtcdPeer, offered: Offered = {}): PodTemplateSpec {
  const { metadata, spec } = peer;
  // An EtcdPeer with such a template was written by hand: a step replaces it by the cluster's.
  const wanted = spec.podTemplate && privilegesIn(spec.podTemplate).length > 0 ? undefined : spec.podTemplate;
  const { trust } = spec.tls;
  // Trust is read at etcd's start: another one is another template, and is rolled like any other change.
  const given = { ...wanted?.metadata?.annotations, ...(trust !== undefined && { [annotations.trust]: trust }) };
  const merged = mergePodSpec({ ...offered, ...defaults(peer) }, wanted?.spec ?? {});
  return {
    metadata: {
      labels: { ...wanted?.metadata?.labels, ...peerLabels(spec.clusterName, metadata.name) },
      ...(Object.keys(given).length > 0 && { annotations: given }),
    },
    spec: withFixedParts(merged as unknown as PodSpec, peer),
  };
}

function defaults({ metadata, spec }: EtcdPeer): PodSpec {
  return {
    containers: [
      {
        name: etcdContainer,
        image: etcdImage(spec),
        ports: [
          { name: 'client', containerPort: ports.client, protocol: 'TCP' },
          { name: 'peer', containerPort: ports.peer, protocol: 'TCP' },
          { name: 'metrics', containerPort: ports.metrics, protocol: 'TCP' },
        ],
        resources: spec.resources ?? {},
        ...probes(),
        // Clients that lose their connection should find another member: until the Service knows that this one goes, it
        // serves.
        lifecycle: { preStop: { sleep: { seconds: 2 } } },
        // What etcd said before it exited is then in the pod's status, where a step can read it.
        terminationMessagePolicy: 'FallbackToLogsOnError',
        securityContext: { ...restrictedRights, readOnlyRootFilesystem: true },
      },
    ],
    // Never the namespace's default token: etcd asks nothing of Kubernetes.
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: 'Always',
    // On SIGTERM etcd hands its leadership over; longer would only keep a drain waiting.
    terminationGracePeriodSeconds: 30,
    ...((spec.image.pullSecrets ?? []).length > 0 && { imagePullSecrets: spec.image.pullSecrets ?? [] }),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      fsGroup: 1000,
      // Not on every start: a large volume would take minutes.
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    // Preferred, not required: a cluster on fewer nodes than members should still be born.
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: {
              topologyKey: 'kubernetes.io/hostname',
              labelSelector: { matchLabels: podSelector(spec.clusterName) },
            },
          },
        ],
      },
    },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: podSelector(spec.clusterName) },
      },
    ],
    volumes: [{ name: dataVolume, persistentVolumeClaim: { claimName: metadata.name } }],
  };
}

/** Where a container says nothing of it. */
function restricted(container: Container): Container {
  const { capabilities, ...given } = container.securityContext ?? {};
  const all = { ...restrictedRights.capabilities, ...(isRecord(capabilities) && capabilities) };
  return { ...container, securityContext: { ...restrictedRights, ...given, capabilities: all } };
}

function withFixedParts(merged: PodSpec, peer: EtcdPeer): PodSpec {
  const ours = [
    { name: dataVolume, persistentVolumeClaim: { claimName: peer.metadata.name } },
    ...tlsMounts(peer).map(({ volume, source }) => ({ name: volume, ...source })),
  ];
  return {
    ...merged,
    restartPolicy: 'Always',
    containers: merged.containers.map((container) =>
      container.name === etcdContainer ? fixedContainer(container, peer, merged.resources) : restricted(container),
    ),
    ...(merged.initContainers && { initContainers: merged.initContainers.map(restricted) }),
    volumes: [...ours, ...(merged.volumes ?? []).filter(({ name }) => !ours.some((fixed) => fixed.name === name))],
  };
}

function fixedContainer(container: Container, peer: EtcdPeer, ofPod: ResourceRequirements | undefined): Container {
  const fixed = bootstrapEnv(peer.metadata.name);
  const runtime = goRuntimeEnv(container.resources ?? {});
  const given = (container.env ?? []).filter(({ name }) => !fixed.some((variable) => variable.name === name));
  const ours = [
    { name: dataVolume, mountPath: dataMountPath },
    ...tlsMounts(peer).map(({ volume, directory }) => ({ name: volume, mountPath: directory, readOnly: true })),
  ];
  const mounts = (container.volumeMounts ?? []).filter(
    ({ name, mountPath }) => !ours.some((fixed) => fixed.name === name || fixed.mountPath === mountPath),
  );
  return {
    ...container,
    resources: withRequests(container.resources ?? {}, ofPod),
    command: ['/usr/local/bin/etcd'],
    args: etcdArgs(peer),
    env: [...fixed, ...runtime.filter(({ name }) => !given.some((variable) => variable.name === name)), ...given],
    volumeMounts: [...ours, ...mounts],
  };
}

/** From the ConfigMap, which kubelet reads at every start of the container: that is how the seal takes effect. */
function bootstrapEnv(configMapName: string): EnvVar[] {
  return ['ETCD_INITIAL_CLUSTER', 'ETCD_INITIAL_CLUSTER_STATE'].map((name) => ({
    name,
    valueFrom: { configMapKeyRef: { name: configMapName, key: name } },
  }));
}

/** Go sees the node's cores and memory, not the container's; with limits it should use what it may. */
function goRuntimeEnv({ limits }: ResourceRequirements): EnvVar[] {
  if (!isRecord(limits)) return [];
  return [
    ...('cpu' in limits ? [limitEnv('GOMAXPROCS', 'limits.cpu')] : []),
    ...('memory' in limits ? [limitEnv('GOMEMLIMIT', 'limits.memory')] : []),
  ];
}

function limitEnv(name: string, resource: string): EnvVar {
  return { name, valueFrom: { resourceFieldRef: { containerName: etcdContainer, resource } } };
}
