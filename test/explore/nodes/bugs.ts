import { decideNodes } from '../../../reconcile/nodes/decide.ts';
import type { NodesObservation } from '../../../reconcile/nodes/observation.ts';
import type { Request, Program as Requests } from '../../../reconcile/requests/program.ts';
import type { NodesCode } from './invocation.ts';
import { type NodesScenario, nodesScenarios } from './scenarios.ts';

/** Bugs that are put in on purpose: a search that does not find them searches nothing. */
export interface NodesBug {
  readonly name: string;
  readonly what: string;
  readonly violates: string;
  readonly scenario: string;
  readonly faults: NodesScenario['faults'];
  readonly seed: (code: NodesCode) => NodesCode;
}

export const nodesBugs: readonly NodesBug[] = [
  {
    name: 'reboots-two',
    what: 'etcd is not asked, and disruption budgets let any member go',
    violates: 'I1',
    scenario: 'reboots: two of three',
    faults: {},
    seed: (code) => ({ ...code, letsAnyGo: true, decide: (seen) => decideNodes(deaf(seen)) }),
  },
  {
    name: 'grants-first',
    what: 'etcd is asked before members leave, and not before a node begins',
    violates: 'I1',
    scenario: 'reboots: two members of one cluster',
    faults: {},
    seed: (code) => ({ ...code, decide: (seen) => (isFree(seen) ? decideNodes(deaf(seen)) : decideNodes(seen)) }),
  },
  {
    name: 'keeps-leaders',
    what: 'no leader is moved before it leaves',
    violates: 'I1',
    scenario: 'reboots: one of three',
    faults: {},
    seed: (code) => ({ ...code, decide: (seen) => decideNodes(leaderless(seen)) }),
  },
  {
    name: 'evicts-unheld',
    what: 'members leave while their cluster is not held',
    violates: 'I7',
    scenario: 'reboots: one of three',
    faults: {},
    seed: (code) => without(code, ({ kind }) => kind === 'holdCluster'),
  },
  {
    name: 'stays-cordoned',
    what: 'a node that is put off is not uncordoned',
    violates: 'convergence',
    scenario: 'reboots: a person is at it',
    faults: { withdraw: 1 },
    seed: (code) => without(code, ({ kind, ask }) => kind === 'writeNode' && putsOff(ask)),
  },
];

/** As small as it may be to find it. @throws when there is none of that name. */
export function nodesScenarioOf({ scenario: name, faults }: NodesBug): NodesScenario {
  const scenario = nodesScenarios.find((one) => one.name === name);
  if (!scenario) throw new Error(`there is no scenario "${name}"`);
  return { ...scenario, faults, atMost: Object.values(faults).reduce((sum, times) => sum + times, 0) };
}

/** Nothing is known of etcd. */
function deaf(seen: NodesObservation): NodesObservation {
  const { policy, clusters } = seen;
  const grants = policy.status?.grants?.map((grant) => ({ ...grant, clusters: [] })) ?? [];
  return {
    ...seen,
    policy: { ...policy, status: { observedGeneration: 1, ...policy.status, grants } },
    clusters: clusters.map(({ key }) => ({
      key,
      mayLoseQuorum: true,
      clusterId: 'c',
      voters: 0,
      learners: 0,
      members: [],
    })),
  };
}

function isFree({ policy }: NodesObservation): boolean {
  return (policy.status?.grants ?? []).length === 0;
}

function leaderless(seen: NodesObservation): NodesObservation {
  const clusters = seen.clusters.map((one) => ({
    ...one,
    members: one.members.map((member) => ({ ...member, leads: false })),
  }));
  return { ...seen, clusters };
}

function putsOff(ask: unknown): boolean {
  return (ask as { readonly change: { readonly putOff?: string } }).change.putOff !== undefined;
}

/** The same lines; of some requests nothing is sent, and they count as answered. */
function without(code: NodesCode, isLeftOut: (request: Request) => boolean): NodesCode {
  return { ...code, run: (action, seen) => leaving(code.run(action, seen), isLeftOut) };
}

function* leaving<R>(program: Requests<R>, isLeftOut: (request: Request) => boolean): Requests<R> {
  let step = program.next();
  while (!step.done) {
    const { value } = step;
    step = program.next(!('sideBySide' in value) && isLeftOut(value) ? undefined : yield value);
  }
  return step.value;
}
