import { parseDuration } from '../../../../../manifests/api/duration.ts';
import { tlsDefaults } from '../../../../../manifests/api/spec-defaults.ts';
import { timestamp } from '../../../../time/timestamp.ts';
import { isDue } from '../../../know/certificates/due.ts';
import { rotationAskedFor } from '../../../know/certificates/occasion.ts';
import { allHaveLoaded } from '../../../know/certificates/trust.ts';
import { validityFrom } from '../../../know/certificates/validity.ts';
import { act, type Decision, wait } from '../../../know/decision.ts';
import type { ReadCertificates } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';

const both = ['peer', 'client'] as const;

/**
 * New CAs, on request or after two thirds of their life: members trust both, get leaves of the new one (`certify`), and
 * trust only the new one when every member presents those and clients have had the time to learn it.
 *
 * Below the gate: no rotation begins or ends while a member is away that could not follow. At every moment every pair
 * of members can connect, and so can every client that knows the old CA or the new one: new leaves come with a cross
 * certificate, and the old CA is dropped only when no member presents a leaf of it.
 */
export function renewAuthorities(situation: Situation): Decision | undefined {
  const read = soundIn(situation);
  // Both CAs rotate together, also when an invocation died between them: members restart once, not twice.
  return read && (begin(situation, read) ?? retire(situation, read));
}

/**
 * Before a member restarts without an old CA, every old CA is dropped that can be: an invocation that died between two
 * of them would otherwise restart the members for each.
 */
export function dropOldAuthorities(situation: Situation): Decision | undefined {
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
    `making a new ${due.join(' CA and a new ')} CA; the old one stays trusted until every member presents a certificate of the new one`,
  );
}

function retire(situation: Situation, read: ReadCertificates): Decision | undefined {
  const { cluster, at, slots } = situation;
  const rotating = both.filter((which) => (read.authorities[which]?.facts?.trust.length ?? 0) > 1);
  if (rotating.length === 0) return undefined;
  const unseen = read.leaves.find((leaf) => rotating.includes(leaf.plan.authority) && isUnseen(leaf, read));
  // Only a person can change that: `checkCertificates` reports it.
  if (unseen?.state === 'foreign') return undefined;
  if (unseen) {
    return wait('LoadingAuthorities', `waiting until a member presents the certificate in ${unseen.plan.secretName}`, {
      on: 'time',
      afterSeconds: 2,
    });
  }
  if (!allHaveLoaded(slots)) {
    return wait('LoadingAuthorities', 'waiting until every member has loaded the CAs that it should trust', {
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
      `both CAs are trusted until ${timestamp(new Date(until))}, so that clients have the time to learn the new one (spec.tls.rotationOverlap)`,
      { on: 'time', afterSeconds: Math.ceil((until - at.getTime()) / 1000) },
    );
  }
  return act(
    { kind: 'retire-authorities', authorities: rotating },
    'RetiringAuthorities',
    `no longer trusting the old ${rotating.join(' CA and the old ')} CA: no member presents a certificate of it`,
  );
}

/** A member's leaf counts when the member presents it; a leaf of ours or of an application, when the Secret has it. */
function isUnseen(
  { plan, facts, served }: ReadCertificates['leaves'][number],
  { authorities }: ReadCertificates,
): boolean {
  if (facts?.issuer !== authorities[plan.authority]?.facts?.subject) return true;
  return plan.peer !== undefined && served !== facts?.fingerprint;
}
