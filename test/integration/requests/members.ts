import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type {
  ConfigMap,
  OwnerReference,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '../../../manifests/kube-types.ts';
import { configMap } from '../../../manifests/render/config-map.ts';
import { podName } from '../../../manifests/render/names.ts';
import { etcdPeer, peerInputs } from '../../../manifests/render/peer.ts';
import { statefulSet } from '../../../manifests/render/stateful-set.ts';
import { volumeClaim } from '../../../manifests/render/volume-claim.ts';
import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import type { Inputs } from '../../../reconcile/cluster/know/spec/inputs.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { clusterName, type SomeScene } from './scene.ts';

/** What there is of one member, made by the same builders as in real life; in order, each with the one before. */
export interface MemberStart {
  readonly ordinal?: number;
  readonly record?: Partial<VolumeRecord>;
  /** Its volume does not say yet which member it is: etcd does. */
  readonly unsealed?: true;
  /** The last thing that there is; by default the pod. */
  readonly upTo?: 'volume' | 'peer' | 'configMap' | 'statefulSet' | 'pod';
  /** PersistentVolume behind its PVC. */
  readonly bound?: string;
  readonly storageClassName?: string;
  /** Whom they belong to, instead of this cluster. */
  readonly owners?: Partial<Readonly<Record<'peer' | 'configMap' | 'statefulSet', Owner>>>;
  readonly pod?: PodStart;
}

/** `none`: of someone else; `earlier`: of what had this member's name before. */
type Owner = 'none' | 'earlier' | 'peer';

export interface PodStart {
  readonly ready?: boolean;
  /** Where its container runs. */
  readonly address?: string;
  readonly revision?: string;
  readonly node?: string;
}

export const revision = 'orders-current';

export function recordOf(scene: SomeScene, more: Partial<VolumeRecord> = {}): VolumeRecord {
  const urls = [0, 1, 2].map((n) => ({
    name: `${clusterName}-${n}`,
    url: `http://${podName(`${clusterName}-${n}`)}.${clusterName}-peers.${scene.namespace}.svc:2380`,
  }));
  return {
    token: 'token',
    initialCluster: urls,
    clusterId: 'c1',
    memberId: 'a1',
    version: '3.6.16',
    tlsMode: scene.cluster.spec.tls?.mode ?? 'Managed',
    state: 'sealed',
    ...more,
  };
}

export function inputsOf(scene: SomeScene, more: Partial<Inputs> = {}): Inputs {
  return { ...peerInputs(scene.cluster.spec), ...more };
}

export async function member(scene: SomeScene, start: MemberStart = {}): Promise<void> {
  const { ordinal = 0, upTo = 'pod', owners = {}, bound, storageClassName } = start;
  const order = ['volume', 'peer', 'configMap', 'statefulSet', 'pod'] as const;
  const has = (kind: (typeof order)[number]) => order.indexOf(kind) <= order.indexOf(upTo);
  const { memberId, ...nameless } = recordOf(scene, start.record);
  const record: VolumeRecord = start.unsealed
    ? { ...nameless, state: 'joining' }
    : { ...nameless, ...(memberId !== undefined && { memberId }) };
  const { token, initialCluster } = record;
  const bootstrap = { token, initialCluster: [...initialCluster], state: 'New' as const };
  const built = etcdPeer(scene.cluster, scene.cluster.spec, ordinal, bootstrap);
  const storage = { ...built.spec.storage, ...(storageClassName !== undefined && { storageClassName }) };
  const claimed = volumeClaim({ ...built, spec: { ...built.spec, storage } }, record);
  // As it stands on it, also that a member may have run there, which no PVC is made with.
  const claim = await claimOf(scene, withMark(claimed, record), bound);
  if (!has('peer')) return;
  const peer = await scene.make<EtcdPeer>(resources.peers, owned(built, owners.peer));
  if (has('configMap')) {
    const wanted = configMap(peer, record, claim);
    const byPeer = owners.configMap === 'peer' ? [referenceTo(peer, 'EtcdPeer')] : undefined;
    await scene.make<ConfigMap>(resources.configMaps, owned(wanted, owners.configMap, byPeer));
  }
  if (has('statefulSet')) {
    const set = owned(statefulSet(peer), owners.statefulSet);
    const seen = { observedGeneration: 1, replicas: 1, updateRevision: revision };
    const made = await scene.makeWithStatus<StatefulSet>(resources.statefulSets, set, seen);
    if (has('pod')) await podOf(scene, made, start.pod);
  }
}

function withMark(claim: PersistentVolumeClaim, { mayHaveStarted }: VolumeRecord): PersistentVolumeClaim {
  if (!mayHaveStarted) return claim;
  const annotations = { ...claim.metadata.annotations, 'etcd.ratchet.dev/may-have-started': mayHaveStarted };
  return { ...claim, metadata: { ...claim.metadata, annotations } };
}

async function claimOf(scene: SomeScene, claim: PersistentVolumeClaim, bound?: string): Promise<PersistentVolumeClaim> {
  if (bound === undefined) return scene.make(resources.volumeClaims, claim);
  const wanted = { ...claim, spec: { ...claim.spec, volumeName: bound } };
  return scene.makeWithStatus(resources.volumeClaims, wanted, { phase: 'Bound', capacity: { storage: '1Gi' } });
}

async function podOf(scene: SomeScene, set: StatefulSet, start: PodStart = {}): Promise<void> {
  const { template } = set.spec;
  const labels = { ...template.metadata.labels, 'controller-revision-hash': start.revision ?? revision };
  const { name } = set.metadata;
  const metadata = {
    ...template.metadata,
    name: podName(name),
    labels,
    ownerReferences: [referenceTo(set, 'StatefulSet')],
  };
  const spec = { ...template.spec, ...(start.node !== undefined && { nodeName: start.node }) };
  const now = new Date().toISOString();
  const status = {
    phase: start.address === undefined && start.ready === undefined ? 'Pending' : 'Running',
    ...(start.ready && { conditions: [{ type: 'Ready', status: 'True' }] }),
    ...(start.address !== undefined && {
      podIP: start.address,
      podIPs: [{ ip: start.address }],
      containerStatuses: [
        {
          name: 'etcd',
          ready: true,
          restartCount: 0,
          image: 'etcd',
          imageID: 'etcd',
          state: { running: { startedAt: now } },
        },
      ],
    }),
  };
  await scene.makeWithStatus<Pod>(resources.pods, { metadata, spec } as Pod, status);
}

function owned<T extends KubeObject>(object: T, owner: Owner | undefined, by?: readonly OwnerReference[]): T {
  if (owner === undefined) return object;
  const [ours] = object.metadata.ownerReferences ?? [];
  const earlier = ours ? [{ ...ours, uid: '00000000-0000-4000-8000-000000000000' }] : [];
  const ownerReferences = by ?? (owner === 'earlier' ? earlier : []);
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

function referenceTo({ metadata: { name, uid = '' } }: KubeObject, kind: 'EtcdPeer' | 'StatefulSet'): OwnerReference {
  const apiVersion = kind === 'EtcdPeer' ? resources.peers.apiVersion : resources.statefulSets.apiVersion;
  return { apiVersion, kind, name, uid, controller: true };
}
