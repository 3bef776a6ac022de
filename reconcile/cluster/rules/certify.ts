import { isFatal } from '../../certificates/defect.ts';
import type { LeafOrder } from '../actions.ts';
import { hasEnded } from '../certificates/authority.ts';
import { authoritiesToMake, type Remedy, remedyFor } from '../certificates/due.ts';
import { rotationAskedFor } from '../certificates/occasion.ts';
import { validityFrom } from '../certificates/validity.ts';
import { peerUidOf } from '../certificates/wanted.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import type { LeafView, ReadCertificates } from '../observation.ts';

/**
 * The CAs and leaves that we sign ourselves: made before a member is first started, renewed after two thirds of their life, put
 * right when somebody damaged or deleted them. It needs no quorum, no member restarts for it, and it waits for nobody: a
 * member whose certificate ends while another one is down would only make things worse.
 *
 * Never overwrites a Secret that is not ours. Guards the trust: leaves of a CA that some member does not know yet are not
 * given out (`due.ts`).
 */
export function certify(situation: Situation): Decision | undefined {
  const { certificates, effective, life } = situation;
  if (certificates.kind !== 'read' || effective.inputs.tls.mode !== 'Managed') return undefined;
  if (life.stage !== 'birth' && life.stage !== 'born') return undefined;
  const token = life.stage === 'birth' ? life.record.token : life.token;

  return (
    makeAuthorities(situation, certificates, token) ??
    retireEnded(situation, certificates) ??
    putLeavesRight(situation, certificates) ??
    nameTaken(situation, certificates) ??
    awaitCertificates(situation, certificates)
  );
}

function makeAuthorities(situation: Situation, read: ReadCertificates, token: string): Decision | undefined {
  const { cluster, at } = situation;
  const asked = rotationAskedFor(cluster);
  const missing = authoritiesToMake(read, token, at);
  if (missing.length === 0) return undefined;
  // Members that run know another CA: they must learn to trust the new one before anybody shows them a leaf of it. What
  // somebody else's Secret of that name says is nobody's word on whom to trust.
  const trustedIn = (which: string) =>
    read.leaves
      .filter(({ plan, state, facts }) => plan.authority === which && state === 'ours' && facts)
      .map(({ plan }) => plan.secretName);
  const signable = ({ plan: { authority } }: LeafView) =>
    missing.includes(authority) || read.authorities[authority]?.facts !== undefined;
  const orphaned = missing.filter((which) => trustedIn(which).length > 0);
  return act(
    {
      kind: 'make-authorities',
      token,
      ...(asked !== undefined && { request: asked }),
      authorities: missing.map((authority) => ({ authority, trustedIn: trustedIn(authority) })),
      leaves:
        orphaned.length > 0
          ? []
          : ordersFor(
              situation,
              read.leaves.filter((leaf) => isMissing(leaf) && signable(leaf)),
            ),
      validity: validityFrom(cluster.spec.tls, at),
    },
    'MakingAuthorities',
    orphaned.length > 0
      ? `making the ${missing.join(' and the ')} CA anew: its Secret was lost, and members go on trusting the old one until they know the new one`
      : `making the ${missing.join(' CA and the ')} CA of ${cluster.metadata.name}, and what they sign`,
  );
}

/**
 * An old CA that ended before its rotation did, because a member was away, or nobody looked, for so long. Whoever knows only
 * that one can be spoken to no more, so that waiting for him at the gate would be for ever: what to trust is named without
 * it, and members that lost each other are started anew with that (`cureConfiguration`).
 */
function retireEnded({ at }: Situation, { authorities }: ReadCertificates): Decision | undefined {
  const ended = (['peer', 'client'] as const).filter((which) => {
    const { facts } = authorities[which] ?? {};
    const others = facts?.authorities.filter(({ fingerprint }) => fingerprint !== facts.fingerprint) ?? [];
    return others.length > 0 && others.every((other) => hasEnded(other, at));
  });
  if (ended.length === 0) return undefined;
  return act(
    { kind: 'retire-authorities', authorities: ended },
    'RetiringAuthorities',
    `no longer trusting the old ${ended.join(' CA and the old ')} CA: it has ended`,
  );
}

function isMissing({ state }: LeafView): boolean {
  return state === 'missing';
}

function ordersFor({ slots }: Situation, leaves: readonly LeafView[], remedy: Remedy = 'issue'): readonly LeafOrder[] {
  return leaves.map(({ plan }) => ({ plan, remedy, ...peerUidOf(slots, plan) }));
}

function putLeavesRight(situation: Situation, read: ReadCertificates): Decision | undefined {
  const { cluster, slots, at } = situation;
  const leaves = read.leaves.flatMap((leaf) => {
    const remedy = remedyFor(leaf, read, slots, at);
    return remedy ? ordersFor(situation, [leaf], remedy) : [];
  });
  if (leaves.length === 0) return undefined;
  const names = leaves.map(({ plan }) => plan.secretName).join(', ');
  const renewed = leaves.every(({ plan }) => read.leaves.some((leaf) => leaf.plan === plan && leaf.facts));
  return act(
    { kind: 'issue-certificates', leaves, validity: validityFrom(cluster.spec.tls, at) },
    renewed ? 'RenewingCertificates' : 'IssuingCertificates',
    `${renewed ? 'renewing' : 'issuing'} ${names}`,
  );
}

/** Only where a member is yet to be started; what runs is told at the end (`checkCertificates`), and goes on. */
export function nameTaken(situation: Situation, read: ReadCertificates): Decision | undefined {
  const lacking = lackedBeforeAStart(situation, read);
  const secrets = [
    ...lacking.flatMap(({ plan }) => read.authorities[plan.authority] ?? []),
    ...lacking.map(({ plan, state }) => ({ name: plan.secretName, state })),
  ];
  const foreign = secrets.find(({ state }) => state === 'foreign');
  if (foreign) {
    return refuse(
      'NameTaken',
      `there is a Secret ${foreign.name} already that is not this cluster's; it is left alone`,
      'rename or delete it',
    );
  }
  const leftover = secrets.find(({ state }) => state === 'leftover');
  if (!leftover) return undefined;
  return wait('OldObjectsLeaving', `Secret ${leftover.name} of an earlier resource is still being collected`, {
    on: 'time',
    afterSeconds: 2,
  });
}

/** No member is started before its certificates are there. */
function awaitCertificates(situation: Situation, read: ReadCertificates): Decision | undefined {
  const [lacking] = lackedBeforeAStart(situation, read);
  if (!lacking) return undefined;
  return wait('AwaitingCertificates', `the certificate in Secret ${lacking.plan.secretName} cannot be made yet`, {
    on: 'time',
    afterSeconds: 2,
  });
}

/** What a member that is about to be started needs and has not; at a birth, what anybody needs. */
export function lackedBeforeAStart({ slots, life }: Situation, { leaves }: ReadCertificates): readonly LeafView[] {
  const due = slots.filter(({ peer, statefulSet }) => peer?.current && !statefulSet).map(({ name }) => name);
  if (due.length === 0) return [];
  return leaves
    .filter(({ plan: { peer } }) => (peer === undefined ? life.stage === 'birth' : due.includes(peer)))
    .filter(({ state, facts, defects }) => {
      return state !== 'ours' || !facts || defects.some(isFatal);
    });
}
