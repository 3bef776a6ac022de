import { isFatal } from '../../certificates/defect.ts';
import type { Defect } from '../../certificates/judge.ts';
import { trustsBoth } from '../certificates/hand-over.ts';
import { firstTrouble, followedSlowly } from '../certificates/issuance.ts';
import { sourceDefects } from '../certificates/provided.ts';
import type { Situation } from '../decide.ts';
import { type Decision, refuse, wait } from '../decision.ts';
import type { ReadCertificates } from '../observation.ts';
import { nameTaken } from './certify.ts';
import { handOver } from './request-certificates.ts';

/**
 * Certificates that a person provides: each is looked at before any member sees it. One that could not work is refused with what
 * is wrong about it, and nothing is started; members that run go on with what they have, and are told of at the end
 * (`checkCertificates`). Good ones are handed over when everybody can follow.
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
 * What is left to say about certificates when all else is done: a Secret that is somebody else's, a provided one that is no
 * longer good or about to end, a member that does not yet present what its Secret has.
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
      `Secret ${taken.name} is not this cluster's; it is left alone, and the certificate that belongs there can't be renewed`,
      'rename or delete it',
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
    `${unseen.plan.peer} does not yet present the certificate in ${unseen.plan.secretName}`,
    {
      on: 'time',
      afterSeconds: 2,
    },
  );
}

/** Of cert-manager, whose part goes wrong without harm at first: members keep what they have. */
function issuanceDecision({ cluster, at }: Situation, read: ReadCertificates): Decision | undefined {
  const taken = read.leaves.find(
    ({ issued }) => issued?.certificate?.state === 'foreign' || issued?.secret === 'foreign',
  );
  if (taken?.issued) {
    const kind = taken.issued.certificate?.state === 'foreign' ? 'Certificate' : 'Secret';
    return refuse(
      'NameTaken',
      `${kind} ${taken.issued.name} is not this cluster's; it is left alone, and ${taken.plan.secretName} can't be renewed`,
      'rename or delete it',
    );
  }
  const trouble = firstTrouble(cluster, read, at);
  if (!trouble) return rotating(read);
  const { reason, message, cure } = trouble;
  return cure === undefined ? wait(reason, message, { on: 'time', afterSeconds: 5 }) : refuse(reason, message, cure);
}

function rotating(read: ReadCertificates): Decision | undefined {
  if (!(['peer', 'client'] as const).some((authority) => trustsBoth(read, authority))) return undefined;
  return wait('RotatingAuthorities', followedSlowly(read), { on: 'time', afterSeconds: 5 });
}

export function fatalDefects(situation: Situation, read: ReadCertificates): readonly Defect[] {
  const sources = situation.effective.inputs.tls.mode === 'Provided' ? sourceDefects(situation, read) : [];
  if (sources.length > 0) return sources;
  return read.leaves.flatMap(({ defects }) => defects).filter(isFatal);
}

export function refusal({ reason, message, cure }: Defect): Decision {
  return refuse(`Certificate${reason}`, message, cure);
}

function asSecret({ plan, state }: ReadCertificates['leaves'][number]) {
  return { name: plan.secretName, state };
}
