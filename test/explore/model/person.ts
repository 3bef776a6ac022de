import { annotations } from '../../../manifests/render/names.ts';
import { type Decision, refusalsOf } from '../../../reconcile/cluster/know/decision.ts';
import { formationOf } from './etcd.ts';
import { recordIn } from './objects.ts';
import { lacking, type Place, placeOf, type State, type World } from './state.ts';

/** What a person does because a refusal says that it may be done: never anything else. */
export interface Consent {
  readonly what: string;
  readonly person:
    | 'approves'
    | 'approves the rollback'
    | 'approves the adoption'
    | 'approves the replacement'
    | 'approves the names'
    | 'takes the approval back'
    | 'says that nodes are off';
}

/** `undefined`: nothing asks for it. */
export function consent(state: State, { person }: Consent, decision: Decision): State | undefined {
  const after = person === 'takes the approval back' ? takenBack(state) : asTold(state.world, person, decision);
  if (!after) return undefined;
  const { looked, left } = state;
  // The resource has been written since it was looked at.
  const stale = person !== 'says that nodes are off' && looked && { looked: { ...looked, stale: true } };
  return { ...state, ...stale, world: after, left: { ...left, changes: left.changes - 1 } };
}

type Refusal = Extract<Decision, { kind: 'refuse' }>;

function asTold(world: World, person: Consent['person'], decision: Decision): World | undefined {
  if (person === 'approves the rollback') return rollbackApproved(world, decision);
  if (person === 'approves the adoption') return adoptionApproved(world, decision);
  if (person === 'approves the names') return namesApproved(world, decision);
  if (person === 'approves the replacement') return replacementApproved(world, decision);
  if (decision.kind !== 'refuse') return undefined;
  return person === 'approves' ? approved(world, decision) : fenced(world, decision);
}

/** The command is told at the end, or beside what is worse. */
function rollbackApproved(world: World, decision: Decision): World | undefined {
  const told = [decision, ...(decision.besides ?? [])].flatMap((one) => (one.kind === 'refuse' ? [one.cure] : []));
  const [, text] = new RegExp(`${annotations.rollBack}=([^\\s;]+)`).exec(told.join('\n')) ?? [];
  if (text === undefined) return undefined;
  const { cluster } = world;
  const given = { ...cluster.annotations, [annotations.rollBack]: text };
  return { ...world, cluster: { ...cluster, annotations: given, rollbacks: (cluster.rollbacks ?? 0) + 1 } };
}

function adoptionApproved(world: World, { kind, ...decision }: Decision): World | undefined {
  const { approval } = kind === 'refuse' ? (decision as Refusal) : {};
  const { cluster } = world;
  // That the others are gone for good is not true here.
  if (approval?.annotation !== annotations.adopt || approval.value.includes('/gone-')) return undefined;
  const given = { ...cluster.annotations, [approval.annotation]: approval.value };
  return { ...world, cluster: { ...cluster, annotations: given } };
}

/** Whom it approves is read from the words that a person reads, and not from the code of the approval. */
function replacementApproved(world: World, decision: Decision): World | undefined {
  const approval = refusalsOf(decision).find((one) => one.approval?.annotation === annotations.replaceMember)?.approval;
  const [, givenUp] = /^\S+ \((\S+)\) is removed/.exec(approval?.approves ?? '') ?? [];
  const { cluster } = world;
  if (!approval || givenUp === undefined || cluster.annotations?.[approval.annotation] === approval.value)
    return undefined;
  const given = { ...cluster.annotations, [approval.annotation]: approval.value };
  return { ...world, cluster: { ...cluster, annotations: given, givenUp } };
}

/** Of all that is told: it stands beside what else is done. */
function namesApproved(world: World, decision: Decision): World | undefined {
  const approval = refusalsOf(decision).find((one) => one.approval?.annotation === annotations.takeNames)?.approval;
  const { cluster } = world;
  if (!approval || cluster.annotations?.[approval.annotation] === approval.value) return undefined;
  const given = { ...cluster.annotations, [approval.annotation]: approval.value };
  return { ...world, cluster: { ...cluster, annotations: given, agreedToNames: true } };
}

function takenBack({ world, late }: State): World | undefined {
  const { cluster } = world;
  const {
    [annotations.rollBack]: rollback,
    [annotations.replaceMember]: replacement,
    [annotations.takeNames]: names,
    ...rest
  } = cluster.annotations ?? {};
  if ([rollback, replacement, names].every((one) => one === undefined)) return undefined;
  // What volumes say by now, or will when a request arrives, is not taken back by it.
  const isBegun = world.places.some((place) => recordIn(place)?.allowedNames);
  const stays = isBegun || late.some(({ action }) => action.kind === 'take-names');
  const left = stays ? cluster : lacking(cluster, 'agreedToNames');
  return { ...world, cluster: { ...left, annotations: rest } };
}

/** As it is told, word for word. It stays on the resource for ever, needed or not. */
function approved(world: World, { reason, cure }: Refusal): World | undefined {
  const [, kept = '', text = ''] = approvalPattern.exec(cure) ?? [];
  if (reason !== 'QuorumLost' || text === '') return undefined;
  const { cluster } = world;
  if (cluster.annotations?.[annotations.recoverQuorum] === text) return undefined;
  const led = formationOf(world, placeOf(world, kept)?.process?.formation)?.led ?? 0;
  const given = { ...cluster.annotations, [annotations.recoverQuorum]: text };
  return { ...world, cluster: { ...cluster, annotations: given, approval: { kept, led } } };
}

const approvalPattern = new RegExp(
  `the cluster goes on with the data of (\\S+), .*${annotations.recoverQuorum}=(\\S+)$`,
);

/** Only where it is true. Kubernetes then lets go of their pods, and says so. */
function fenced(world: World, { reason }: Refusal): World | undefined {
  const silent = world.places.filter(({ nodeDead, off }) => nodeDead && !off);
  if (reason !== 'MemberNotFenced' || silent.length === 0 || silent.some(({ hidden }) => hidden)) return undefined;
  const isOff = (place: Place): Place => ({
    ...lacking(place, ...(place.pod?.leaving ? ['pod' as const] : []), ...(place.jobPod ? ['jobPod' as const] : [])),
    off: true,
  });
  return { ...world, places: world.places.map((place) => (silent.includes(place) ? isOff(place) : place)) };
}
