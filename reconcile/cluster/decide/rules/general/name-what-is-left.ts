import type { Decision, Refused } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';
import { nameUnlabelledPods } from '../birth/keep-labels.ts';
import { checkCertificates } from '../certificates/check-certificates.ts';
import { nameUnreadableRequest } from '../space/defragment.ts';
import { awaitGrowth } from '../volumes/await-growth.ts';
import { nameRefusals } from './name-refusals.ts';

type Told = Refused | Extract<Decision, { kind: 'wait' }>;

/**
 * Everything that remains to be reported of a cluster that is otherwise as it should be. All that a person must do
 * comes first, complete; what is only awaited is reported where there is nothing for a person to do.
 */
export function nameWhatIsLeft(situation: Situation): Decision | undefined {
  const left = whatIsLeft(situation);
  const [head, ...besides] = left.filter(isRefused);
  if (head) return besides.length === 0 ? head : { ...head, besides };
  const waits = left.filter((told) => told.kind === 'wait');
  return waits[0] && { ...waits[0], wakeOn: waits.flatMap(({ wakeOn }) => wakeOn) };
}

/** A refusal that ends the decision, with everything else that a person must do. */
export function besidesWhatIsLeft(refusal: Refused, situation: Situation): Decision {
  const besides = whatIsLeft(situation).filter(isRefused);
  return besides.length === 0 ? refusal : { ...refusal, besides };
}

function whatIsLeft(situation: Situation): readonly Told[] {
  const others = [checkCertificates(situation), awaitGrowth(situation)];
  return [
    ...nameRefusals(situation),
    ...nameUnlabelledPods(situation),
    ...nameUnreadableRequest(situation),
    ...others.flatMap((told) => (told?.kind === 'refuse' || told?.kind === 'wait' ? [told] : [])),
  ];
}

function isRefused(told: Told): told is Refused {
  return told.kind === 'refuse';
}
