import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { ConfigMap } from '../../manifests/kube-types.ts';
import type { LeftOut } from '../interfaces/kube.ts';
import { sayLeftOut } from '../objects/left-out.ts';
import type { Listed } from '../stepping/lists.ts';
import { traced } from '../stepping/traced.ts';
import { wait } from './know/decision.ts';
import { failureOf } from './know/outcome.ts';
import { haltsAbove } from './observe/halts.ts';
import { knownFleets } from './observe/read-four-eyes.ts';
import { clustersWithoutRoom } from './observe/room.ts';
import { roomNow } from './observe/room-now.ts';
import { readObjects } from './observe/snapshot.ts';
import { heldByStages } from './observe/stages.ts';
import { type ClusterResult, told } from './result.ts';
import { type StepObjects, step } from './step.ts';
import type { StepContext } from './step-context.ts';

interface FullScope {
  readonly namespaces?: readonly string[] | undefined;
  /** All there are: how many may change what works at once. */
  readonly all: readonly EtcdCluster[];
  readonly listed?: readonly EtcdCluster[] | undefined;
  readonly fleets?: readonly EtcdFleet[];
  readonly onConfigMaps?: ((listed: Listed<ConfigMap>) => void) | undefined;
}

/** What full steps look at, by the UIDs of their clusters. */
export type Full = ReadonlyMap<string | undefined, StepObjects>;

/** A LIST per kind for all of them. @throws {KubeError} */
export async function readFull(context: StepContext, scope: FullScope): Promise<Full> {
  const { kube, signal } = context;
  const { namespaces, all, listed, fleets = [], onConfigMaps } = scope;
  const onlyOf = listed !== undefined;
  const at = kube.now() ?? new Date();
  const objects = await readObjects(kube, all, { namespaces, onlyOf, signal, onConfigMaps });
  const without = clustersWithoutRoom(objects, fleets);
  const stages = heldByStages(objects, fleets, kube.now() ?? new Date(), listed);
  const halts = haltsAbove(objects, fleets);
  const known = knownFleets(kube, fleets, signal);
  const now = roomNow({ kube, namespaces, all: objects, fleets, at, signal });
  return new Map(
    objects.map((one) => {
      const { uid = '' } = one.cluster.metadata;
      const [crowdedBy, stage, haltAbove] = [without.get(uid), stages.get(uid), halts.get(uid)];
      const held = { ...(crowdedBy && { crowdedBy }), ...(stage && { stage }), ...(haltAbove && { haltAbove }) };
      return [uid, { ...one, ...held, fleets: known, roomNow: now }];
    }),
  );
}

/** The step of a cluster that is among those, or why there was none. */
export async function fullStep(
  context: StepContext,
  { metadata }: EtcdCluster,
  full: Full,
  skipped: 'unheard' | undefined,
): Promise<ClusterResult> {
  const next = full.get(metadata.uid);
  if (!next) throw new TypeError(`${metadata.namespace}/${metadata.name} is stepped and was not among all`);
  const why = context.kube.leftOut().get(metadata.namespace ?? '');
  return why
    ? notSeen(context, next, 'NamespaceLeftOut', tooLarge(next.cluster, why))
    : stepOne(context, skipped ? { ...next, unheard: true } : next);
}

function stepOne(context: StepContext, objects: StepObjects): Promise<ClusterResult> {
  const { namespace = '', name } = objects.cluster.metadata;
  return traced('step', { cluster: `${namespace}/${name}` }, async (note) => {
    using _ = await context.asking?.(`${namespace}/${name}`);
    const result = await stepOrSayWhyNot(context, objects);
    note({ decision: result.decision.kind, reason: result.decision.reason, outcome: result.outcome });
    return result;
  });
}

async function stepOrSayWhyNot(context: StepContext, objects: StepObjects): Promise<ClusterResult> {
  try {
    const result = await step(context, objects);
    context.log({ ...told(result), problem: result.problem }, result.message);
    return result;
  } catch (error) {
    return notSeen(context, objects, 'StepFailed', failureOf(error).message);
  }
}

function tooLarge({ metadata: { namespace = '' } }: EtcdCluster, why: LeftOut): string {
  return `no step: ${sayLeftOut(namespace, why)}`;
}

/** Nothing is decided of it in this pass, and its status stays as it is. */
function notSeen(
  { log }: StepContext,
  { cluster }: StepObjects,
  reason: 'StepFailed' | 'NamespaceLeftOut',
  message: string,
): ClusterResult {
  const { namespace = '', name } = cluster.metadata;
  const decision = wait(reason, message, { on: 'time', afterSeconds: reason === 'StepFailed' ? 5 : 60 });
  log({ cluster: `${namespace}/${name}`, outcome: 'failed', problem: message }, 'the step could not be taken');
  return {
    namespace,
    name,
    decision,
    reason: decision.reason,
    message,
    outcome: 'failed',
    problem: message,
    workRemains: true,
    cluster,
  };
}
