import type { Situation } from '../decide.ts';
import { type Decision, refuse, wait } from '../decision.ts';
import { type Ailment, ailmentOf } from '../health.ts';
import { hasDeparted, recordOf, rememberedVoters } from '../life.ts';
import type { Slot } from '../observation.ts';
import { quorumOf } from '../quorum.ts';

/**
 * Membership is unknown. While pods may still come that is waited for; when more volumes are gone than a quorum can spare,
 * nothing here will bring it back, and a person is told what is lost and who has the most data.
 *
 * Guards I9: without a list that a quorum stands behind, no member is replaced and nothing is deleted.
 */
export function awaitQuorum(situation: Situation): Decision | undefined {
  const { membership, slots, cluster, effective, life } = situation;
  if (membership.kind === 'known') return undefined;

  // In birth the recorded members are counted already.
  const untraced = life.stage === 'born' ? withoutTrace(situation) : [];
  const lost = [...slots.filter(isLost).map(({ name }) => name), ...untraced];
  const voters = (life.stage === 'born' ? rememberedVoters(slots, life.strays) : effective.replicas) + untraced.length;
  if (voters - lost.length < quorumOf(voters)) {
    return refuse(
      'QuorumLost',
      `the volumes of ${lost.toSorted().join(', ')} are gone, and with them the quorum of ${cluster.metadata.name}; ${mostData(slots)}`,
      'restore the lost PersistentVolumeClaims with their annotations, or restore a snapshot into a new cluster',
    );
  }

  const ailments = slots.filter(({ peer }) => peer?.current).flatMap((slot) => ailmentOf(slot, situation) ?? []);
  const lasting = ailments.find(({ passing }) => !passing);
  if (lasting) return refuse(lasting.reason, lasting.message, lasting.cure);
  const apart = ailments.find(({ reason }) => slots.some(({ endpoint }) => isApart(endpoint, reason)));
  if (apart) return wait(apart.reason, apart.message, { on: 'time', afterSeconds: 2 });
  return wait(
    'WaitingForQuorum',
    waitingFor(cluster.metadata.name, ailments),
    { on: 'change', of: 'pods' },
    { on: 'time', afterSeconds: 2 },
  );
}

function isLost(slot: Slot): boolean {
  const { peer, volume } = slot;
  return peer?.current === true && (!volume || volume.lost) && !hasDeparted(slot);
}

/** Whether that is what is wrong between us and this endpoint: TLS, and not that it is dead. */
function isApart(endpoint: Slot['endpoint'], reason: string): boolean {
  return endpoint.kind === 'unknown' && endpoint.tls !== undefined && endpoint.tls === reason;
}

/** The same words while members come up one by one: each peer's own condition has the details. */
function waitingFor(name: string, ailments: readonly Ailment[]): string {
  const homeless = ailments.find(({ reason }) => reason === 'PodUnscheduled');
  if (homeless) return homeless.message;
  const allRun = ailments.every(({ reason }) => reason === 'NoQuorum' || reason === 'EndpointSilent');
  return allRun
    ? `the members of ${name} run, but no quorum of them answers`
    : `waiting for a quorum of the members of ${name} to start`;
}

/** Raft's own order: the later term, then the longer log. */
function mostData(slots: readonly Slot[]): string {
  const [best] = slots
    .flatMap(({ name, endpoint }) => (endpoint.kind === 'known' ? [{ name, status: endpoint.status }] : []))
    .toSorted(
      (a, b) => Number(b.status.raftTerm - a.status.raftTerm) || Number(b.status.raftIndex - a.status.raftIndex),
    );
  return best ? `of the members that answer, ${best.name} has the most data` : 'no member answers';
}

/**
 * Members of which neither volume nor peer is left. Whoever still runs remembers the list; where nobody does, it is the one that
 * the volumes recorded, without those that we removed since.
 */
function withoutTrace({ membership, slots, cluster }: Situation): readonly string[] {
  const last = membership.kind === 'unknown' ? membership.last : undefined;
  const listed = last?.filter(({ isLearner }) => !isLearner).map(({ name }) => name);
  const removed = cluster.status?.history
    ?.filter(({ action }) => action === 'retire-member')
    .map(({ target }) => target);
  const names = new Set(
    listed ?? slots.flatMap((slot) => recordOf(slot)?.initialCluster ?? []).map(({ name }) => name),
  );
  for (const name of [...slots.map(({ name }) => name), ...(listed ? [] : (removed ?? []))]) names.delete(name ?? '');
  return [...names];
}
