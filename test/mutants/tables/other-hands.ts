import type { Mutant } from '../mutant.ts';

const world = 'test/unit/cluster/world/other-hands.test.ts';
const unread = 'test/unit/cluster/world/other-hands-unread.test.ts';
const shared = 'test/unit/cluster/world/other-hands-random.test.ts';
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
    file: 'reconcile/cluster/know/contested.ts',
    from: 'minutes.length >= atOnce && ',
    to: 'minutes.length >= 100 && ',
    without: 'two clients that never agree write for ever',
    killers: [world],
  },
  {
    file: 'reconcile/cluster/know/contested.ts',
    from: 'Math.min(...minutes) < pauseMinutes && ',
    to: '',
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
  {
    file: 'reconcile/cluster/observe/shared.ts',
    from: "key === 'selector' ? isDeepStrictEqual(fields[key], value) : ",
    to: '',
    without: 'a Service or a budget selects fewer pods because of a label that another client added',
    killers: [shared],
  },
  {
    file: 'reconcile/cluster/observe/shared.ts',
    from: ' && !hasFieldsOfOthers(found, wanted)',
    to: '',
    without: 'a Service lets clients in to members that are not Ready, because another client says so',
    killers: [shared],
  },
  {
    file: 'reconcile/cluster/act/requests/cluster.ts',
    from: 'spec: withoutOthers(found, wanted) }',
    to: 'spec: found.spec }',
    without: 'what another client added to a Service or a budget stays when it is written anew',
    killers: [shared],
  },
  {
    file: 'reconcile/cluster/decide/rules/birth/support-members.ts',
    from: "state === 'drifted' && isContested(",
    to: "state === 'missing' && isContested(",
    without: 'a Service that another client changes each time is written for ever',
    killers: [shared],
  },
  {
    file: 'reconcile/nodes/cluster-seen.ts',
    from: '  if (drifted?.statefulSet?.drift) return',
    to: '  if (drifted === undefined && drifted?.statefulSet?.drift) return',
    without: 'a node is rebooted, and its member comes back on the template of another client (I16)',
    killers: ['test/unit/nodes/other-hands.test.ts'],
  },
  {
    file: 'reconcile/nodes/cluster-seen.ts',
    from: " || (kind === 'refuse' && decision.waited)",
    to: '',
    without: 'a node is rebooted in the middle of an upgrade, since that has lasted for an hour',
    killers: ['test/unit/nodes/long-waits.test.ts'],
  },
  {
    file: 'reconcile/cluster/act/actions/rolling/put-back-templates.ts',
    from: '      yield* clearToRun(name, yield* readPod({ name }), peer.inputs.version);\n',
    to: '',
    without: 'a member that another client started on the next minor gets the lower one again (I6)',
    killers: [actions],
  },
  {
    file: 'reconcile/cluster/decide/rules/rolling/keep-templates.ts',
    from: '.filter((slot) => !keepsMinor(slot, situation))',
    to: '',
    without: 'what another client started on the next minor is never written with our flags again',
    killers: [world],
  },
  {
    file: 'reconcile/cluster/decide/rules/rolling/keep-templates.ts',
    from: 'drifted.filter(holdsUp)',
    to: 'drifted',
    without: 'no cluster is born where the API server takes no dry run',
    killers: [unread],
  },
  {
    file: 'reconcile/cluster/decide/rules/rolling/keep-templates.ts',
    from: 'changed.filter(holdsUp)',
    to: 'changed',
    without: 'no cluster is born where another client changes a template each time',
    killers: [unread],
  },
  {
    file: 'reconcile/cluster/observe/judge-sets.ts',
    from: '.catch((error) => unanswered(error, signal))',
    to: '',
    without: 'a webhook that is down keeps every member from being healed',
    killers: [unread],
  },
  {
    file: 'reconcile/cluster/decide/what-may-go-on.ts',
    from: "said.kind === 'refuse' && isReplaced",
    to: 'false',
    without: 'a template that a new policy denies can never be replaced by one that it takes',
    killers: [unread],
  },
];
