import { claimNamedIn, parseLocation } from '../../../../../manifests/api/object-template.ts';
import { placeRefusal } from '../../../../../manifests/egress/host-refusal.ts';
import { inputsHash } from '../../../../../manifests/render/inputs-hash.ts';
import { kubectl } from '../../../../../manifests/render/kubectl.ts';
import { restoreContainers } from '../../../../../manifests/render/restore-job.ts';
import { isOfRecovery, type VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { offered } from '../../../../reasons/offers.ts';
import {
  hostRefusedCure,
  notOfferedCure,
  onMember,
  restoringIn,
  type WantedSnapshot,
  wantedSnapshot,
} from '../../../know/backups/restore.ts';
import { beginningOf, tooFarAhead } from '../../../know/backups/revisions.ts';
import { waivesTrial } from '../../../know/backups/rollback.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import { recordOf } from '../../../know/life.ts';
import type { RecoveryJobView, RecoveryView, Slot } from '../../../know/observation.ts';
import { isLasting } from '../../../know/pods/job-pod.ts';
import { stuckRecoveryPod } from '../../../know/pods/stuck.ts';
import type { Situation } from '../../../know/situation.ts';
import { isOnOtherDisk } from '../../../know/volumes/sealed-disk.ts';
import { configureBeforeStart } from '../../configure-before-start.ts';
import { lackedBeforeAStart } from '../certificates/certify.ts';
import { leaving, leftover, podLeaving, soon } from '../recovery/after-job.ts';
import { handOver } from '../recovery/hand-over.ts';
import { recoveredLost } from '../recovery/recovery-doubts.ts';
import { failed, notStarted, podStuck, repeating } from './restore-failures.ts';
import { runMembers } from './run-members.ts';
import { trialFailed } from './trial-failures.ts';

/**
 * A birth from a snapshot: one member is recorded, and a Job makes its data. Then it starts, sealed from the beginning;
 * the others join it as learners.
 *
 * Guards I5: the member can't start on an empty directory, and no client is admitted before it is sealed. Its token is
 * new, so members of the snapshot's cluster can't join it.
 */
export function beginFromSnapshot(situation: Situation): Decision | undefined {
  const { slots, life } = situation;
  if (life.stage !== 'birth') return undefined;
  const chosen = restoringIn(slots.filter((slot) => !life.strays.includes(slot)));
  const record = chosen && recordOf(chosen);
  if (!chosen?.volume || !record) return undefined;
  const isRecovery = isOfRecovery(record);
  if (isRecovery && isOnOtherDisk(chosen)) return recoveredLost(chosen, chosen.volume, 'on another disk');
  if (chosen.volume.leaving || chosen.volume.lost) {
    if (isRecovery) return recoveredLost(chosen, chosen.volume, chosen.volume.leaving ? 'being deleted' : 'lost');
    return record.gaveUp ? rollbackLost(chosen, record.gaveUp, situation) : volumeLost(chosen, situation);
  }
  if (record.state === 'restored') {
    const of = isRecovery ? 'recovery' : 'restore';
    return leftover(situation, of) ?? podLeaving(situation, of) ?? handOver(chosen, record, situation);
  }
  if (chosen.statefulSet || chosen.pod) return replacedWhileItRan(chosen, situation);
  const wanted = wantedSnapshot(situation.cluster);
  if (!wanted) return removed(chosen);
  return restore({ chosen, record, wanted }, situation);
}

interface Restore {
  readonly chosen: Slot;
  readonly record: VolumeRecord;
  readonly wanted: WantedSnapshot;
  /** Of a rollback. */
  readonly approval?: string;
}

type View = Extract<RecoveryView, { kind: 'known' }>;

/** From the recorded member to the end of its Job. */
export function restore(restore: Restore, situation: Situation): Decision {
  const { recovery: view } = situation;
  const { chosen } = restore;
  if (view?.kind !== 'known') {
    return refuse(
      'RecoveryNotPermitted',
      `Jobs cannot be read: ${view?.cause ?? 'they were not read'}`,
      'apply the roles of this release of etcd-ratchet (manifests/install)',
    );
  }
  if (!chosen.peer?.current || chosen.peer.leaving)
    return wait('OldObjectsLeaving', `the old peer of ${chosen.name} is being deleted`, { on: 'change', of: 'peers' });
  if (view.job) return follow(restore, view.job, view, situation);
  if (view.pods.length > 0) return leaving('the pod of an earlier attempt is terminating', situation);
  return begin(restore, situation);
}

function begin({ chosen, record, wanted, approval }: Restore, situation: Situation): Decision {
  const { name, volume, peer } = chosen;
  const isRollback = approval !== undefined;
  const refused = refusedSnapshot(wanted, isRollback, situation);
  if (refused) return refused;
  const { inputs } = situation.effective;
  if (peer && isOutdated(chosen, situation))
    return configureBeforeStart([{ name, uid: peer.uid }], inputs, 'its data are restored');
  return act(
    {
      kind: 'restore-snapshot',
      volume: { name, uid: volume?.uid ?? '' },
      peer: { name, uid: peer?.uid ?? '' },
      id: wanted.id,
      attempt: (record.recovery?.attempt ?? 0) + 1,
      source: wanted.source,
      ...beginningOf(wanted, isRollback, situation),
      ...(isTried(approval) && { trial: true as const }),
    },
    'RestoringSnapshot',
    `restoring ${name} from ${wanted.object}`,
  );
}

/** Where it lies, nothing is restored from, or what comes of it would begin too late. */
export function refusedSnapshot(
  wanted: WantedSnapshot,
  isRollback: boolean,
  situation: Situation,
): Decision | undefined {
  const { object, host } = wanted;
  const { snapshotClaims, snapshotOffers, egress } = situation;
  const ahead = tooFarAhead(wanted, isRollback, situation);
  if (ahead) return refuse(ahead.reason, ahead.message, ahead.cure);
  const claimName = claimNamedIn(parseLocation(object));
  const problem = snapshotClaims?.find((one) => one.name === claimName)?.problem;
  if (problem !== undefined) return refuse('SnapshotOnMember', `${problem}: ${onMember.means}`, onMember.cure);
  const unoffered = snapshotOffers?.find(({ id }) => id === wanted.id)?.problem;
  if (unoffered !== undefined) return refuse('SnapshotNotOffered', unoffered, notOfferedCure);
  const location = parseLocation(object);
  const { namespace } = situation.cluster.metadata;
  const refused = 'problem' in location ? undefined : placeRefusal({ location, host, namespace }, egress);
  return refused === undefined ? undefined : refuse('SnapshotHostRefused', refused, hostRefusedCure);
}

/** What its Job is made from. No member ran on it, so any version may still be asked for. */
function isOutdated({ peer }: Slot, { effective }: Situation): boolean {
  return peer !== undefined && inputsHash(peer.inputs) !== inputsHash(effective.inputs);
}

function follow(
  { chosen, record, wanted, approval }: Restore,
  job: RecoveryJobView,
  view: View,
  situation: Situation,
): Decision {
  const { name, volume } = chosen;
  const { attempt = 0 } = record.recovery ?? {};
  const pod = view.pods.find((one) => !one.leaving) ?? view.pods[0];
  if (job.leaving) return leaving('the Job of an earlier attempt is being deleted', situation);
  const isAsWanted = job.attempt === `${wanted.id}/${attempt}` && (job.trial ?? false) === isTried(approval);
  if (!isAsWanted || isOutdated(chosen, situation)) return repeating(job);
  const ended = view.pods.find((one) => one.succeeded && one.job === job.uid);
  if (job.completed || ended) {
    const starts = approval === undefined && mayStartThen(chosen, record, situation);
    return act(
      {
        kind: 'conclude-restore',
        volume: { name, uid: volume?.uid ?? '' },
        job: { name: job.name, uid: job.uid },
        ...(ended && { pod: { name: ended.name, uid: ended.uid } }),
        id: wanted.id,
        attempt,
        ...(approval !== undefined && { approval }),
        ...(starts && { starts: true as const }),
      },
      'ConcludingRestore',
      `${name} has the data of ${wanted.object}: it starts on them${approval === undefined ? '' : ', when all members of the cluster that is given up have ended'}`,
    );
  }
  if (pod?.failure?.container === restoreContainers.trial)
    return trialFailed({ name, job, attempt, failure: pod.failure, wanted }, situation);
  if (job.failed) return failed({ name, job, attempt, failure: pod?.failure, wanted }, situation);
  const held = pod?.waiting ?? pod?.unscheduled;
  if (pod && held !== undefined && isLasting(held))
    return podStuck(job, pod.name, held, { situation, isBirth: approval === undefined });
  if (job.notStarted) return notStarted(job, job.notStarted, situation);
  return (
    stuckRecoveryPod(situation) ??
    wait(
      'AwaitingRestore',
      `a Job restores ${name} from ${wanted.object}; where it is: ${kubectl(situation.cluster.metadata, `describe job ${job.name}`)}`,
      { on: 'change', of: 'jobs' },
      ...soon,
    )
  );
}

/** A birth has nothing to lose that a trial would save. */
function isTried(approval: string | undefined): boolean {
  return approval !== undefined && !waivesTrial(approval);
}

/** Whether the member would be started next, once its volume says that its data are there. */
function mayStartThen(chosen: Slot, record: VolumeRecord, situation: Situation): boolean {
  const { certificates, slots } = situation;
  if (record.gaveUp || !chosen.volume) return false;
  // Where these are passed over, no member starts.
  if (certificates.kind === 'read' && lackedBeforeAStart(situation, certificates).length > 0) return false;
  const volume = { ...chosen.volume, record: { kind: 'valid', record: { ...record, state: 'restored' } } } as const;
  const then = runMembers({
    ...situation,
    slots: slots.map((slot) => (slot === chosen ? { ...slot, volume } : slot)),
  });
  return then?.kind === 'act' && then.action.kind === 'start-members' && then.action.peers.join() === chosen.name;
}

function removed({ name }: Slot): Decision {
  return refuse(
    'SnapshotRemoved',
    `${name} is being restored, and spec.bootstrap.snapshot names no snapshot any more`,
    offered([
      { loses: 'nothing', cure: 'name it again' },
      {
        loses: 'everything',
        cure: `delete the EtcdCluster and PersistentVolumeClaim ${name}, and create the cluster without it`,
      },
    ]),
  );
}

function volumeLost({ name, volume }: Slot, { cluster }: Situation): Decision {
  const { namespace } = cluster.metadata;
  return refuse(
    'RecoveryVolumeLost',
    `volume ${name}, to which the snapshot is restored, is ${volume?.leaving ? 'being deleted' : 'lost'}; no client was admitted yet`,
    `delete the EtcdCluster with its PersistentVolumeClaims (${kubectl({ namespace }, `delete pvc ${name}`)}), and create it again`,
  );
}

/** The members of the cluster that is given up end, or have ended: their volumes are all that is left of it. */
function rollbackLost(chosen: Slot, gaveUp: readonly string[], { cluster, slots }: Situation): Decision {
  const { name, volume, statefulSet } = chosen;
  const { namespace } = cluster.metadata;
  const former = slots.filter((slot) => recordOf(slot)?.clusterId === gaveUp.at(-1)).map((slot) => slot.name);
  const started = statefulSet ? [kubectl({ namespace }, `delete statefulset ${name}`)] : [];
  const gone = volume?.leaving ? [] : [kubectl({ namespace }, `delete pvc ${name}`)];
  const commands = [...started, ...gone].join('; ');
  const how = commands === '' ? `wait until PersistentVolumeClaim ${name} is gone` : `let only ${name} go: ${commands}`;
  const why = `volume ${name}, to which the snapshot of the rollback is restored, is ${volume?.leaving ? 'being deleted' : 'lost'}; etcd cluster ${gaveUp.at(-1)} was stopped for it, and its data are on the volumes ${former.join(', ')}`;
  return refuse(
    'RecoveryVolumeLost',
    why,
    `keep these; ${how}; the rollback then begins anew, as approved, or what those volumes hold is offered`,
  );
}

/** Its PVC was deleted, and a late request has made it again. */
function replacedWhileItRan({ name }: Slot, { cluster }: Situation): Decision {
  const { namespace } = cluster.metadata;
  return refuse(
    'RecoveryVolumeLost',
    `${name} was started on restored data, and its volume is another one by now; no client was admitted yet`,
    `delete the EtcdCluster with its PersistentVolumeClaims (${kubectl({ namespace }, `delete pvc ${name}`)}), and create it again`,
  );
}
