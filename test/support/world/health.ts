import type { AskHealth } from '../../../reconcile/cluster/step-context.ts';
import { isInQuorum, leaderOf } from './quorum.ts';
import { takesWrites } from './space.ts';
import type { State } from './state.ts';

/** What members answer on their metrics ports: without TLS, whoever asks. */
export function healthOf(state: State): AskHealth {
  return async (asked) => {
    const process = [...state.processes.values()].find(({ address }) => address === asked);
    const formation = process && state.formations.get(process.data.clusterId);
    if (!process?.served || !formation) return false;
    const isLed = leaderOf(state, process.data.clusterId) !== undefined && isInQuorum(state, process);
    return isLed && takesWrites(formation);
  };
}
