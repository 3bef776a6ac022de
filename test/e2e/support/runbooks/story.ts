import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { condition, isConverged } from '../conditions.ts';
import type { Scene } from '../scene.ts';
import { clusterYaml } from '../specs.ts';
import { until } from '../until.ts';

/** Another reason of a page, which befalls the cluster of a story as well: a cluster of its own would cost more. */
export interface Incident {
  /** What some condition, refusal or decision of the status then says. */
  readonly reason: string;
  happen(scene: Scene, name: string): Promise<unknown>;
  /** What its page asks for. Absent: the next commit takes its place, that of an incident or of the story. */
  correct?(scene: Scene, name: string): Promise<unknown>;
}

/** What gets in the way of what a page has begun, and how the same page ends that. */
export interface Interruption {
  /** What `Stalled` then says. */
  readonly reason: string;
  /** Makes it happen, before anything ticks again. Absent: what was done before. */
  happen?(scene: Scene, name: string): Promise<unknown>;
  /** Anchors of the sections that are typed then, in this order. */
  readonly sections: readonly string[];
  /** What replaces names in them. */
  names?(scene: Scene, name: string): Promise<Readonly<Record<string, string>>>;
  /** What the page asks for elsewhere. Before its commands. */
  correct?(scene: Scene, name: string): Promise<unknown>;
}

/** How a reason comes to be, and how its runbook ends it. */
export interface Story {
  /** What happens, as the name of a test. */
  readonly title: string;
  /** Under `docs/runbooks/`. */
  readonly page: string;
  /** Anchors of the sections that are typed, in this order, after what stands above the first one. */
  readonly sections: readonly string[];
  /** Of those that only look: typed before `correct`, with which what they look at may go. */
  readonly looks?: readonly string[];
  /** What the status says when its reader opens the page. */
  readonly reason: string;
  /** Of the cluster. */
  readonly name: string;
  /** What happens to the cluster before it is born. */
  readonly earlier?: readonly Incident[];
  /** What happens after its sections are typed, one after the other. Nothing ticks before the first step of each. */
  readonly interrupted?: readonly Interruption[];
  /** What happens to it when the story is over. */
  readonly afterwards?: readonly Incident[];
  /** Makes it happen; what it returns replaces names in the page. */
  happen(scene: Scene, name: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Whether the reason is there; default: `Stalled` has it. */
  readonly seen?: (cluster: EtcdCluster) => boolean;
  /** What the page asks its reader to do elsewhere: a commit, a quota. Before its commands. */
  correct?(scene: Scene, name: string): Promise<void>;
  /** When it is over; default: Converged. */
  readonly over?: (cluster: EtcdCluster) => boolean;
  /** What must be so when it is over, beside what the status says. */
  check?(scene: Scene, name: string): Promise<void>;
  /** Its invocations have the rights of an installation that knows no Jobs. */
  readonly withoutJobs?: true;
  /** The page ends with the cluster deleted. */
  readonly leaves?: true;
}

export const isOver = isConverged;

export type Fields = Readonly<Record<string, unknown>>;

export async function push({ kubectl, namespace }: Scene, name: string, fields: Fields = {}): Promise<void> {
  const stdin = clusterYaml(name, namespace, { replicas: 1, ...fields });
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
}

/** A cluster that serves, with so many members. */
export async function born(scene: Scene, name: string, fields: Fields = {}): Promise<EtcdCluster> {
  await push(scene, name, fields);
  return await scene.tickUntil(name, isConverged, 120);
}

/** Some condition has the reason. */
export function says(reason: string, type?: string): (cluster: EtcdCluster) => boolean {
  return (cluster) =>
    type === undefined
      ? (cluster.status?.conditions ?? []).some((one) => one.reason === reason)
      : condition(cluster, type)?.reason === reason;
}

/** The status says so anywhere, about the newest spec. */
export function tells(reason: string): (cluster: EtcdCluster) => boolean {
  return ({ metadata, status }) =>
    status !== undefined &&
    status.observedGeneration === metadata.generation &&
    [...(status.conditions ?? []), ...(status.refusals ?? []), status.lastDecision].some(
      (one) => one?.reason === reason,
    );
}

/** A person edits the annotations of a PVC; `undefined`: takes one away. */
export async function annotate(scene: Scene, claim: string, values: Readonly<Record<string, string | undefined>>) {
  const changes = Object.entries(values).map(([key, value]) => (value === undefined ? `${key}-` : `${key}=${value}`));
  await within(scene, 'annotate', '--overwrite', 'pvc', claim, ...changes);
}

/** As a command of its own: kubectl within the scene's namespace. */
export function within({ kubectl, namespace }: Scene, ...args: readonly string[]): Promise<string> {
  return kubectl(['-n', namespace, ...args]);
}

/** Their PVCs are deleted, and their pods, which had kept them. */
export async function loseVolumes(scene: Scene, ...names: readonly string[]): Promise<void> {
  await within(scene, 'delete', 'pvc', ...names, '--wait=false');
  await within(scene, 'delete', 'pod', ...names.map((name) => `${name}-0`), '--grace-period=0', '--force');
  await until('the PVCs to go', async () => {
    const found = await Promise.all(
      names.map((name) => scene.get<PersistentVolumeClaim>(resources.volumeClaims, name)),
    );
    return found.every((one) => one === undefined);
  });
}
