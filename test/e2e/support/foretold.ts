import assert from 'node:assert/strict';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { ClusterPlan } from '../../../reconcile/cluster/foresee/plan-clusters.ts';
import { isAsForetold, line, type Step } from '../../../reconcile/cluster/know/plan/as-foretold.ts';
import type { Scene } from './scene.ts';

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
 * The steps that were taken under the present spec are those that were foretold (`steps.ts`).
 *
 * @returns what to print of it
 */
export function assertForetold({ steps, summary }: Foretold, { metadata, status }: EtcdCluster): string {
  const history = (status?.history ?? []).filter(({ generation }) => generation === metadata.generation);
  const refused = history.filter(({ outcome }) => outcome === 'failed').length;
  const isCutOff = (status?.history?.length ?? 0) >= remembered;
  if (!isAsForetold(steps, history, { isCutOff })) {
    const taken = history.map((entry) => `${entry.outcome} ${line(entry)}`);
    assert.deepEqual(taken, steps.map(line), `${summary}, refused: ${refused}`);
    assert.fail(`${summary}, refused: ${refused}`);
  }
  return refused === 0 ? `as foretold: ${summary}` : `as foretold but for ${refused} refused by etcd: ${summary}`;
}
