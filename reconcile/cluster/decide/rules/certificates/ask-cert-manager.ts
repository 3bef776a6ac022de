import { ownNamesDomain } from '../../../../../manifests/api/dns-names.ts';
import { isFatal } from '../../../../x509/defect.ts';
import type { CertificateOrder } from '../../../know/actions/certificates.ts';
import { handOverDue, usable } from '../../../know/certificates/hand-over.ts';
import { issuanceTrouble } from '../../../know/certificates/issuance.ts';
import { issuerOf, orderFor } from '../../../know/certificates/order.ts';
import { withoutUsers } from '../../../know/certificates/wanted.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import type { Certificates, LeafView, ReadCertificates } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { nameTaken } from './certify.ts';

/**
 * Leaves that cert-manager signs: requested before a member first starts, awaited until each is complete and sound, and
 * only then given to the members; later ones are handed over when every member trusts their CA (`hand-over.ts`).
 * etcd-ratchet signs nothing here, and a failure of cert-manager never reaches a running member.
 *
 * Never takes a Secret of another owner: cert-manager would overwrite it, so no Certificate is even requested.
 */
export function requestCertificates(situation: Situation): Decision | undefined {
  const { certificates, life } = situation;
  if (!isOfCertManager(situation, certificates)) return undefined;
  const needed = withoutUsers(certificates);
  // A cluster that is born first gets what its running members need; a birth waits until every certificate exists.
  if (life.stage === 'birth') return prepareStart(situation, needed) ?? handOver(situation, needed);
  return handOver(situation, certificates) ?? prepareStart(situation, needed);
}

/** Below the rules that keep a cluster alive: cert-manager's admission may refuse, and must not hold them up. */
export function keepRequesting(situation: Situation): Decision | undefined {
  const { certificates } = situation;
  return isOfCertManager(situation, certificates) ? ask(situation, certificates) : undefined;
}

function isOfCertManager({ effective, life }: Situation, certificates: Certificates): certificates is ReadCertificates {
  if (certificates.kind !== 'read' || effective.inputs.tls.mode !== 'CertManager') return false;
  return life.stage === 'birth' || life.stage === 'born';
}

/** Acts only where a member still has to start. */
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
        `${foreign.kind} ${issued?.name} belongs to another owner; it is left alone, and cert-manager cannot be asked for it`,
        `rename or delete that ${foreign.kind}`,
      );
    }
    const leftover = what.find(({ state }) => state === 'leftover');
    if (leftover) {
      return wait(
        'OldObjectsLeaving',
        `${leftover.kind} ${issued?.name} of an earlier resource is still being garbage collected`,
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
    `requesting ${names} from cert-manager, of ${issuers}${letIn(requests)}`,
  );
}

/** The issuer must sign these, and for no other cluster. */
function letIn(requests: readonly CertificateOrder[]): string {
  const inByNames = requests.filter(({ plan }) => plan.purpose !== 'gateway');
  const names = inByNames.flatMap(({ plan }) => plan.dnsNames.filter((name) => name.endsWith(`.${ownNamesDomain}`)));
  return names.length === 0 ? '' : `, with what members let in: ${[...new Set(names)].join(', ')}`;
}

function isToBeAsked({ issued }: LeafView): boolean {
  if (!issued || issued.secret === 'foreign' || issued.secret === 'leftover') return false;
  const { certificate } = issued;
  return certificate?.state === 'missing' || (certificate?.state === 'ours' && !certificate.current);
}

function awaitIssued({ cluster, at, life }: Situation, needed: readonly LeafView[]): Decision | undefined {
  for (const leaf of needed) {
    // Before a birth only an answer to the present request counts: a retained Secret may be of another issuer.
    if (life.stage === 'birth' ? usable(leaf) && isReady(leaf) : isSound(leaf)) continue;
    const trouble = issuanceTrouble(cluster, leaf, at);
    if (trouble?.cure !== undefined) return refuse(trouble.reason, trouble.message, trouble.cure);
    const message = trouble?.message ?? `cert-manager has not issued ${leaf.plan.secretName} yet`;
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

/** Also for certificates that a person provides. */
export function handOver(situation: Situation, read: ReadCertificates): Decision | undefined {
  const due = handOverDue(situation, read);
  if (!due) return undefined;
  const fresh = due.leaves.filter(({ fingerprint }) => fingerprint !== undefined);
  const renewed = fresh.every(({ plan }) => read.leaves.some((leaf) => leaf.plan === plan && leaf.facts));
  const names = fresh.map(({ plan }) => plan.secretName).join(', ');
  if (fresh.length === 0) {
    const message = due.leaves.length > 0 ? 'changing the trusted CAs' : 'releasing the Secret with its Certificate';
    const rest = [...due.leaves.map(({ plan }) => plan.secretName), ...due.adopt.map(({ name }) => name)];
    return act(due, 'TrustingAuthorities', `${message}: ${[...new Set(rest)].join(', ')}`);
  }
  return act(
    due,
    renewed ? 'RenewingCertificates' : 'IssuingCertificates',
    `handing over what ${read.certManager ? 'cert-manager issued' : 'was provided'} for ${names}`,
  );
}
