import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { stringify } from 'yaml';
import { prometheusRule } from '../../../manifests/monitoring/alerts.ts';
import { tools } from '../../support/cluster/tools.ts';
import { selectorsOf } from '../../unit/manifests/queries.ts';
import { type AlertCase, alertCases, type Firing, type Series } from './alert-cases.ts';

const { promtool } = await tools.monitoring.provide();
const directory = await mkdtemp(join(tmpdir(), 'alerts-'));
after(() => rm(directory, { recursive: true }));

const { groups } = prometheusRule().spec;
const rules = groups.flatMap((group) => group.rules);
const ruleFile = join(directory, 'rules.yaml');
await writeFile(ruleFile, stringify({ groups }));

interface Ended {
  readonly code: number;
  readonly said: string;
}

function run(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(promtool, args, { timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, said: stdout + stderr });
    });
  });
}

interface Expected {
  readonly exp_labels: Series;
  readonly exp_annotations: Series;
}

/** One table of samples, and which alerts are there at a time. */
async function judge(name: string, series: Series, at: string, alertname: string, expected: readonly Expected[]) {
  const file = join(directory, `${name}.yaml`);
  const input = Object.entries(series).map(([one, values]) => ({ series: one, values }));
  const alert_rule_test = [{ eval_time: at, alertname, exp_alerts: expected }];
  await writeFile(
    file,
    stringify({ rule_files: [ruleFile], tests: [{ interval: '1m', input_series: input, alert_rule_test }] }),
  );
  return run(['test', 'rules', file]);
}

test('promtool takes the rules, and finds nothing to complain of', async () => {
  const { code, said } = await run(['check', 'rules', '--lint=all', '--lint-fatal', ruleFile]);
  assert.equal(code, 0, said);
  assert.match(said, new RegExp(`${rules.length} rules found`));
});

test('every alert has a case that makes it fire, and one that does not', () => {
  assert.deepEqual(
    Object.keys(alertCases),
    rules.map(({ alert }) => alert),
  );
  for (const [name, { silent }] of Object.entries(alertCases)) assert.ok(Object.keys(silent).length > 0, name);
});

test('the samples of the cases are of series that are there', () => {
  const known = (series: Series) => Object.keys(series).filter((one) => !one.includes('job="other"'));
  for (const { fires, alsoFires, silent } of Object.values<AlertCase>(alertCases))
    for (const one of [fires, ...Object.values(alsoFires ?? {}), ...Object.values(silent)].flatMap(({ series }) =>
      known(series),
    ))
      assert.equal(selectorsOf(one).length, 1, one);
});

for (const { alert, labels, annotations } of rules) {
  const { fires, alsoFires = {}, silent } = alertCases[alert] as AlertCase;
  /** What it says is compared by promtool word for word: once to learn it, and once to see that it is so. */
  const assertFires = async (name: string, { series, at, labels: of, summary: says }: Firing) => {
    const { code, said } = await judge(`${alert}-${name}-nothing`, series, at, alert, []);
    assert.notEqual(code, 0, 'where none is expected, promtool must complain');
    const [, summary = ''] = /summary="((?:[^"\\]|\\.)*)"/.exec(said) ?? assert.fail(said);
    assert.match(summary, says);
    const expected = {
      exp_labels: { ...labels, ...of },
      exp_annotations: { summary, runbook_url: annotations.runbook_url },
    };
    const again = await judge(`${alert}-${name}`, series, at, alert, [expected]);
    assert.equal(again.code, 0, again.said);
  };
  test(`${alert} fires, and says what and where, by Prometheus’ own evaluation`, () => assertFires('fires', fires));
  for (const [index, [why, firing]] of Object.entries(alsoFires).entries())
    test(`${alert} fires as well where ${why}`, () => assertFires(`fires-${index}`, firing));
  for (const [index, [why, { series, at }]] of Object.entries(silent).entries())
    test(`${alert} is silent where ${why}`, async () => {
      const { code, said } = await judge(`${alert}-silent-${index}`, series, at, alert, []);
      assert.equal(code, 0, said);
    });
}
