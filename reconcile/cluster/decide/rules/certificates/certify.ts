import { isFatal } from '../../../../x509/defect.ts';
import type { LeafOrder } from '../../../know/actions/certificates.ts';
import { hasEnded } from '../../../know/certificates/authority.ts';
import { authoritiesToMake, remedyFor } from '../../../know/certificates/due.ts';
import { rotationAskedFor } from '../../../know/certificates/occasion.ts';
import type { Remedy } from '../../../know/certificates/remedy.ts';
import { tokenOfAuthorities } from '../../../know/certificates/token.ts';
import { validityFrom } from '../../../know/certificates/validity.ts';
import { peerUidOf, withoutUsers } from '../../../know/certificates/wanted.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import type { LeafView, ReadCertificates } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * The CAs and leaves that etcd-ratchet signs: made before a member first starts, renewed after two thirds of their
 * life, made again when they are damaged or deleted. Needs no quorum and no restart, and waits for no member: a
 * certificate that expires while another member is down would only make things worse.
 *
 * Never overwrites a Secret of another owner. Guards the trust: a leaf of a CA that some member has not loaded yet is
 * not handed over (`due.ts`).
 */
export function certify(situation: Situation): Decision | undefined {
  const { certificates, effective, life, slots } = situation;
  if (certificates.kind !== 'read' || effective.inputs.tls.mode !== 'Managed') return undefined;
  if (life.stage !== 'birth' && life.stage !== 'born') return undefined;
  const token = tokenOfAuthorities(slots, life.stage === 'birth' ? life.record.token : life.token);

  const read = life.stage === 'birth' ? withoutUsers(certificates) : certificates;
  return (
    makeAuthorities(situation, read, token) ??
    retireEnded(situation, read) ??
    putLeavesRight(situation, read) ??
    nameTaken(situation, read) ??
    awaitCertificates(situation, read)
  );
}

function makeAuthorities(situation: Situation, read: ReadCertificates, token: string): Decision | undefined {
  const { cluster, at } = situation;
  const asked = rotationAskedFor(cluster);
  const missing = authoritiesToMake(read, token, at);
  if (missing.length === 0) return undefined;
  // Running members know another CA: they must trust the new one before any member presents a leaf of it. A Secret of
  // another owner says nothing about which CAs to trust.
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
      ? `recreating the ${missing.join(' and the ')} CA: its Secret was lost, and members trust the old one until they have loaded the new one`
      : `making the ${missing.join(' CA and the ')} CA of ${cluster.metadata.name}, and the certificates that they sign`,
  );
}

/**
 * An old CA expired before its rotation ended, because a member was away or no step ran for that long. A member that
 * knows only that CA cannot be reached, so waiting for it at the gate would never end. The list of trusted CAs drops
 * it, and members that lost each other are restarted with that list (`cureConfiguration`).
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
    `no longer trusting the old ${ended.join(' CA and the old ')} CA: it has expired`,
  );
}

function isMissing({ state }: LeafView): boolean {
  return state === 'missing';
}

function ordersFor({ slots }: Situation, leaves: readonly LeafView[], remedy: Remedy = 'issue'): readonly LeafOrder[] {
  return leaves.map(({ plan }) => ({ plan, remedy, ...peerUidOf(slots, plan) }));
}

function putLeavesRight(situation: Situation, read: ReadCertificates): Decision | undefined {
  const { cluster, at } = situation;
  const leaves = read.leaves.flatMap((leaf) => {
    const remedy = remedyFor(leaf, read, situation);
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

/** Only where a member still has to start; `checkCertificates` reports running members last, and the rest goes on. */
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
      `Secret ${foreign.name} belongs to another owner; it is left alone, and a member cannot start without its own`,
      'rename or delete that Secret',
    );
  }
  const leftover = secrets.find(({ state }) => state === 'leftover');
  if (!leftover) return undefined;
  return wait('OldObjectsLeaving', `Secret ${leftover.name} of an earlier resource is still being garbage collected`, {
    on: 'time',
    afterSeconds: 2,
  });
}

/** No member starts before its certificates exist. */
function awaitCertificates(situation: Situation, read: ReadCertificates): Decision | undefined {
  const [lacking] = lackedBeforeAStart(situation, read);
  if (!lacking) return undefined;
  return wait('AwaitingCertificates', `the certificate in Secret ${lacking.plan.secretName} cannot be made yet`, {
    on: 'time',
    afterSeconds: 2,
  });
}

/** Leaves that a member needs for its start and does not have; at a birth, those of the other holders, too. */
export function lackedBeforeAStart({ slots, life }: Situation, read: ReadCertificates): readonly LeafView[] {
  const due = slots.filter(({ peer, statefulSet }) => peer?.current && !statefulSet).map(({ name }) => name);
  if (due.length === 0) return [];
  return withoutUsers(read)
    .leaves.filter(({ plan: { peer } }) => (peer === undefined ? life.stage === 'birth' : due.includes(peer)))
    .filter(({ state, facts, defects }) => {
      return state !== 'ours' || !facts || defects.some(isFatal);
    });
}
