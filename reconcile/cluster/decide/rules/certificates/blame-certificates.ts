import { type Decision, refuse } from '../../../know/decision.ts';
import { isIll } from '../../../know/health/health.ts';
import type { Situation } from '../../../know/situation.ts';
import { fatalDefects, refusal } from './check-certificates.ts';

/**
 * A member is not healthy, and a certificate of the member or of etcd-ratchet has a defect that only a person can
 * correct. Waiting for the member is in vain, so the certificate is named first.
 */
export function blameCertificates(situation: Situation): Decision | undefined {
  const { certificates, slots } = situation;
  if (certificates.kind === 'unknown') {
    return refuse(
      'SecretsUnreadable',
      `the certificates cannot be read, and etcd cannot be asked without them: ${certificates.cause}`,
      'grant the service account of etcd-ratchet get, create, update and delete on Secrets, as manifests/install does',
    );
  }
  if (certificates.kind !== 'read') return undefined;
  const ill = slots.filter((slot) => slot.statefulSet && isIll(slot, situation)).map(({ name }) => name);
  if (ill.length === 0) return undefined;
  const involved = certificates.leaves.filter(({ plan: { peer, purpose } }) =>
    peer === undefined ? purpose === 'reconciler' : ill.includes(peer),
  );
  const taken = involved.find(({ state }) => state === 'foreign');
  if (taken) {
    return refuse(
      'NameTaken',
      `Secret ${taken.plan.secretName} belongs to another owner; it is left alone, and ${taken.plan.peer ?? 'etcd-ratchet'} needs a certificate there`,
      'rename or delete that Secret',
    );
  }
  const names = new Set(involved.flatMap(({ plan, issued }) => [plan.secretName, issued?.name]));
  const [defect] = fatalDefects(situation, certificates).filter(({ secretName }) => names.has(secretName));
  return defect && refusal(defect);
}
