import { intermediateDue, mayBeAskedAgain, mayBeSigned } from '../../../know/certificates/intermediate.ts';
import { act, type Decision } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * The client CA is signed by the issuer that `spec.tls.managed.issuerRef` names: asked for at once, and again after two
 * thirds of its life. Members trust the cluster's own CAs alone, so this changes no trust, and holds nothing up:
 * `checkCertificates` reports what keeps it.
 */
export function keepIntermediate(situation: Situation): Decision | undefined {
  const { cluster, certificates, effective, nameAllowances, life } = situation;
  if (certificates.kind !== 'read' || effective.inputs.tls.mode !== 'Managed' || life.stage !== 'born')
    return undefined;
  const order = intermediateDue(cluster, certificates, situation.at);
  if (!order || !mayBeSigned(cluster, order, nameAllowances)) return undefined;
  const { signing } = certificates.authorities.client ?? {};
  const at = situation.at.toISOString();
  if (signing?.state === 'signed' && signing.flaw === undefined) {
    const fingerprint = signing.chain[0]?.fingerprint ?? '';
    const taken = `handing over what ${order.issuer} signed for the client CA`;
    return act({ kind: 'take-intermediate', order, fingerprint, at }, 'IssuingCertificates', taken);
  }
  const asked = `asking ${order.issuer} to sign the client CA of ${cluster.metadata.name}`;
  if (!signing || signing.state === 'missing') {
    return act({ kind: 'request-intermediate', order, at }, 'RequestingCertificates', asked);
  }
  if (!('uid' in signing) || !mayBeAskedAgain(signing, situation.at)) return undefined;
  const again = { kind: 'request-intermediate', order, instead: signing.uid, at } as const;
  return act(again, 'RequestingCertificates', `${asked} again`);
}
