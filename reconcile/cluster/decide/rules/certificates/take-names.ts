import { namesGiven, namesToApprove, volumesWithoutNames } from '../../../know/certificates/take-names.ts';
import { awaitsNames, namesHeld } from '../../../know/certificates/wanted.ts';
import { act, type Decision } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * As a person approved, members are to let in names only: recorded on all volumes before the first of them restarts for
 * it, so that no later look opens the cluster again. A volume that lacks what the others have gets it without a word.
 *
 * Below the gate: members that ask for names refuse those whose leaves have none, and all were seen to have them.
 */
export function takeNames(situation: Situation): Decision | undefined {
  const { cluster, slots, life, certificates } = situation;
  const allowedNames = namesHeld(cluster, slots);
  if (life.stage !== 'born' || !(allowedNames || awaitsNames(cluster, slots))) return undefined;
  const volumes = volumesWithoutNames(slots).flatMap(({ name, volume }) => (volume ? [{ name, uid: volume.uid }] : []));
  if (volumes.length === 0) return undefined;
  const names = volumes.map(({ name }) => name).join(', ');
  if (allowedNames) {
    const message = `recording on ${names} that members let in names only, as on the others`;
    return act({ kind: 'take-names', volumes, allowedNames, seen: [] }, 'TakingNames', message);
  }
  const approval = namesToApprove(situation, life)?.value;
  if (approval === undefined || namesGiven(situation) !== approval || certificates.kind !== 'read') return undefined;
  const seen = certificates.leaves.flatMap(({ plan, facts }) =>
    plan.ahead !== undefined && facts ? [{ secretName: plan.secretName, fingerprint: facts.fingerprint }] : [],
  );
  return act(
    { kind: 'take-names', approval, volumes, allowedNames: 'Taken', seen },
    'TakingNames',
    `as approved, recording on ${names} that members let in names only; then each restarts for it`,
  );
}
