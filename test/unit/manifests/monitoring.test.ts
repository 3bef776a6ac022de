import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parser } from '@prometheus-io/lezer-promql';
import { kinds } from '../../../manifests/api/group.ts';
import { definitions } from '../../../manifests/api/kinds.ts';
import type { Structural } from '../../../manifests/api/schema.ts';
import { prometheusRule } from '../../../manifests/monitoring/alerts.ts';
import { customResourceStateMetrics, kubeStateMetricsRole } from '../../../manifests/monitoring/kube-state-metrics.ts';
import { metricNames, metrics } from '../../../manifests/monitoring/metrics.ts';
import { anchorsOf } from '../docs/pages.ts';

const root = join(import.meta.dirname, '../../..');

/** The schema of what is at a path, an entry's where that is a list; nothing where no such field is. */
function at(schema: Structural | undefined, path: readonly string[]): Structural | undefined {
  return path.reduce<Structural | undefined>((here, step) => (here?.items ?? here)?.properties?.[step], schema);
}

const metadata: Structural = { properties: { name: { type: 'string' }, namespace: { type: 'string' } } };
const whole = (kind: (typeof kinds)[number]): Structural => ({
  properties: { metadata, spec: definitions[kind].spec, status: definitions[kind].status },
});

/** What kube-state-metrics makes a number of: numbers, booleans, RFC 3339 times, and the words of a condition. */
function isNumeric({ type, format, enum: words }: Structural): boolean {
  if (type === 'integer' || type === 'boolean') return true;
  return format === 'date-time' || words?.every((word) => ['True', 'False', 'Unknown'].includes(word)) === true;
}

for (const kind of kinds)
  test(`each metric of ${kind} is of a field that the schema has, and a number or a label`, () => {
    assert.ok(metrics[kind].metrics.length > 0);
    for (const { name, type, path, labels = {}, value = [], labelFromKey } of metrics[kind].metrics) {
      const found = at(whole(kind), path) ?? assert.fail(`${kind} ${name}: there is no ${path.join('.')}`);
      const entry = found.items ?? found;
      for (const [label, to] of Object.entries(labels)) {
        assert.match(label, /^[a-z][a-z_]*$/);
        const field = at(entry, to);
        assert.ok(field?.type === 'string' || field?.enum, `${kind} ${name}: label ${label}`);
      }
      if (type === 'Info') assert.ok(found.items, `${kind} ${name} is of a list: with no entry there is no series`);
      else if (labelFromKey) assert.ok(Object.values(entry.properties ?? {}).every(isNumeric), name);
      else assert.ok(isNumeric(at(entry, value) ?? assert.fail(`${kind} ${name}: there is no ${value}`)), name);
    }
  });

test('names are Prometheus’, and no two are the same', () => {
  assert.equal(new Set(metricNames).size, metricNames.length);
  for (const name of metricNames) assert.match(name, /^etcd_ratchet_[a-z_]+[a-z]$/);
});

test('the configuration has only what kube-state-metrics documents', () => {
  const { kind, spec } = customResourceStateMetrics();
  assert.equal(kind, 'CustomResourceStateMetrics');
  assert.deepEqual(
    spec.resources.map(({ groupVersionKind }) => groupVersionKind.kind),
    [...kinds],
  );
  const keys = (object: object) => Object.keys(object).toSorted();
  const known = ['labelFromKey', 'labelsFromPath', 'nilIsZero', 'path', 'valueFrom'];
  for (const resource of spec.resources) {
    assert.deepEqual(keys(resource), [
      'errorLogV',
      'groupVersionKind',
      'labelsFromPath',
      'metricNamePrefix',
      'metrics',
    ]);
    for (const { name, each, ...rest } of resource.metrics) {
      assert.deepEqual(Object.keys(rest), ['help'], name);
      const [inner, ...more] = keys(each).filter((key) => key !== 'type');
      assert.deepEqual([inner, more], [each.type.toLowerCase(), []]);
      const config = 'info' in each ? each.info : each.gauge;
      assert.deepEqual(
        keys(config).filter((key) => !known.includes(key)),
        [],
      );
      const own = Object.keys(config.labelsFromPath ?? {});
      assert.ok(!own.some((label) => label in resource.labelsFromPath), `${name} hides whose it is`);
    }
  }
  const [{ resources = [] } = {}] = kubeStateMetricsRole().rules;
  assert.deepEqual(
    resources,
    kinds.map((one) => definitions[one].plural),
  );
});

/** Every vector selector of an expression: the metric, and the labels that it asks for. */
function selectors(expr: string) {
  const found: { metric: string; labels: string[] }[] = [];
  const text = (from: number, to: number) => expr.slice(from, to);
  parser.parse(expr).iterate({
    enter: ({ name, type, from, to }) => {
      assert.ok(!type.isError, `${expr}: not PromQL at ${from}`);
      if (name === 'Identifier') found.push({ metric: text(from, to), labels: [] });
      if (name === 'LabelName') found.at(-1)?.labels.push(text(from, to));
    },
  });
  return found;
}

test('an expression that is no PromQL is found', () => {
  assert.throws(() => selectors('etcd_ratchet_fleet_clusters{ > 0'), /not PromQL/);
});

const { rules } = prometheusRule().spec.groups[0] ?? assert.fail();
for (const { alert, expr, annotations } of rules)
  test(`${alert} asks for metrics and labels that are there, and leads to a page that is there`, () => {
    const asked = selectors(expr);
    assert.ok(asked.length > 0);
    const told = new Set(['namespace', 'name']);
    for (const { metric, labels } of asked) {
      const [kind] = kinds
        .filter((one) => metric.startsWith(`${metrics[one].prefix}_`))
        .toSorted((a, b) => metrics[b].prefix.length - metrics[a].prefix.length);
      const { prefix, metrics: all } = metrics[kind ?? assert.fail(`there is no ${metric}`)];
      const one = all.find(({ name }) => `${prefix}_${name}` === metric) ?? assert.fail(`there is no ${metric}`);
      for (const label of Object.keys(one.labels ?? {})) told.add(label);
      for (const label of labels) assert.ok(told.has(label), `${metric} has no label ${label}`);
    }
    for (const [, label = ''] of annotations.summary.matchAll(/\$labels\.(\w+)/g))
      assert.ok(told.has(label), `no series of ${alert} has the label ${label}`);
    const [, file = '', anchor] = /\/blob\/main\/(docs\/[^#]+)(?:#(.+))?$/.exec(annotations.runbook_url) ?? [];
    const page = readFileSync(join(root, file), 'utf8');
    if (anchor !== undefined) assert.ok(anchorsOf(page).includes(anchor), annotations.runbook_url);
  });
