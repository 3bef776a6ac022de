import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { kinds } from '../../../manifests/api/group.ts';
import { definitions } from '../../../manifests/api/kinds.ts';
import type { Structural } from '../../../manifests/api/schema.ts';
import { prometheusRule, runbook } from '../../../manifests/monitoring/alerts.ts';
import { customResourceStateMetrics, kubeStateMetricsRole } from '../../../manifests/monitoring/kube-state-metrics.ts';
import { metricNames, metrics } from '../../../manifests/monitoring/metrics.ts';
import { anchorsOf } from '../docs/pages.ts';
import { labelsOf, selectorsOf } from './queries.ts';

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
      if (type === 'Info') assert.ok(found.items ?? found.properties, `${kind} ${name} is of a list or an object`);
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

for (const [what, expr, problem] of [
  ['no PromQL', 'etcd_ratchet_fleet_clusters{ > 0', /not PromQL/],
  ['of a metric that is not there', 'etcd_ratchet_fleet_cluster > 0', /there is no etcd_ratchet_fleet_cluster/],
  ['of a label that is not there', 'etcd_ratchet_fleet_clusters{member="a"} > 0', /has the label member/],
] as const)
  test(`an expression that is ${what} is found`, () => {
    assert.throws(() => selectorsOf(expr), problem);
  });

const rules = prometheusRule().spec.groups.flatMap((one) => one.rules);

for (const { alert, expr, annotations } of rules)
  test(`${alert} asks for metrics and labels that are there, and leads to its own section`, () => {
    const told = labelsOf(expr);
    for (const [, label = ''] of annotations.summary.matchAll(/\$labels\.(\w+)/g))
      assert.ok(told.has(label), `no series of ${alert} has the label ${label}`);
    const [, file = '', anchor = ''] = /\/blob\/main\/(docs\/[^#]+)#(.+)$/.exec(annotations.runbook_url) ?? [];
    assert.ok(anchorsOf(readFileSync(join(root, file), 'utf8')).includes(anchor), annotations.runbook_url);
  });

test('the runbook of alerts has a section for each alert, and for nothing else', () => {
  const page = readFileSync(join(root, 'docs', runbook), 'utf8');
  const sections = [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  assert.deepEqual(
    sections,
    rules.map(({ alert }) => alert),
  );
});
