import { act, type Decision } from '../know/decision.ts';
import type { Ref } from '../know/ref.ts';
import type { Inputs } from '../know/spec/inputs.ts';

/**
 * Gives peers the configuration of the spec before they are started: later, it would take another start.
 *
 * @param what it comes before, as "the first start"
 */
export function configureBeforeStart(peers: readonly Ref[], inputs: Inputs, what: string): Decision {
  return act(
    { kind: 'reconfigure-members', peers, inputs },
    'UpdatingPeers',
    `giving ${peers.map(({ name }) => name).join(', ')} the configuration of the spec before ${what}`,
  );
}
