import assert from 'node:assert/strict';
import { parser } from '@prometheus-io/lezer-promql';
import { kinds } from '../../../manifests/api/group.ts';
import { definitions } from '../../../manifests/api/kinds.ts';
import { etcdLabels, etcdMetrics } from '../../../manifests/monitoring/etcd-metrics.ts';
import { cronJobMetrics } from '../../../manifests/monitoring/kube-state-metrics.ts';
import { metrics } from '../../../manifests/monitoring/metrics.ts';
import { pushed } from '../../../manifests/monitoring/pushed.ts';

interface Selector {
  readonly metric: string;
  readonly labels: string[];
}

/** Every series that anything of ours makes, with its labels. */
const known: ReadonlyMap<string, readonly string[]> = new Map([
  ...kinds.flatMap((kind) =>
    metrics[kind].metrics.map(({ name, labels = {}, labelFromKey }) => {
      const whose = definitions[kind].clusterScoped ? ['name'] : ['namespace', 'name'];
      const own = [...Object.keys(labels), ...(labelFromKey ? [labelFromKey] : [])];
      return [`${metrics[kind].prefix}_${name}`, [...whose, ...own]] as const;
    }),
  ),
  ...Object.entries(pushed).map(([name, { labels }]) => [name, labels] as const),
  ...Object.keys(cronJobMetrics).map((name) => [name, ['namespace', 'cronjob']] as const),
  ...Object.keys(etcdMetrics).map(
    (name) =>
      [
        name,
        ['namespace', 'pod', ...Object.values(etcdLabels), ...(name.endsWith('_bucket') ? ['le', 'To'] : [])],
      ] as const,
  ),
]);

/** The vector selectors of an expression. @throws where it is no PromQL, or asks for what nothing makes */
export function selectorsOf(expr: string): readonly Selector[] {
  const found: Selector[] = [];
  const text = (from: number, to: number) => expr.slice(from, to);
  parser.parse(expr).iterate({
    enter: ({ name, type, from, to }) => {
      assert.ok(!type.isError, `${expr}: not PromQL at ${from}`);
      if (name === 'Identifier') found.push({ metric: text(from, to), labels: [] });
      if (name === 'LabelName') found.at(-1)?.labels.push(text(from, to));
    },
  });
  assert.ok(found.length > 0, `${expr} asks for nothing`);
  const there = new Set(found.flatMap(({ metric }) => known.get(metric) ?? assert.fail(`there is no ${metric}`)));
  for (const { metric, labels } of found)
    for (const label of labels) assert.ok(there.has(label), `${expr}: nothing of ${metric} has the label ${label}`);
  return found;
}

/** Labels that the series of an expression may have. */
export function labelsOf(expr: string): ReadonlySet<string> {
  return new Set(selectorsOf(expr).flatMap(({ metric }) => known.get(metric) ?? []));
}
