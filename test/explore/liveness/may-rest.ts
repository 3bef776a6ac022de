import { isAspirant } from '../../../manifests/render/volume-record.ts';
import type { RefusalReason } from '../../../reconcile/reasons/refusals.ts';
import { isOpen } from '../model/clients.ts';
import { formationOf, hasQuorum, neverLeads, votersOf } from '../model/etcd.ts';
import { recordIn } from '../model/objects.ts';
import type { Place, World } from '../model/state.ts';
import type { Core } from './core.ts';

/** A cause for which a story may end before the spec is met, beside a quorum that is healed. */
interface Row {
  readonly why: string;
  readonly is: (world: World, core: Core) => boolean;
  /** And clients may be without service meanwhile. */
  readonly unserved?: (world: World, core: Core) => boolean;
  /** Members that do not run were given up for it. */
  readonly unnamed?: true;
}

const always = () => true;

const asksForWhatIsNeverDone: Row = { why: 'a commit asks for what is never done', is: always };
const rollsBack: Row = {
  why: 'a rollback waits for a person, and the present cluster serves meanwhile',
  is: ({ cluster }) => cluster.spec.rollback !== undefined,
};
const isBorn: Row = {
  why: 'a birth needs every member once: nothing is lost, and no client was let in',
  is: isHeldUp,
  unserved: isHeldUp,
  unnamed: true,
};
const ofOthers: Row = {
  why: 'members of others are down, or are not those that the spec names, or ours were taken off their list',
  is: ({ cluster, places, formations }) => {
    const { memberIDs = [] } = cluster.spec.bootstrap?.existing ?? cluster.memory.existing ?? {};
    const listed = formations.flatMap(({ members }) => members.map(({ id }) => id));
    const isDown = places.some(({ outside, process }) => outside && !process);
    const isOut = places.some((place) => isSealedWith(place, (id) => !listed.includes(id)));
    return isDown || isOut || memberIDs.some((id) => !listed.includes(id)) || memberIDs.length < listed.length;
  },
};
const keepsFromGoing: Row = {
  why: 'a pod on a dead node keeps what was deleted',
  is: ({ places }) =>
    places.some(
      ({ nodeDead, volume, pod, jobPod }) => nodeDead && (volume?.leaving || pod?.leaving || jobPod?.leaving),
    ),
};
const restores: Row = {
  why: 'the Job that restores can not end: its node is dead, or its volume',
  is: ({ places }) => places.some((place) => isChosen(place) && (place.nodeDead || isGone(place))),
  // What a rollback prepares beside a cluster that serves takes nothing from that.
  unserved: ({ places }) => places.some((place) => isChosen(place) && !isAspirantIn(place)),
};

/** One row for each reason of a refusal that such a story may end with. */
export const mayRest: Readonly<Partial<Record<RefusalReason, Row>>> = {
  NamesNotApproved: {
    why: 'names are let in as a person approves',
    is: ({ ours, cluster }) => ours !== undefined && cluster.spec.tls?.certManager?.allowedNames === 'Own',
  },
  TlsModeRefused: asksForWhatIsNeverDone,
  VolumeShrinkRefused: asksForWhatIsNeverDone,
  MinorSkipped: asksForWhatIsNeverDone,
  NothingToHibernate: asksForWhatIsNeverDone,
  DowngradeRefused: asksForWhatIsNeverDone,
  RollbackNotApproved: rollsBack,
  RollbackOutdated: rollsBack,
  RollbackBackupNotReady: rollsBack,
  RollbackTrialFailed: rollsBack,
  RollbackTrialNoRoom: rollsBack,
  RollbackHeldUp: rollsBack,
  RestoreFailed: rollsBack,
  AdoptionNotApproved: {
    why: 'members of others leave only as a person approves',
    is: ({ cluster }) => (cluster.spec.bootstrap?.existing ?? cluster.memory.existing) !== undefined,
  },
  InheritedMemberDown: ofOthers,
  ExistingNotFit: ofOthers,
  AdoptionUnfinished: ofOthers,
  ExistingUnreachable: ofOthers,
  BackupFailed: {
    why: 'a backup failed, and a person looks why',
    is: ({ cluster }) => cluster.spec.backup !== undefined,
  },
  BackupNotPossible: {
    why: 'what was to be backed up is gone',
    is: ({ cluster }) => cluster.spec.backup !== undefined,
  },
  HealingHeld: {
    why: 'spec.healing.mode: Manual leaves it to a person',
    is: ({ cluster }) => cluster.spec.healing?.mode === 'Manual',
  },
  TemplateUnread: { why: 'dry runs are refused or unanswered for ever', is: ({ dryRuns }) => dryRuns !== undefined },
  NoSpace: { why: 'the quota is a person’s', is: ({ formations }) => formations.some(({ data }) => data?.alarm) },
  RemovalUnsafe: {
    why: 'a removal that was sent may arrive: the list is not changed otherwise (I2)',
    is: ({ places }) => places.some((place) => recordIn(place)?.state === 'releasing'),
  },
  UnknownMember: {
    why: 'a member is on the list of which nothing is known',
    is: ({ formations, places }) =>
      formations.some(({ members }) =>
        members.some(({ id }) => !places.some(({ process }) => process?.memberId === id)),
      ),
  },
  QuorumReturned: {
    why: 'a person approved a recovery, and says whether it is still wanted',
    is: ({ places }) => places.some((place) => recordIn(place)?.state === 'recovering'),
    unnamed: true,
  },
  MemberNotFenced: {
    why: 'what was given up may run on a node that does not report (I10, I11)',
    is: isUnfenced,
    unserved: isUnfenced,
  },
  MemberKeepsExiting: {
    why: 'the disk was emptied after a restore and before the hand-over, which nothing tells',
    is: (world) => isHandedOverEmpty(world) || isChangedAlone(world) || world.newerByOthers === true,
    unserved: (world) => isHandedOverEmpty(world) || world.newerByOthers === true,
  },
  AwaitingRestore: restores,
  RestorePodStuck: restores,
  RecoveryVolumeLost: restores,
  SnapshotRemoved: {
    why: 'a restore was begun, and its snapshot is not named any more',
    is: ({ cluster }) => cluster.spec.bootstrap?.snapshot === undefined,
    unserved: ({ places }) => places.some((place) => recordIn(place)?.state === 'restoring'),
  },
  RestoreOverData: {
    why: 'nothing is restored over data that are there (I11)',
    is: ({ cluster }) => cluster.spec.bootstrap?.snapshot !== undefined,
    unserved: ({ places }) => places.some((place) => recordIn(place)?.state === 'sealed'),
  },
  PodStays: {
    ...keepsFromGoing,
    is: (world, core) => isHeldUp(world) || keepsFromGoing.is(world, core),
    unserved: isHeldUp,
  },
  MemberStarting: isBorn,
  BirthCutShort: {
    why: 'etcd of every member was killed before its first entry: nothing was written, and a person begins anew',
    is: neverLeads,
    unserved: neverLeads,
    unnamed: true,
  },
  OldObjectsLeaving: keepsFromGoing,
  VolumesLeaving: keepsFromGoing,
  PodUnscheduled: isBorn,
  VolumeLost: {
    ...isBorn,
    why: 'no quorum of others could replace that member',
    is: (world) => isHeldUp(world) || (isAnyLost(world) && world.formations.every((one) => votersOf(one).length < 3)),
  },
  AllVolumesGone: {
    why: 'what was recorded of a birth is gone, and may have held data: none starts empty in its place (I5)',
    is: (world, { of }) =>
      of === undefined ||
      world.cluster.spec.bootstrap?.existing === undefined ||
      ofOthers.is(world, { of, healed: [], dead: [] }),
    unserved: (_, { of }) => of === undefined,
  },
  AllMembersLost: {
    why: 'all of ours are gone, and those of others serve on',
    is: (world, { of }) =>
      world.places.some(({ outside }) => outside) && hasQuorum(world, formationOf(world, of) as never),
  },
};

function isSealedWith(place: Place, is: (memberId: string) => boolean): boolean {
  const record = recordIn(place);
  return record?.state === 'sealed' && record.memberId !== undefined && is(record.memberId);
}

/** It got a template that no member which serves has. */
function isChangedAlone({ places }: World): boolean {
  const serving = places.flatMap(({ process, pod }) => (process && pod ? [pod.hash] : []));
  return places.some(({ pod }) => pod?.container === 'crashing' && !serving.includes(pod.hash));
}

function isUnfenced({ places }: World): boolean {
  return places.some(({ nodeDead, off }) => nodeDead && !off) && places.some(isChosen);
}

function isHandedOverEmpty({ places }: World): boolean {
  return places.some((place) => recordIn(place)?.gaveUp && !place.disk);
}

/** A recovery or a restore goes on from its volume. */
function isChosen(place: Place): boolean {
  const state = recordIn(place)?.state ?? '';
  return ['recovering', 'recovered', 'restoring', 'restored'].includes(state);
}

function isAspirantIn(place: Place): boolean {
  const record = recordIn(place);
  return record !== undefined && isAspirant(record);
}

function isGone({ volume }: Place): boolean {
  return volume === undefined || volume.lost || volume.leaving;
}

/** A birth, by a node that died or a disk that was lost. */
function isHeldUp(world: World): boolean {
  return !isOpen(world) && world.places.some((place) => place.nodeDead || place.volume?.lost);
}

function isAnyLost({ places }: World): boolean {
  return places.some(({ volume }) => volume?.lost);
}
