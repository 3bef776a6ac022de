import { isHigher } from '../../../../../manifests/api/version.ts';
import { inputsHash } from '../../../../../manifests/render/inputs-hash.ts';
import { recoveryContainers } from '../../../../../manifests/render/names.ts';
import type { NewLife } from '../../../../../manifests/render/new-life.ts';
import type { Recovery } from '../../../../../manifests/render/volume-record.ts';
import type { BegunLife } from '../../../know/actions/recovery.ts';
import { tokenOfAuthorities } from '../../../know/certificates/token.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import { urlOf } from '../../../know/health/health.ts';
import { recordOf } from '../../../know/life.ts';
import type { RecoveryJobView, RecoveryPodView, Slot } from '../../../know/observation.ts';
import { stuckRecoveryPod } from '../../../know/pods/stuck.ts';
import { type Attempted, newLifeOf, tokenOfLife } from '../../../know/recovery/new-life.ts';
import { mostRemembered } from '../../../know/recovery/outvoted.ts';
import type { Situation } from '../../../know/situation.ts';
import type { Inputs } from '../../../know/spec/inputs.ts';
import { startingInputs } from '../../held-version.ts';
import { leaving, soon } from './after-job.ts';
import { failed, mayDoWithoutCopy, notStarting, repeating } from './recovery-failures.ts';

/**
 * The Job that reduces the member list to one: made when every member is seen stopped, and repeated where that helps.
 */
export function force(chosen: Slot, recovery: Recovery, situation: Situation): Decision | undefined {
  const { recovery: view, effective } = situation;
  const { name, volume, peer } = chosen;
  if (!volume) return undefined;
  if (view?.kind !== 'known') {
    return refuse(
      'RecoveryNotPermitted',
      `Jobs cannot be read: ${view?.cause ?? 'they were not read'}`,
      'apply the roles of this release of etcd-ratchet: kubectl apply -k manifests/install',
    );
  }
  if (!peer?.current || peer.leaving) return bringPeer(chosen, situation);
  const wanted = inputsFor(peer.inputs, effective.inputs);
  const isOutdated = inputsHash(wanted) !== inputsHash(peer.inputs);
  const { job, pods } = view;
  if (job) return follow(chosen, { job, pods, isOutdated }, recovery, situation);
  if (pods.length > 0) return leaving('the pod of an earlier attempt is terminating', situation);
  if (isOutdated) {
    return act(
      { kind: 'reconfigure-members', peers: [{ name, uid: peer.uid }], inputs: wanted },
      'CuringConfiguration',
      `giving ${name} the configuration of the spec before the Job is made`,
    );
  }
  const withoutCopy = mayDoWithoutCopy(situation);
  const begins = begunWith(chosen, { id: recovery.id, attempt: recovery.attempt + 1 }, situation);
  return act(
    {
      kind: 'force-new-cluster',
      volume: { name, uid: volume.uid },
      peer: { name, uid: peer.uid },
      id: recovery.id,
      attempt: recovery.attempt + 1,
      withoutCopy,
      ...(begins && { begins }),
    },
    'ForcingNewCluster',
    begins
      ? `making the first member of a new etcd cluster from a copy of the data of ${name}, which stay on its volume`
      : `making a one-member cluster from the data of ${name}${withoutCopy ? ', without a copy, as approved' : '; a copy of them is kept on its volume'}`,
  );
}

/** `undefined`: the data are forced where they are, as a person approved, or as nothing else is left. */
function begunWith(chosen: Slot, of: Attempted, situation: Situation): NewLife | undefined {
  const record = recordOf(chosen);
  return record && !mayDoWithoutCopy(situation) ? newLifeOf(record, of, situation) : undefined;
}

/** The Job is made from the peer alone. */
function bringPeer(chosen: Slot, situation: Situation): Decision {
  const { name, peer } = chosen;
  const record = recordOf(chosen);
  if (peer || !record)
    return wait('OldObjectsLeaving', `the old peer of ${name} is being deleted`, { on: 'change', of: 'peers' });
  return act(
    { kind: 'prepare-members', members: [{ name, record }], inputs: startingInputs(situation) },
    'AdoptingVolumes',
    `preparing ${name}, from which the cluster goes on`,
  );
}

/** What exists of an attempt. */
interface Attempt {
  readonly job: RecoveryJobView;
  readonly pods: readonly RecoveryPodView[];
  /** The spec by now asks for something else than its pod is made from. */
  readonly isOutdated: boolean;
}

function follow(
  chosen: Slot,
  { job, pods, isOutdated }: Attempt,
  { id, attempt }: Recovery,
  situation: Situation,
): Decision {
  const { name } = chosen;
  const [pod] = pods;
  if (job.leaving) return leaving('the Job of an earlier attempt is being deleted', situation);
  const isStale = job.attempt !== `${id}/${attempt}`;
  if (isStale) return repeating(job);
  const ended = job.begins ? pods.find((one) => one.succeeded && one.job === job.uid) : undefined;
  if (job.begins && (job.completed || ended)) return conclude(chosen, { job, pod: ended, id, attempt }, situation);
  // Kubelet starts that etcd again and again.
  const isBroken = job.failed || pod?.failure?.container === recoveryContainers.force;
  if (isBroken && isOutdated) return repeating(job);
  // What was approved since makes another one.
  if (job.begins && mayDoWithoutCopy(situation)) return repeating(job);
  if (isBroken) return failed(name, pod, job, situation);
  if (!job.begins && pod?.ready && !pod.leaving) return conclude(chosen, { job, pod, id, attempt }, situation);
  const stuck = notStarting(job, pod, situation);
  if (stuck) return isOutdated ? repeating(job) : stuck;
  return stuckRecoveryPod(situation) ?? underWay(name, attempt);
}

interface Concluded extends Attempted {
  readonly job: RecoveryJobView;
  readonly pod: RecoveryPodView | undefined;
}

function conclude(chosen: Slot, { job, pod, id, attempt }: Concluded, situation: Situation): Decision {
  const { name, volume } = chosen;
  const begun = job.begins ? begunBy(chosen, { id, attempt }, situation) : undefined;
  return act(
    {
      kind: 'conclude-recovery',
      volume: { name, uid: volume?.uid ?? '' },
      job: { name: job.name, uid: job.uid },
      ...(pod && { pod: { name: pod.name, uid: pod.uid } }),
      id,
      attempt,
      ...(begun && { begun }),
    },
    'ConcludingRecovery',
    begun
      ? `what ${name} had of etcd cluster ${begun.gaveUp?.at(-1)} begins a new one, above all revisions that clients saw`
      : `${name} is its own leader: from now on it starts without --force-new-cluster`,
  );
}

/** What the volume of the first member remembers, whose data the Job has made. */
function begunBy(chosen: Slot, of: Attempted, situation: Situation): BegunLife | undefined {
  const record = recordOf(chosen);
  const { peer } = chosen;
  if (!record || !peer) return undefined;
  const { slots } = situation;
  const former = [...(record.gaveUp ?? []), ...(record.clusterId === undefined ? [] : [record.clusterId])];
  return {
    token: tokenOfLife(record, of),
    initialCluster: [{ name: chosen.name, url: urlOf(chosen) ?? '' }],
    version: peer.inputs.version,
    gaveUp: former.slice(-mostRemembered),
    authoritiesOf: tokenOfAuthorities(slots, record.token),
  };
}

/** Attempts that ended without a result, each for a cause that may pass, before a person is told. They go on. */
const manyAttempts = 10;

function underWay(name: string, attempt: number): Decision {
  const message = `a Job makes a one-member cluster from the data of ${name}`;
  if (attempt <= manyAttempts) return wait('RecoveringData', message, ...soon);
  const before = `${attempt - 1} before it were killed or deleted`;
  return { ...refuse('RecoveringData', `${message}; ${before}`, whatKills), waited: true };
}

const whatKills =
  'see what ends its pods: their events and those of the node tell of evictions and restarts; the Job is made again each time';

/**
 * A Job that cannot run is cured by the spec of now, except for a higher version: the rules for upgrades apply that
 * when the cluster is whole again.
 */
function inputsFor(present: Inputs, wanted: Inputs): Inputs {
  return isHigher(wanted.version, present.version) ? present : wanted;
}
