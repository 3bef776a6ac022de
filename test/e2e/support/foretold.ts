import assert from 'node:assert/strict';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { ClusterHistoryEntry } from '../../../manifests/api/etcd-cluster-status.ts';
import type { ClusterPlan } from '../../../reconcile/cluster/foresee/plan-clusters.ts';
import type { Scene } from './scene.ts';

type Step = Pick<ClusterHistoryEntry, 'action' | 'target' | 'reason'>;

export interface Foretold {
  readonly summary: string;
  readonly steps: readonly Step[];
  readonly end: NonNullable<ClusterPlan['planned']>['end'];
}

/** What `tick --plan` says of one cluster, which a commit that was pushed and not applied yet may be about. */
export async function foretell({ tick, namespace }: Scene, name: string): Promise<Foretold> {
  const { code, stdout, stderr } = await tick('--plan', '--output', 'json');
  assert.equal(code, 0, stderr);
  const { clusters } = JSON.parse(stdout) as { readonly clusters: readonly ClusterPlan[] };
  const found = clusters.find((cluster) => cluster.name === name && cluster.namespace === namespace);
  assert.ok(found?.planned, found?.problem ?? stdout);
  return found.planned;
}

/** As many as the status remembers. */
const remembered = 20;

/**
 * The steps that were taken under the present spec are those that were foretold, in their order.
 *
 * Waiting is no step. Members that have started are sealed at once, and do not all start at once: however many steps
 * that takes, it counts as one. How often `advance-log` is repeated depends on how fast etcd is, so it counts as one.
 * etcd may elect another leader at any time, and the leader is started anew last: restarts that follow each other for
 * one reason are compared whatever their order (that the leader is the last is `rolling.test.ts`'s).
 * Where a call to etcd was refused (it refuses changes of its list for five seconds after a member started), what was
 * left half-done is finished by steps of its own: then what was foretold must all have been done in its order, and no
 * more besides than was refused.
 *
 * @returns what to print of it
 */
export function assertForetold({ steps, summary }: Foretold, { metadata, status }: EtcdCluster): string {
  const history = (status?.history ?? []).filter(({ generation }) => generation === metadata.generation);
  const taken = inAnyOrder(sealedTogether(history.filter(({ outcome }) => outcome === 'acted')))
    .map(line)
    .filter(isNoRepetition);
  const refused = history.filter(({ outcome }) => outcome === 'failed').length;
  const whole = inAnyOrder(sealedTogether(steps)).map(line).filter(isNoRepetition);
  const isWhole = (status?.history?.length ?? 0) < remembered;
  const foretold = isWhole ? whole : whole.slice(-taken.length);
  if (refused === 0) {
    assert.deepEqual(taken, foretold, summary);
    return `as foretold: ${summary}`;
  }
  // What was refused half-way was begun: the rest of it is the next step's. Its reason is then why it was refused.
  const tried = inAnyOrder(
    sealedTogether(history.filter(({ outcome }) => outcome === 'acted' || outcome === 'failed')),
  );
  const begun = tried
    .map((step) => ({ words: line(step), did: begunAs(step), hasFailed: step.outcome === 'failed' }))
    .filter(({ words }, index, all) =>
      isNoRepetition(
        words,
        index,
        all.map((one) => one.words),
      ),
    );
  const matches = (expected: readonly string[]) => {
    const missing = [...expected];
    const besides = begun.filter(({ words, did, hasFailed }) => {
      const isExpected = hasFailed ? missing[0]?.startsWith(`${did} `) === true : words === missing[0];
      if (isExpected) missing.shift();
      return !isExpected && !hasFailed;
    });
    return missing.length === 0 && besides.length <= refused;
  };
  // The first of them may be forgotten by now, each that was refused as well.
  const shortest = isWhole ? foretold.length : Math.max(1, taken.length - refused);
  const isAsForetold = foretold.some(
    (_, index) => foretold.length - index >= shortest && matches(foretold.slice(index)),
  );
  assert.ok(isAsForetold, `${summary}, refused: ${refused}; tried:\n${begun.map(({ words }) => words).join('\n')}`);
  return `as foretold but for ${refused} refused by etcd: ${summary}`;
}

function sealedTogether<T extends Step>(steps: readonly T[]): readonly T[] {
  const joined: T[] = [];
  for (const step of steps) {
    const before = joined.at(-1);
    if (step.action !== 'seal-members' || before?.action !== step.action) joined.push(step);
    else joined.splice(-1, 1, { ...step, target: targets(before, step).join(', ') });
  }
  return joined;
}

/** Restarts next to each other, for one reason, by the name of the member. */
function inAnyOrder<T extends Step>(steps: readonly T[]): readonly T[] {
  const sorted = [...steps];
  for (let start = 0, end = 1; start < sorted.length; start = end++) {
    const first = sorted[start];
    while (first?.action === 'change-template' && isAlike(first, sorted[end])) end++;
    const block = sorted.slice(start, end).toSorted((a, b) => (a.target ?? '').localeCompare(b.target ?? ''));
    sorted.splice(start, block.length, ...block);
  }
  return sorted;
}

function isAlike(one: Step, other: Step | undefined): boolean {
  return one.action === other?.action && one.reason === other.reason;
}

function targets(...steps: readonly Step[]): readonly string[] {
  return steps.flatMap(({ target = '' }) => target.split(', ')).toSorted();
}

function begunAs({ action, target = '' }: Step): string {
  return `${action} ${target}`;
}

function line(step: Step): string {
  return `${begunAs(step)} ${step.reason}`;
}

function isNoRepetition(step: string, index: number, all: readonly string[]): boolean {
  return !step.startsWith('advance-log') || step !== all[index - 1];
}
