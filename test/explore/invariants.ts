import { isOfRecovery, type VolumeRecord } from '../../manifests/render/volume-record.ts';
import type { ActionKind } from '../../reconcile/cluster/know/action.ts';
import { quorumOf } from '../../reconcile/cluster/know/membership/quorum.ts';
import { leavesOthersBe } from './adoption-invariants.ts';
import { keepsUsers } from './auth-invariants.ts';
import { backsUpFirst } from './backup-invariants.ts';
import { healsAsApproved } from './healing-invariants.ts';
import { isOpen } from './model/clients.ts';
import { formationOf, minorNumber, runnerOf, runningVoters, serving, votersOf, words } from './model/etcd.ts';
import type { Event } from './model/event.ts';
import { isOnAnotherTemplate } from './model/hands.ts';
import { healthyVoters } from './model/kubernetes.ts';
import { successorsOf, tookItsPlace } from './model/lineage.ts';
import { recordIn } from './model/objects.ts';
import { writtenBy } from './model/sending.ts';
import { type Formation, lacking, type Place, placeOf, type State, type World } from './model/state.ts';
import { asksAsApproved } from './names-invariants.ts';
import { beginsAsApproved, recoversOnce } from './recovery-invariants.ts';
import { handsOver, restoresOnce } from './restore-invariants.ts';
import { servesOnlyOnward } from './revision-invariants.ts';
import type { Violation } from './search/search.ts';

/**
 * What must never happen (ARCHITECTURE.md), looked at in the truth, and not in what an invocation sees of it. Each says
 * what is wrong with one event, or nothing.
 */
type Invariant = (before: State, event: Event, after: State) => string | undefined;

/** A holder's own write, sent and carried out at once. What arrives late was right when it was sent. */
function isSent({ who, write }: Event): boolean {
  return write !== undefined && (who === 'tick' || who === 'fault');
}

/**
 * I1: no voluntary action leaves fewer healthy voters than a quorum of the voters after it. Named exceptions: clusters
 * of one or two, and hibernation; deletion, which is a person's; and the stop that a person approved, when those that
 * were given up come back in the midst of it.
 */
function keepsQuorum({ world: before, acting }: State, event: Event, { world: after }: State): string | undefined {
  if (!isSent(event) || stopsAll.has(event.action?.kind) || before.cluster.deleting) return undefined;
  for (const { id } of before.formations) {
    const formation = formationOf(after, id);
    const healthy = healthyVoters(before, id);
    const kept = healthyVoters(after, id).filter((member) => healthy.includes(member));
    // A pod that another client ends after its member was asked runs still: etcd takes no precondition about that.
    const ending = event.write?.membership ? answering(acting, after, formation) : [];
    const voters = formation ? votersOf(formation).length : 0;
    if (kept.length >= healthy.length || voters < 3) continue;
    if (new Set([...kept, ...ending]).size < quorumOf(voters))
      return `${kept.length} healthy voters are left of ${voters}`;
  }
  return undefined;
}

/** Voters that this very action has asked, and that run still. */
function answering(acting: State['acting'], world: World, formation: Formation | undefined): readonly string[] {
  if (!acting || !formation) return [];
  const asked = JSON.stringify(acting.answers);
  return runningVoters(world, formation).flatMap(({ id }) => (asked.includes(`"memberId":"${id}"`) ? [id] : []));
}

const stopsAll: ReadonlySet<ActionKind | undefined> = new Set(['hibernate-members', 'stop-members'] as const);

/** I2: no membership call while the outcome of an earlier one is unknown; never two members joining. */
function oneAtATime(before: State, event: Event, { world }: State): string | undefined {
  const two = world.formations.find(({ members }) => members.filter(({ learner }) => learner).length > 1);
  if (two) return 'two members are joining';
  const { membership } = event.write ?? {};
  if (!membership || !isSent(event)) return undefined;
  const pending = unfinished(before.world, membership.target) ?? underWay(before, membership.target);
  return pending && `a ${membership.kind} is sent while ${pending}`;
}

/** A removal that a volume remembers, and that has not been seen to be done. */
function unfinished(world: World, target: string): string | undefined {
  const listed = serving(world)?.members ?? [];
  const other = world.places.find((place) => {
    const record = recordIn(place);
    const id = record?.memberId;
    return record?.state === 'releasing' && id !== target && listed.some((member) => member.id === id);
  });
  return other && `the removal of ${other.name} is unfinished`;
}

function underWay({ late, world }: State, target: string): string | undefined {
  const formation = formationOf(world, serving(world)?.id);
  const member = formation?.members.find(({ id }) => id === target);
  // A dead voter is removed also while a learner may still come: that one has no vote, and the step that adds it anew
  // writes its list anew.
  const isDead = member !== undefined && !member.learner && !healthyVoters(world, formation?.id ?? '').includes(target);
  const other = late.find(({ action, known, request }) => {
    // The call itself, and the record by which its member is known. What else the step sends, like a StatefulSet,
    // changes no list.
    if (known || (!writtenBy(request)?.membership && request.kind !== 'writeRecord')) return false;
    // A learner that is being promoted is the one that was added.
    if (action.kind === 'add-learner') return !isDead && action.name !== target && action.name !== member?.name;
    return action.kind === 'remove-member' && action.memberId !== target;
  });
  return other && `${other.action.kind} of another member is still on its way`;
}

/** I3: a member joins as a learner, the first bootstrap aside. */
function learnersFirst({ world: before }: State, _: Event, { world: after }: State): string | undefined {
  for (const { id, members } of after.formations) {
    const earlier = formationOf(before, id)?.members;
    if (!earlier) continue;
    const sudden = members.find((one) => !one.learner && !earlier.some((other) => other.id === one.id));
    if (sudden) return `${sudden.name} is a voter at once`;
  }
  return undefined;
}

/** Of a rollback whose data are lost before any member of the cluster that it gives up was told. */
function isRestoredInVain(record: VolumeRecord | undefined): boolean {
  return record?.state === 'restored' && record.gaveUp !== undefined && !isOfRecovery(record);
}

/**
 * I4: a volume is deleted only when nothing that a member needs is on it. The deletion of the cluster, by its policy,
 * is a person's.
 */
function keepsVolumes({ world: before }: State, event: Event, { world: after }: State): string | undefined {
  if (!event.write || (event.who !== 'late' && !isSent(event)) || before.cluster.deleting) return undefined;
  for (const place of before.places) {
    const now = placeOf(after, place.name)?.volume;
    const isDeleted = place.volume && !place.volume.leaving && (now === undefined || now.leaving);
    if (!isDeleted || !place.disk) continue;
    const formation = formationOf(before, place.disk.formation);
    const record = recordIn(place);
    // A rollback is called off: no etcd has opened what was restored.
    if ((record?.state === 'restoring' || isRestoredInVain(record)) && place.disk.made !== undefined) continue;
    // A late request made it start in a birth that never had a quorum: no client was told anything there.
    const isOfAnother = record?.clusterId !== undefined && record.clusterId !== formation?.id;
    if (formation && !formation.formed && isOfAnother) continue;
    // A learner that was added too late has nothing that anybody was told is kept.
    const isListed = formation?.members.some(
      ({ id, learner }) => id === record?.memberId || (id === place.disk?.memberId && !learner),
    );
    if (isListed) return `volume ${place.name} is deleted, and its member is on the list`;
    if (record?.state !== 'released' && record?.state !== 'superseded') {
      return `volume ${place.name} is deleted, and says ${record?.state}: nobody recorded that we removed its member`;
    }
  }
  return undefined;
}

/**
 * I5: from the moment a cluster serves clients, no member that ever started starts again on an empty volume; no write
 * is lost by it.
 */
function neverStartsEmpty({ world: before }: State, event: Event, { world: after }: State): string | undefined {
  const lost = after.formations.find(({ id, lost: isLost }) => isLost && !formationOf(before, id)?.lost);
  // Before clients are let in, none was told anything, but what a snapshot has; clients of others have their own door.
  const hasClients = isOpen(before) || before.places.some(({ outside }) => outside);
  if (lost && (hasClients || lost.restored))
    return 'a write that clients were told is kept is on no disk of the quorum that runs';
  if (event.who !== 'world') return undefined;
  for (const place of after.places) {
    const earlier = placeOf(before, place.name);
    if (!place.process || !place.disk || earlier?.disk) continue;
    const formation = formationOf(after, place.disk.formation);
    const member = formation?.members.find(({ id }) => id === place.disk?.memberId);
    if (isOpen(after) && member && !member.learner && member.published) {
      return `${place.name} starts on an empty volume, as a voter that has started before, while clients are let in`;
    }
  }
  // What a recovery left behind, or a rollback gave up, is looked at by itself (I10, I11).
  const isFormer = (one: Formation) => successorsOf(after, one).length > 0 || tookItsPlace(after, one) !== undefined;
  // Of others alone, which this one does not ask to take over (any more): not behind our Service.
  const isOthers = ({ members }: Formation) =>
    members.every(({ name }) => after.places.some((place) => place.outside && place.name === name));
  const formed = after.formations.filter((one) => one.formed && !isFormer(one) && !isOthers(one));
  const open = isOpen(after) && formed.length > 1;
  return open && serving(after) ? 'two clusters were formed behind one Service' : undefined;
}

const wrongOfOurs: ReadonlySet<string> = new Set([words.skipped, words.unreadable]);
const wrongVersions: ReadonlySet<string> = new Set([words.downgrade, ...wrongOfOurs]);

/**
 * I6: version only up, one minor at a time; back only while another member still runs the old minor and the cluster
 * version has not moved. What another client started on the next minor may have moved it, or leave out a minor.
 */
function versionsGoUp(_: State, event: Event, { world }: State): string | undefined {
  const wrong = world.newerByOthers ? wrongOfOurs : wrongVersions;
  const said = world.places.find(
    (place) => place.pod?.words !== undefined && wrong.has(place.pod.words) && !hasOthersVersion(world, place),
  );
  if (said) return `${said.name} was given ${said.pod?.inputs.version}, and says: ${said.pod?.words}`;
  if (event.who !== 'world' || event.name === undefined) return undefined;
  const place = placeOf(world, event.name);
  const formation = formationOf(world, place?.process?.formation);
  if (!place?.process || !formation?.version) return undefined;
  const [runs, settled] = [place.process.version, formation.version].map(minorNumber);
  return (runs ?? 0) - (settled ?? 0) > 1
    ? `${place.name} runs ${place.process.version} in a cluster of ${formation.version}`
    : undefined;
}

function hasOthersVersion({ newerByOthers }: World, { pod, peer }: Place): boolean {
  return newerByOthers === true && pod?.inputs.version !== peer?.inputs.version;
}

/** I7: no step from a stale observation; what a late holder writes or deletes fails at the API server. */
function neverStale(_: State, event: Event): string | undefined {
  if (!event.stale) return undefined;
  return event.begins
    ? 'a step begins that was decided before another one'
    : 'a write gets through to an object that has changed since';
}

/** I9: no member is replaced or removed unless a quorum of the others runs and holds the data. */
function othersHoldTheData({ world: before }: State, event: Event): string | undefined {
  const { membership } = event.write ?? {};
  if (membership?.kind !== 'remove' || !isSent(event)) return undefined;
  const formation = serving(before);
  const member = formation?.members.find(({ id }) => id === membership.target);
  if (!formation || !member || member.learner) return undefined;
  return withoutData(before, formation, member.id);
}

function withoutData(world: World, formation: Formation, leaving: string): string | undefined {
  const others = votersOf(formation).filter(({ id }) => id !== leaving);
  const running = others.filter(({ id }) => runnerOf(world, formation, id));
  if (running.length < quorumOf(others.length))
    return `a member is removed, and only ${running.length} of the ${others.length} others run`;
  const holding = running.filter(({ id }) => runnerOf(world, formation, id)?.disk?.behind === false);
  return others.length > 0 && holding.length === 0
    ? 'a member is removed, and none of the others holds every write'
    : undefined;
}

/**
 * I16: no member is restarted on what another client wrote. What keeps a member from running (its ConfigMap is gone)
 * restarts none.
 */
function restartsOnOurs({ world: before }: State, event: Event, { world: after }: State): string | undefined {
  if (!isSent(event)) return undefined;
  const place = before.places.find((one) => isOnAnotherTemplate(one, placeOf(after, one.name)));
  if (!place?.configMap) return undefined;
  return `the pod of ${place.name} is ended, and comes back on the template of another client`;
}

/**
 * Named exception of I11 and I12: a pod that a person deleted by force counts as ended, whatever runs on of it.
 * @param unheard where it runs on a node that is not heard: `early` asserted ones alone, or all
 */
function asAsserted(holds: Invariant, unheard: 'early' | 'all'): Invariant {
  const judged = (state: State): State => {
    const { world } = state;
    if (!world.places.some(({ asserted }) => asserted)) return state;
    const ended = (place: Place): Place => {
      if (!place.asserted) return place;
      return unheard === 'all' || place.asserted === 'early'
        ? lacking(place, 'process', 'hidden')
        : lacking(place, 'process');
    };
    return { ...state, world: { ...world, places: world.places.map(ended) } };
  };
  return (before, event, after) => holds(judged(before), event, judged(after));
}

export const invariants = {
  I1: (before, event, after) => keepsQuorum(before, event, after) ?? asksAsApproved(before, event, after),
  I2: oneAtATime,
  I3: learnersFirst,
  I4: keepsVolumes,
  I5: neverStartsEmpty,
  I6: versionsGoUp,
  I7: neverStale,
  I9: (before, event) => othersHoldTheData(before, event) ?? beginsAsApproved(before, event),
  I10: recoversOnce,
  I11: asAsserted(
    (before, event, after) => restoresOnce(before, event, after) ?? handsOver(before, event, after),
    'early',
  ),
  // A sleep, unlike a recovery, looks at no node.
  I12: asAsserted(backsUpFirst, 'all'),
  I13: leavesOthersBe,
  I14: healsAsApproved,
  I16: restartsOnOurs,
  I17: servesOnlyOnward,
  I19: keepsUsers,
} as const satisfies Readonly<Record<string, Invariant>>;

const all = Object.entries(invariants);

export function judge(before: State, event: Event, after: State): Violation | undefined {
  for (const [invariant, holds] of all) {
    const message = (holds as Invariant)(before, event, after);
    if (message !== undefined) return { invariant, message };
  }
  return undefined;
}
