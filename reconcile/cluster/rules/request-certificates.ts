import { isFatal } from '../../certificates/defect.ts';
import type { CertificateOrder } from '../actions.ts';
import { handOverDue, usable } from '../certificates/hand-over.ts';
import { issuanceTrouble } from '../certificates/issuance.ts';
import { issuerOf, orderFor } from '../certificates/requested.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import type { Certificates, LeafView, ReadCertificates } from '../observation.ts';
import { nameTaken } from './certify.ts';

/**
 * Leaves that cert-manager signs: asked for before a member is first started, awaited until each is there, whole and sound, and
 * only then given to the members; later ones are handed over when everybody can trust them (`hand-over.ts`). Nothing of ours
 * signs, and what cert-manager does wrong never reaches a member that runs.
 *
 * Never takes a Secret that is somebody else's: cert-manager would write over it, so it is not even asked.
 */
export function requestCertificates(situation: Situation): Decision | undefined {
  const { certificates, life } = situation;
  if (!isOfCertManager(situation, certificates)) return undefined;
  // What runs first gets what it needs; what is born waits until all of it is there.
  if (life.stage === 'birth') return prepareStart(situation, certificates) ?? handOver(situation, certificates);
  return handOver(situation, certificates) ?? prepareStart(situation, certificates);
}

/** Below what keeps a cluster alive: cert-manager's admission may refuse, and must not hold that up. */
export function keepRequesting(situation: Situation): Decision | undefined {
  const { certificates } = situation;
  return isOfCertManager(situation, certificates) ? ask(situation, certificates) : undefined;
}

function isOfCertManager({ effective, life }: Situation, certificates: Certificates): certificates is ReadCertificates {
  if (certificates.kind !== 'read' || effective.inputs.tls.mode !== 'CertManager') return false;
  return life.stage === 'birth' || life.stage === 'born';
}

/** Speaks only where a member is yet to be started. */
function prepareStart(situation: Situation, read: ReadCertificates): Decision | undefined {
  const { slots } = situation;
  const starting = new Set(slots.flatMap(({ name, peer, statefulSet }) => (peer?.current && !statefulSet ? name : [])));
  if (starting.size === 0) return undefined;
  const needed = read.leaves.filter(
    ({ plan }) => plan.purpose === 'reconciler' || (plan.peer !== undefined && starting.has(plan.peer)),
  );
  return (
    unavailable(read) ??
    nameTaken(situation, read) ??
    issuedNameTaken(needed) ??
    ask(situation, read) ??
    awaitIssued(situation, needed)
  );
}

function unavailable({ certManager }: ReadCertificates): Decision | undefined {
  if (certManager?.kind !== 'unknown') return undefined;
  const { reason, message, cure } = certManager;
  return cure === undefined ? wait(reason, message, { on: 'time', afterSeconds: 5 }) : refuse(reason, message, cure);
}

function issuedNameTaken(leaves: readonly LeafView[]): Decision | undefined {
  for (const { issued } of leaves) {
    const what = [
      { kind: 'Certificate', state: issued?.certificate?.state },
      { kind: 'Secret', state: issued?.secret },
    ];
    const foreign = what.find(({ state }) => state === 'foreign');
    if (foreign) {
      return refuse(
        'NameTaken',
        `there is a ${foreign.kind} ${issued?.name} already that is not this cluster's; it is left alone`,
        'rename or delete it',
      );
    }
    const leftover = what.find(({ state }) => state === 'leftover');
    if (leftover) {
      return wait(
        'OldObjectsLeaving',
        `${leftover.kind} ${issued?.name} of an earlier resource is still being collected`,
        { on: 'time', afterSeconds: 2 },
      );
    }
  }
  return undefined;
}

function ask({ cluster, slots }: Situation, { leaves }: ReadCertificates): Decision | undefined {
  const requests = leaves.filter(isToBeAsked).flatMap((leaf): readonly CertificateOrder[] => {
    const order = orderFor(cluster, slots, leaf.plan);
    return order ? [order] : [];
  });
  if (requests.length === 0) return undefined;
  const issuers = [...new Set(requests.map(({ plan }) => issuerOf(cluster, plan)))].join(' and ');
  const names = requests.map(({ plan }) => plan.secretName).join(', ');
  return act(
    { kind: 'request-certificates', requests },
    'RequestingCertificates',
    `asking cert-manager for ${names}, of ${issuers}`,
  );
}

function isToBeAsked({ issued }: LeafView): boolean {
  if (!issued || issued.secret === 'foreign' || issued.secret === 'leftover') return false;
  const { certificate } = issued;
  return certificate?.state === 'missing' || (certificate?.state === 'ours' && !certificate.current);
}

function awaitIssued({ cluster, at, life }: Situation, needed: readonly LeafView[]): Decision | undefined {
  for (const leaf of needed) {
    // Before a birth only what answers the present question counts: a Secret that was kept may be of another issuer.
    if (life.stage === 'birth' ? usable(leaf) && isReady(leaf) : isSound(leaf)) continue;
    const trouble = issuanceTrouble(cluster, leaf, at);
    if (trouble?.cure !== undefined) return refuse(trouble.reason, trouble.message, trouble.cure);
    const message = trouble?.message ?? `cert-manager is yet to issue ${leaf.plan.secretName}`;
    return wait('AwaitingCertificates', message, { on: 'time', afterSeconds: 2 });
  }
  return undefined;
}

function isSound({ facts, defects }: LeafView): boolean {
  return facts !== undefined && !defects.some(isFatal);
}

function isReady({ issued }: LeafView): boolean {
  return issued?.certificate?.state === 'ours' && issued.certificate.said.state === 'ready';
}

/** Also for what a person provides. */
export function handOver(situation: Situation, read: ReadCertificates): Decision | undefined {
  const due = handOverDue(situation, read);
  if (!due) return undefined;
  const fresh = due.leaves.filter(({ fingerprint }) => fingerprint !== undefined);
  const renewed = fresh.every(({ plan }) => read.leaves.some((leaf) => leaf.plan === plan && leaf.facts));
  const names = fresh.map(({ plan }) => plan.secretName).join(', ');
  if (fresh.length === 0) {
    const message = due.leaves.length > 0 ? 'changing the CAs that are trusted beside' : 'letting go with its request';
    const rest = [...due.leaves.map(({ plan }) => plan.secretName), ...due.adopt.map(({ name }) => name)];
    return act(due, 'TrustingAuthorities', `${message}: ${[...new Set(rest)].join(', ')}`);
  }
  return act(
    due,
    renewed ? 'RenewingCertificates' : 'IssuingCertificates',
    `handing over what ${read.certManager ? 'cert-manager issued' : 'was provided'} for ${names}`,
  );
}
