import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import type { Tone } from './state.ts';

export interface CheckState {
  readonly tone: Tone;
  readonly word: string;
}

const states = {
  pending: { tone: 'busy', word: 'Being checked' },
  success: { tone: 'good', word: 'Passed' },
  failure: { tone: 'bad', word: 'Failed' },
  error: { tone: 'busy', word: 'Not checked' },
  untouched: { tone: 'calm', word: 'Changes nothing' },
} as const satisfies Record<RequestCheck['state'], CheckState>;

/** Also for a state that only a newer version knows. */
export function checkState(state: RequestCheck['state']): CheckState {
  return Object.hasOwn(states, state) ? states[state] : { tone: 'calm', word: state };
}
