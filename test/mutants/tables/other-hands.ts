import type { Mutant } from '../mutant.ts';

const world = 'test/unit/cluster/world/other-hands.test.ts';
const actions = 'test/unit/cluster/actions/other-hands.test.ts';

/** What other clients write into StatefulSets of ours (I16). */
export const ofOtherHands: readonly Mutant[] = [
  {
    file: 'reconcile/cluster/act/actions/rolling/restart-member.ts',
    from: '    yield* requireOwnTemplate(peer, set);\n',
    to: '',
    without: 'a member is restarted on what another client wrote since it was looked at (I16)',
    killers: [world],
  },
  {
    file: 'reconcile/cluster/act/actions/rolling/reconfigure-members.ts',
    from: '  yield* requireOwnTemplate(peer, set);\n',
    to: '',
    without: 'a member is cured with what another client wrote since its template (I16)',
    killers: [actions],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/recreate-pod.ts',
    from: '    if (set) yield* requireOwnTemplate(peer, set);\n',
    to: '',
    without: 'a pod that hangs is recreated on what another client wrote (I16)',
    killers: [actions],
  },
  {
    file: 'reconcile/cluster/observe/own-set.ts',
    from: 'note.uid === metadata.uid && ',
    to: '',
    without: 'a StatefulSet that another client made anew counts as compared',
    killers: [world],
  },
  {
    file: 'reconcile/cluster/observe/own-set.ts',
    from: ' && note.generation === metadata.generation',
    to: '',
    without: 'a StatefulSet that was compared once is never compared again',
    killers: [world],
  },
  {
    file: 'reconcile/cluster/observe/own-set.ts',
    from: '  const annotations = { ...ofOthers(found), ...template.metadata.annotations };\n',
    to: '  const annotations = { ...template.metadata.annotations };\n',
    without: 'what kubectl rollout restart sets is put back as a change of another client',
    killers: [world],
  },
  {
    file: 'reconcile/cluster/decide/rules/rolling/keep-templates.ts',
    from: 'since.length < atOnce || ',
    to: 'since.length < 100 || ',
    without: 'two clients that never agree write for ever',
    killers: [world],
  },
  {
    file: 'reconcile/cluster/decide/rules/rolling/keep-templates.ts',
    from: 'Math.min(...since) >= pauseMinutes',
    to: 'false',
    without: 'what another client changed three times is never written again',
    killers: [world],
  },
  {
    file: 'reconcile/cluster/know/health/health.ts',
    from: ' && !slot.statefulSet?.drift) {',
    to: ') {',
    without: 'a pod of ours counts as outdated beside a template of another client',
    killers: [world],
  },
];
