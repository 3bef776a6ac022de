import type { Situation } from '../decide.ts';
import { type Decision, refuse } from '../decision.ts';
import { isIll } from '../health.ts';
import { fatalDefects, refusal } from './check-certificates.ts';

/**
 * A member that is not well while there is something wrong with its certificates, or ours, that nobody here can put right: it is
 * waited for in vain, so the certificate is named before anybody waits.
 */
export function blameCertificates(situation: Situation): Decision | undefined {
  const { certificates, slots } = situation;
  if (certificates.kind === 'unknown') {
    return refuse(
      'SecretsUnreadable',
      `the certificates can not be looked at, and etcd can not be asked without one: ${certificates.cause}`,
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
      `Secret ${taken.plan.secretName} is not this cluster's; it is left alone, and ${taken.plan.peer ?? 'etcd-ratchet'} needs a certificate there`,
      'rename or delete it',
    );
  }
  const names = new Set(involved.flatMap(({ plan, issued }) => [plan.secretName, issued?.name]));
  const [defect] = fatalDefects(situation, certificates).filter(({ secretName }) => names.has(secretName));
  return defect && refusal(defect);
}
