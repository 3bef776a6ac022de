import { jobNameOf } from '../../../manifests/render/names.ts';
import type { RecoveryHost } from '../act/requests/host.ts';
import type { Observation, RecoveryView } from '../know/observation.ts';
import { nodesWithPods } from '../know/pods/node-fence.ts';

/** A recovery as it would be observed. */
export const observedRecovery: RecoveryHost<Observation> = {
  nodes: ({ slots }) => nodesWithPods(slots),
  job: (state, name, work) => {
    const { job } = recoveryOf(state);
    return job?.name === jobNameOf(name, work) ? job : undefined;
  },
  makeJob: (state, name, attempt, { work, trial, begins }) => {
    const uid = `${work}-${attempt.replace('/', '-')}`;
    const job = { name: jobNameOf(name, work), uid, leaving: false, attempt, failed: false };
    const kind = { ...(trial && { trial }), ...(begins && { begins: true as const }) };
    return { ...state, recovery: { ...recoveryOf(state), job: { ...job, ...kind } } };
  },
  removeJob: (state) => {
    const { job: _, ...rest } = recoveryOf(state);
    return { ...state, recovery: rest };
  },
  makeLogJob: (state, name, job) => ({
    ...state,
    slots: state.slots.map((slot) => (slot.name === name ? { ...slot, log: { kind: 'reading', job } } : slot)),
  }),
  pods: (state) => recoveryOf(state).pods,
};

export function recoveryOf({ recovery }: Observation): Extract<RecoveryView, { kind: 'known' }> {
  return recovery?.kind === 'known' ? recovery : { kind: 'known', pods: [], nodes: {} };
}
