import { parseDuration } from '../../../manifests/api/duration.ts';
import { tlsDefaults } from '../../../manifests/api/spec-defaults.ts';
import { skew } from '../know/certificates/validity.ts';
import { type Decision, endsAfter } from '../know/decision.ts';
import { graceOf } from '../know/health/grace.ts';
import { connectedIn } from '../know/membership/connecting.ts';
import { longer } from '../know/membership/learners-time.ts';
import type { Observation } from '../know/observation.ts';
import { patience } from '../know/space/defragmented.ts';

const second = 1000;

/**
 * The next moment at which mere time may change a decision: a grace, an overlap, a pause is over. `undefined` when none
 * is left: what is waited for then is no time.
 */
export function laterThan(observation: Observation, decision: Decision): Date | undefined {
  const now = observation.at.getTime();
  const [next] = [...timersOf(decision, now), ...momentsOf(observation)]
    .filter((moment) => moment > now)
    .toSorted((a, b) => a - b);
  return next === undefined ? undefined : new Date(next);
}

/** What says itself when it is over. */
function timersOf(decision: Decision, now: number): readonly number[] {
  if (decision.kind !== 'wait') return [];
  return endsAfter(decision).map((seconds) => now + seconds * second);
}

function momentsOf(observation: Observation): readonly number[] {
  const { cluster, slots, certificates, lease } = observation;
  const grace = graceOf(observation);
  const unwell = (cluster.status?.members ?? []).flatMap(({ unhealthySince }) => {
    const since = Date.parse(unhealthySince ?? '');
    return Number.isNaN(since) ? [] : [grace.pod, grace.member, grace.member * longer].map((time) => since + time);
  });
  const made = slots.flatMap(({ pod, volume }) =>
    pod && volume && !pod.ready
      ? [pod.createdAt, pod.container.startedAt ?? pod.createdAt, pod.endsBy ?? pod.createdAt]
      : [],
  );
  const tried = made.flatMap((at) => [grace.member, grace.member * longer].map((time) => at.getTime() + time));
  const reported = slots.flatMap(({ warnings = [] }) => warnings.map(({ since }) => since.getTime() + grace.member));
  const asked = slots.flatMap(({ peer }) => {
    const at = peer?.defragmented?.at.getTime();
    return at === undefined ? [] : [patience, 600, 3600].map((seconds) => at + seconds * second);
  });
  const overlap = parseDuration(cluster.spec.tls?.rotationOverlap ?? tlsDefaults.rotationOverlap);
  const leaves = certificates.kind === 'read' ? certificates.leaves : [];
  const handed = leaves.flatMap(({ handedOverAt, issued }) => [
    ...(handedOverAt ? [handedOverAt.getTime() + overlap] : []),
    ...(issued?.facts ? [issued.facts.notBefore.getTime() + skew] : []),
  ]);
  const compacted = (cluster.status?.history ?? [])
    .filter(({ action }) => action === 'compact')
    .map(({ at }) => Date.parse(at) + 60 * second);
  return [
    ...unwell,
    observation.at.getTime() + connectedIn(observation),
    ...tried,
    ...reported,
    ...asked,
    ...handed,
    ...compacted,
    ...(lease.kind === 'held' ? [lease.until.getTime()] : []),
  ];
}
