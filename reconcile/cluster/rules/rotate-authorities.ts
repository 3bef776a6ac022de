import { parseDuration } from '../../../manifests/api/duration.ts';
import { tlsDefaults } from '../../../manifests/api/tls-defaults.ts';
import { isDue } from '../certificates/due.ts';
import { rotationAskedFor } from '../certificates/occasion.ts';
import { allHaveLoaded } from '../certificates/trust.ts';
import { validityFrom } from '../certificates/validity.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, wait } from '../decision.ts';
import type { ReadCertificates } from '../observation.ts';

const both = ['peer', 'client'] as const;

/**
 * New CAs, on request or when two thirds of their life are over: trust both, give out leaves of the new one (`certify`), and when
 * every member presents those, and clients have had the time to learn, trust the new one only.
 *
 * Below the gate, so that no rotation is begun or ended while a member is away that could not follow it. At every moment
 * every pair of members, and every client that knows the old CA or the new one, can talk: new leaves come with a cross
 * certificate, and the old CA goes only when nobody presents a leaf of it.
 */
export function rotateAuthorities(situation: Situation): Decision | undefined {
  const read = soundIn(situation);
  // Both take the same way together, also when an invocation died between the two: members restart once, not twice.
  return read && (begin(situation, read) ?? retire(situation, read));
}

/**
 * Before any member is started anew without an old CA, all that are over are given up: who died between the one and the other
 * would otherwise have members restarted for each.
 */
export function retireAuthorities(situation: Situation): Decision | undefined {
  const read = soundIn(situation);
  const decision = read && !begin(situation, read) ? retire(situation, read) : undefined;
  return decision?.kind === 'act' ? decision : undefined;
}

function soundIn({ certificates, effective }: Situation): ReadCertificates | undefined {
  if (certificates.kind !== 'read' || effective.inputs.tls.mode !== 'Managed') return undefined;
  const isSound = (which: (typeof both)[number]) => {
    const { state, facts } = certificates.authorities[which] ?? {};
    return state === 'ours' && facts !== undefined;
  };
  return both.every(isSound) ? certificates : undefined;
}

function begin({ cluster, at }: Situation, { authorities }: ReadCertificates): Decision | undefined {
  const asked = rotationAskedFor(cluster);
  const due = both.filter((which) => {
    const { facts, record } = authorities[which] ?? {};
    return facts?.trust.length === 1 && (isDue(facts, at) || (asked !== undefined && record?.rotation !== asked));
  });
  if (due.length === 0) return undefined;
  return act(
    {
      kind: 'rotate-authorities',
      authorities: due,
      ...(asked !== undefined && { request: asked }),
      validity: validityFrom(cluster.spec.tls, at),
    },
    'RotatingAuthorities',
    `making a new ${due.join(' CA and a new ')} CA; the old stays trusted until every member presents a certificate of the new`,
  );
}

function retire(situation: Situation, read: ReadCertificates): Decision | undefined {
  const { cluster, at, slots } = situation;
  const rotating = both.filter((which) => (read.authorities[which]?.facts?.trust.length ?? 0) > 1);
  if (rotating.length === 0) return undefined;
  const unseen = read.leaves.find((leaf) => rotating.includes(leaf.plan.authority) && isUnseen(leaf, read));
  // Nobody but a person can change that: `checkCertificates` says so.
  if (unseen?.state === 'foreign') return undefined;
  if (unseen) {
    return wait('RotatingAuthorities', `waiting until ${unseen.plan.secretName} is seen on the wire`, {
      on: 'time',
      afterSeconds: 2,
    });
  }
  if (!allHaveLoaded(slots)) {
    return wait('RotatingAuthorities', 'waiting until every member has loaded the CAs that it should trust', {
      on: 'change',
      of: 'pods',
    });
  }
  const unnoted = rotating.filter((which) => read.authorities[which]?.record?.servedSince === undefined);
  if (unnoted.length > 0) {
    return act(
      { kind: 'note-served', authorities: unnoted, since: at.toISOString() },
      'OverlapBegins',
      `every member presents a certificate of the new ${unnoted.join(' CA and of the new ')} CA; clients have spec.tls.rotationOverlap to learn it`,
    );
  }
  const overlap = parseDuration(cluster.spec.tls?.rotationOverlap ?? tlsDefaults.rotationOverlap);
  const since = rotating.map((which) => Date.parse(read.authorities[which]?.record?.servedSince ?? ''));
  const until = Math.max(...since) + overlap;
  if (at.getTime() < until) {
    return wait(
      'RotatingAuthorities',
      'both CAs are trusted until clients have had the time to learn the new one (spec.tls.rotationOverlap)',
      { on: 'time', afterSeconds: Math.ceil((until - at.getTime()) / 1000) },
    );
  }
  return act(
    { kind: 'retire-authorities', authorities: rotating },
    'RetiringAuthorities',
    `no longer trusting the old ${rotating.join(' CA and the old ')} CA: nobody presents a certificate of it`,
  );
}

/** A member's leaf counts when the member was seen to present it; ours and the applications' when the Secret has it. */
function isUnseen(
  { plan, facts, served }: ReadCertificates['leaves'][number],
  { authorities }: ReadCertificates,
): boolean {
  if (facts?.issuer !== authorities[plan.authority]?.facts?.subject) return true;
  return plan.peer !== undefined && served !== facts?.fingerprint;
}
