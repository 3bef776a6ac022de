import { isFatal } from '../../../../x509/defect.ts';
import type { Defect } from '../../../../x509/judge.ts';
import { trustsBoth } from '../../../know/certificates/hand-over.ts';
import { signingTrouble } from '../../../know/certificates/intermediate.ts';
import { behind, firstTrouble, followedSlowly } from '../../../know/certificates/issuance.ts';
import { sourceDefects } from '../../../know/certificates/provided.ts';
import { revokedDefects } from '../../../know/certificates/revoked.ts';
import { type Decision, refuse, wait } from '../../../know/decision.ts';
import type { ReadCertificates } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { handOver } from './ask-cert-manager.ts';
import { nameTaken } from './certify.ts';

/**
 * Certificates that a person provides: each is inspected before any member gets it. A defective one is refused with its
 * defect, and no member starts with it; running members keep what they have, and `checkCertificates` reports that last.
 * Good ones are handed over when every member can follow.
 */
export function admitCertificates(situation: Situation): Decision | undefined {
  const { certificates, effective, slots, life } = situation;
  if (certificates.kind !== 'read' || effective.inputs.tls.mode !== 'Provided') return undefined;
  if (life.stage !== 'birth' && life.stage !== 'born') return undefined;
  const starts = slots.some(({ peer, statefulSet }) => peer?.current && !statefulSet);
  const [defect] = sourceDefects(situation, certificates);
  if (defect) return starts ? refusal(defect) : undefined;
  return (starts ? nameTaken(situation, certificates) : undefined) ?? handOver(situation, certificates);
}

/**
 * What remains to be reported about certificates when all else is done: a Secret of another owner, a provided one that
 * is defective or expires soon, a member that does not present the content of its Secret yet.
 */
export function checkCertificates(situation: Situation): Decision | undefined {
  const { certificates, effective } = situation;
  if (certificates.kind !== 'read') return undefined;
  const taken = [...Object.values(certificates.authorities), ...certificates.leaves.map(asSecret)].find(
    ({ state }) => state === 'foreign',
  );
  if (taken) {
    return refuse(
      'NameTaken',
      `Secret ${taken.name} belongs to another owner; it is left alone, and the certificate in it cannot be renewed`,
      'rename or delete that Secret',
    );
  }
  const issuance = issuanceDecision(situation, certificates);
  if (issuance) return issuance;
  const [fatal] = fatalDefects(situation, certificates);
  if (fatal) return refusal(fatal);
  const soon =
    effective.inputs.tls.mode === 'Provided'
      ? certificates.leaves
          .flatMap(({ issued }) => issued?.defects ?? [])
          .find(({ severity }) => severity === 'warning')
      : undefined;
  if (soon) return refusal(soon);
  const unseen = certificates.leaves.find(
    ({ plan, facts, served }) => plan.peer !== undefined && facts && served !== facts.fingerprint,
  );
  if (!unseen) return undefined;
  return wait(
    'AwaitingCertificates',
    `${unseen.plan.peer} does not present the certificate in ${unseen.plan.secretName} yet`,
    {
      on: 'time',
      afterSeconds: 2,
    },
  );
}

/** Failures of cert-manager are harmless at first: members keep their certificates. */
function issuanceDecision(situation: Situation, read: ReadCertificates): Decision | undefined {
  const { cluster, at } = situation;
  const taken = read.leaves.find(
    ({ issued }) => issued?.certificate?.state === 'foreign' || issued?.secret === 'foreign',
  );
  if (taken?.issued) {
    const kind = taken.issued.certificate?.state === 'foreign' ? 'Certificate' : 'Secret';
    return refuse(
      'NameTaken',
      `${kind} ${taken.issued.name} belongs to another owner; it is left alone, and ${taken.plan.secretName} cannot be renewed`,
      `rename or delete that ${kind}`,
    );
  }
  const trouble = firstTrouble(cluster, read, at) ?? signingTrouble(situation, read);
  if (!trouble) return rotating(read);
  const { reason, message, cure } = trouble;
  return cure === undefined ? wait(reason, message, { on: 'time', afterSeconds: 5 }) : refuse(reason, message, cure);
}

function rotating(read: ReadCertificates): Decision | undefined {
  if (!(['peer', 'client'] as const).some((authority) => trustsBoth(read, authority))) return undefined;
  // For clients there is a time that ends. That a member presents what it was given is not certain.
  const reason = behind(read) ? 'LoadingAuthorities' : 'RotatingAuthorities';
  return wait(reason, followedSlowly(read), { on: 'time', afterSeconds: 5 });
}

export function fatalDefects(situation: Situation, read: ReadCertificates): readonly Defect[] {
  const sources = situation.effective.inputs.tls.mode === 'Provided' ? sourceDefects(situation, read) : [];
  if (sources.length > 0) return sources;
  return [...read.leaves.flatMap(({ defects }) => defects).filter(isFatal), ...revokedDefects(situation)];
}

export function refusal({ reason, message, cure }: Defect): Decision {
  return refuse(`Certificate${reason}`, message, cure);
}

function asSecret({ plan, state }: ReadCertificates['leaves'][number]) {
  return { name: plan.secretName, state };
}
