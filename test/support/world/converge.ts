import assert from 'node:assert/strict';
import { readVolumeRecord } from '../../../manifests/render/volume-record.ts';
import { targetOf } from '../../../reconcile/cluster/act/act.ts';
import type { PlannedStep } from '../../../reconcile/cluster/foresee/plan.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Faults } from './invocation.ts';
import type { TickOptions, World } from './world.ts';

/** What came of ticking: `done` at rest, `refuse` where it needs a person, `gone` when the resource is no more. */
export interface Converged {
  readonly kind: 'done' | 'refuse' | 'gone';
  readonly reason: string;
  readonly message: string;
  /** Steps that were carried out. */
  readonly acts: number;
  /** The same, as a plan names them. */
  readonly steps: readonly PlannedStep[];
  readonly trail: readonly string[];
}

/** A refusal that has not changed for so many ticks is the end. */
const patience = 6;

export interface Pace {
  /** Controllers take one small step between two ticks, instead of all they can. */
  readonly slow?: boolean;
  readonly limit?: number;
  /** Of every invocation. */
  readonly faults?: Faults;
  readonly options?: TickOptions;
  /** What others do between two ticks. */
  readonly meanwhile?: () => Promise<void>;
}

/**
 * Ticks until there is nothing left to do.
 *
 * @throws {AssertionError} with every decision on the way, when it does not come to an end: a live-lock.
 */
export async function tickUntilConverged(
  world: World,
  { slow = false, limit = 120, faults = {}, options = {}, meanwhile = async () => {} }: Pace = {},
): Promise<Converged> {
  const trail: string[] = [];
  const steps: PlannedStep[] = [];
  let still = 0;
  for (let ticks = 0; ticks < limit; ticks += 1) {
    if (slow) world.round();
    else world.settle();
    await meanwhile();
    const result = await world.tick(faults, options);
    if (!result) return { kind: 'gone', reason: 'Gone', message: '', acts: steps.length, steps, trail };
    const { decision, outcome, problem } = result;
    trail.push(`${decision.kind} ${decision.reason} ${outcome}${problem === undefined ? '' : `: ${problem}`}`);
    if (decision.kind === 'act' && outcome === 'acted') steps.push(stepOf(decision));
    assert.deepEqual(world.violations, [], trail.join('\n'));
    const rests = decision.kind === 'refuse' || decision.kind === 'done' || !result.workRemains;
    still = rests && trail.at(-1) === trail.at(-2) ? still + 1 : 0;
    const finished = decision.kind === 'done' && decision.reason !== 'BeingDeleted' && outcome !== 'lost';
    if (finished || still >= patience) {
      const kind = decision.kind === 'done' ? 'done' : 'refuse';
      return { kind, reason: decision.reason, message: problem ?? decision.message, acts: steps.length, steps, trail };
    }
    // Twice the same with nothing done, while all else has settled: only time can help.
    const idles = !slow && outcome === 'none' && trail.at(-1) === trail.at(-2);
    world.advance(idles || decision.reason === 'AnotherInvocationActs' ? 31 : Math.max(2, untilWake(decision)));
  }
  return assert.fail(`no end after ${limit} ticks:\n${trail.join('\n')}`);
}

function stepOf({ action, reason, message }: Extract<Decision, { kind: 'act' }>): PlannedStep {
  const target = targetOf(action);
  return { action: action.kind, ...(target && { target }), reason, message };
}

/** Seconds that a decision would sleep through, where nothing but time can change its mind. */
function untilWake(decision: Decision): number {
  if (decision.kind !== 'wait') return 0;
  return Math.min(...decision.wakeOn.map((wake) => (wake.on === 'time' ? wake.afterSeconds : 0)));
}

/** One etcd cluster, under one token, every volume sealed under its ID, every member running, and a voter. */
export function assertOneCluster(world: World, size: number, context = ''): void {
  const records = world.claims().map(({ metadata }) => {
    const read = readVolumeRecord(metadata.annotations);
    return read.kind === 'valid' ? read.record : assert.fail(`${metadata.name}: ${read.kind}`);
  });
  assert.equal(records.length, size, `${size} volumes ${context}`);
  assert.equal(new Set(records.map(({ token }) => token)).size, 1, `one token ${context}`);
  assert.equal(new Set(records.map(({ clusterId }) => clusterId)).size, 1, `one cluster ID ${context}`);
  assert.deepEqual(new Set(records.map(({ state }) => state)), new Set(['sealed']), context);
  const running = [...world.processes.values()].map(({ data }) => data.clusterId);
  assert.deepEqual(running, Array(size).fill(records[0]?.clusterId), `all members run ${context}`);
  const { members = [], acknowledged = 0 } = world.formations.get(records[0]?.clusterId ?? '') ?? {};
  assert.equal(members.filter(({ isLearner }) => !isLearner).length, size, `all are voters ${context}`);
  assert.equal(members.length, size, `nobody else is on the list ${context}`);
  for (const { data, pod } of world.processes.values())
    assert.equal(data.applied, acknowledged, `${pod} has every acknowledged write ${context}`);
}
