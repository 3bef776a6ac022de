import type { Mutant } from '../mutant.ts';

const file = 'reconcile/cluster/observe/stages.ts';
const killers: Mutant['killers'] = ['test/unit/cluster/stages.test.ts'];

/** Stages of a fleet in which a commit begins. */
export const ofStages: readonly Mutant[] = [
  {
    file,
    from: 'unapplied ?? unseen ?? others',
    to: 'unseen ?? others',
    without: 'a document that is refused in the first stage lets the commit reach all others',
    killers,
  },
  {
    file,
    from: 'unapplied ?? unseen ?? others',
    to: 'unapplied ?? others',
    without: 'the first stage is over when one of its clusters was deleted',
    killers,
  },
  {
    file,
    from: 'isLeft(one.cluster) ? before.find((other) => other !== undefined) : untold',
    to: 'before.find((other) => other !== undefined)',
    without: 'an invocation that sees half of an apply begins with the last stage',
    killers,
  },
  {
    file,
    from: 'if (!context.isLeft(cluster)) return',
    to: "if (name === '') return",
    without: 'a cluster of the first stage that was listed before its commit ends the stage',
    killers,
  },
  {
    file,
    from: 'if (running.length === 0) return say(',
    to: 'if (running.length < 0) return say(',
    without: 'a slip in the labels of a stage sets all clusters free',
    killers,
  },
  {
    file,
    from: "if (!says(last, 'Converged') || !isTrue(status, 'Ready') || setAside.length > 0)",
    to: "if (!isTrue(status, 'Ready'))",
    without: 'a stage ends although a person is needed in it',
    killers,
  },
  {
    file,
    from: 'if (wantsToChange(objects) || takesRoom(objects)) return',
    to: 'if (takesRoom(objects)) return',
    without: 'a stage ends before its clusters have the commit',
    killers,
  },
  {
    file,
    from: 'times.length === objects.cluster.spec.replicas ? ',
    to: 'times.length > 0 ? ',
    without: 'a stage ends while a member of it is down',
    killers,
  },
  {
    file,
    from: 'Math.max(timeOf(ready.lastTransitionTime), timeOf(started))',
    to: 'timeOf(ready.lastTransitionTime)',
    without: 'an etcd that exits again and again counts as well',
    killers,
  },
  {
    file,
    from: 'Math.max(timeOf(ready.lastTransitionTime), timeOf(started))',
    to: 'timeOf(started)',
    without: 'a member that was not Ready during its soak counts as well all along',
    killers,
  },
  {
    file: 'reconcile/cluster/decide/wait-for-window.ts',
    from: 'if (isTold || given.some((one) => inputsHash(one) === wanted)) return undefined;',
    to: 'if (isTold || new Set(given.map(inputsHash)).size > 1) return undefined;',
    without: 'a cluster that is half rolled takes the next commit before its turn',
    killers,
  },
  {
    file: 'reconcile/cluster/decide/wait-for-window.ts',
    from: 'if (isTold || given.some((one) => inputsHash(one) === wanted)) return undefined;',
    to: '',
    without: 'a cluster stays half rolled when a stage before it falls ill',
    killers,
  },
  {
    file: 'reconcile/cluster/decide/wait-for-window.ts',
    from: 'return given.every((one) => inputsHash(one) === trusting(one)) ? undefined : held;',
    to: 'return held;',
    without: 'new CAs wait for stages of a commit that did not bring them',
    killers,
  },
  {
    file: 'reconcile/cluster/decide/what-may-go-on.ts',
    from: "(says(said, 'WaitingForStage', 'RolloutHalted') ? staged : otherwise(said, situation))",
    to: 'otherwise(said, situation)',
    without: 'a cluster that waits for its stage does not grow and is not defragmented',
    killers,
  },
  {
    file: 'reconcile/cluster/decide/held-version.ts',
    from: 'const inputs = configurationBefore(situation) ?? situation.effective.inputs;',
    to: 'const inputs = situation.effective.inputs;',
    without: 'a member that is replaced takes a bad commit before its turn',
    killers,
  },
  {
    file: 'reconcile/cluster/decide/held-version.ts',
    from: '  if (slots.some(isDownOnItsConfiguration)) return undefined;\n  const serving',
    to: '  const serving',
    without: 'a commit that cures a broken member waits for its stage',
    killers,
  },
  {
    file: 'reconcile/cluster/observe/room.ts',
    from: ", 'WaitingForStage', 'RolloutHalted');",
    to: ", 'RolloutHalted');",
    without: 'what waits for its stage keeps the room from what may begin',
    killers,
  },
  {
    file: 'reconcile/cluster/observe/room.ts',
    from: 'stageIn(a) - stageIn(b) || byName(a, b)',
    to: 'byName(a, b)',
    without: 'a cluster of a later stage that waits for a person keeps the only room',
    killers,
  },
];
