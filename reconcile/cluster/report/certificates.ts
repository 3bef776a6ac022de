import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import { withCure } from '../../reasons/cure.ts';
import { timestamp } from '../../time/timestamp.ts';
import { isFatal } from '../../x509/defect.ts';
import { renewalTime } from '../../x509/judge.ts';
import { staySuspended } from '../decide/rules/general/stay-suspended.ts';
import { troubleStatement } from '../know/certificates/cert-manager-trouble.ts';
import { isDue, sameSet } from '../know/certificates/due.ts';
import { signingTrouble } from '../know/certificates/intermediate.ts';
import { issuanceStatement } from '../know/certificates/issuance.ts';
import { issuanceWord } from '../know/certificates/issued.ts';
import { revokedDefects } from '../know/certificates/revoked.ts';
import type { ReadCertificates } from '../know/observation.ts';
import type { Situation } from '../know/situation.ts';
import { keptStatement, type Statement } from '../know/statement.ts';

type CertificatesStatus = NonNullable<EtcdClusterStatus['certificates']>;

/** When the first certificate ends, and when the next is due; what was known stays when nothing was looked at. */
export function certificatesStatus({ certificates, cluster }: Situation): CertificatesStatus | undefined {
  if (certificates.kind === 'none') return undefined;
  if (certificates.kind !== 'read') return cluster.status?.certificates;
  const all = [
    ...Object.values(certificates.authorities).flatMap(({ name, facts }) => [
      { name, facts },
      { name, facts: facts?.intermediate?.current === true ? facts.intermediate.chain[0] : undefined },
    ]),
    ...certificates.leaves.map(({ plan, facts }) => ({ name: plan.secretName, facts })),
  ].flatMap(({ name, facts }) => (facts ? [{ name, notAfter: facts.notAfter, due: renewalTime(facts) }] : []));
  const [first] = all.toSorted((a, b) => a.notAfter.getTime() - b.notAfter.getTime());
  const [next] = all.toSorted((a, b) => a.due.getTime() - b.due.getTime());
  if (!first || !next) return undefined;
  const rotations = new Set(Object.values(certificates.authorities).map(({ record }) => record?.rotation));
  const [rotation] = rotations.size === 1 ? rotations : [];
  return {
    notAfter: timestamp(first.notAfter),
    secretName: first.name,
    renewAfter: timestamp(next.due),
    ...(rotation !== undefined && { rotation }),
    ...(certificates.certManager?.kind === 'known' && { issued: issuanceWord(issuancesOf(certificates)) }),
  };
}

function issuancesOf({ leaves }: ReadCertificates) {
  return leaves.flatMap(({ issued }) =>
    issued?.certificate?.state === 'ours' ? [{ name: issued.name, said: issued.certificate.said }] : [],
  );
}

/**
 * Whether every member presents a valid certificate. True only when no step is pending: then most reads can be skipped.
 */
export function certificatesStatement(situation: Situation): readonly Statement[] {
  const { certificates, cluster } = situation;
  const type = 'CertificatesReady';
  switch (certificates.kind) {
    case 'none':
      return [
        {
          type,
          status: 'False',
          reason: 'Disabled',
          message: 'plaintext, as spec.tls.mode says: every client that reaches the pods can read and write all keys',
        },
      ];
    case 'unread':
      return keptStatement(type, cluster.status?.conditions);
    case 'unknown':
      return [{ type, status: 'Unknown', reason: 'NotRead', message: certificates.cause }];
    case 'read':
      return [{ type, ...(issuanceStatement(situation, certificates) ?? judged(situation, certificates)) }];
  }
}

function judged(situation: Situation, { authorities, leaves }: ReadCertificates): Omit<Statement, 'type'> {
  const absent = [
    ...Object.values(authorities).map(({ name, facts }) => ({ name, facts })),
    ...leaves.map(({ plan, facts }) => ({ name: plan.secretName, facts })),
  ].find(({ facts }) => !facts);
  const ours = situation.effective.inputs.tls.mode === 'Managed';
  const suspended = staySuspended(situation) !== undefined;
  const [defect] = [...leaves.flatMap(({ defects }) => defects).filter(isFatal), ...revokedDefects(situation)];
  // A person does not have to create what etcd-ratchet makes itself.
  if (defect && !absent) {
    const cure =
      ours && suspended ? 'resume the cluster: no certificate is renewed while it is suspended' : defect.cure;
    return { status: 'False', reason: defect.reason, message: withCure(defect.message, cure) };
  }
  if (absent) return { status: 'False', reason: 'Issuing', message: `Secret ${absent.name} does not exist yet` };
  if (Object.values(authorities).some(({ facts }) => facts && facts.trust.length > 1)) {
    return {
      status: 'False',
      reason: 'RotatingAuthorities',
      message: 'two CAs are trusted while the new one replaces the old one',
    };
  }
  const behind = holderBehind(situation, authorities, leaves);
  if (behind !== undefined) {
    return {
      status: 'False',
      reason: 'LoadingAuthorities',
      message: `${behind} has not loaded the current CAs yet`,
    };
  }
  const unsigned = signingTrouble(situation, { authorities });
  if (unsigned) return troubleStatement(unsigned);
  // Due and not being renewed: the cluster is suspended, or a Secret of another owner, or a member that is away, holds
  // it up.
  const due = ours ? dueIn({ authorities, leaves }, situation.at) : undefined;
  if (due !== undefined) {
    const why = suspended ? ', and no certificate is renewed while the cluster is suspended' : '';
    return { status: 'False', reason: 'RenewalDue', message: `${due} is due${why}` };
  }
  const unseen = leaves.find(({ plan, facts, served }) => plan.peer !== undefined && served !== facts?.fingerprint);
  if (unseen) {
    const { peer, secretName } = unseen.plan;
    return {
      status: 'False',
      reason: 'Propagating',
      message: `${peer} does not present the certificate in ${secretName} yet`,
    };
  }
  return {
    status: 'True',
    reason: 'Served',
    message: `every member presents its certificate, and verifies those of all others${withoutGateway(situation)}`,
  };
}

function withoutGateway({ effective }: Situation): string {
  return effective.inputs.tls.allowedNames ? "; etcd's HTTP gateway is off, as allowedNames Own has it" : '';
}

function dueIn(
  { authorities, leaves }: Pick<ReadCertificates, 'authorities' | 'leaves'>,
  at: Date,
): string | undefined {
  const leaf = leaves.find(({ facts }) => facts && isDue(facts, at));
  if (leaf) return `the certificate in ${leaf.plan.secretName}`;
  const authority = Object.values(authorities).find(({ facts }) => facts && isDue(facts, at));
  return authority && `the CA in ${authority.name}`;
}

/** A Secret that still says to trust others, or a member that was not yet started with those that it should trust. */
function holderBehind(
  { slots, effective }: Situation,
  authorities: ReadCertificates['authorities'],
  leaves: ReadCertificates['leaves'],
): string | undefined {
  const stale = leaves.find(({ plan, facts }) => {
    const wanted = authorities[plan.authority]?.facts?.trust;
    return facts && wanted && !sameSet(facts.trust, wanted);
  });
  if (stale) return `Secret ${stale.plan.secretName}`;
  const { trust } = effective.inputs.tls;
  return slots.find(
    ({ peer, pod }) => peer?.current && (peer.inputs.tls.trust !== trust || (pod && pod.trust !== trust)),
  )?.name;
}
