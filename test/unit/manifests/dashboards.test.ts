import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dashboardFiles, dashboards } from '../../../manifests/monitoring/dashboards.ts';
import { labelsOf, selectorsOf } from './queries.ts';

interface Grafana {
  readonly uid: string;
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string; readonly refId: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
}

const all = Object.entries(dashboardFiles()).map(([file, text]) => ({ file, board: JSON.parse(text) as Grafana }));

/** As Prometheus gets it: Grafana puts values in place of its variables. */
function sent(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(\w+)/g, 'x');
}

for (const { file, board } of all) {
  test(`each query of ${file} is PromQL, of series and labels that are there`, () => {
    let queries = 0;
    for (const { title, targets = [] } of board.panels)
      for (const { expr, legendFormat = '' } of targets) {
        queries += 1;
        assert.ok(selectorsOf(sent(expr)).length > 0, title);
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          assert.ok(labelsOf(sent(expr)).has(label), `${title}: no series has the label ${label}`);
      }
    assert.ok(queries > 10);
  });

  test(`${file} asks only for variables that it has, by queries of series that are there`, () => {
    const names = board.templating.list.map(({ name }) => name);
    for (const [, name = ''] of JSON.stringify(board).matchAll(/\$(\w+)/g))
      assert.ok(names.includes(name) || name === '__rate_interval', name);
    for (const { name, query } of board.templating.list) {
      if (name === 'datasource') continue;
      const [, expr = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec((query as { query: string }).query) ?? [];
      assert.ok(labelsOf(sent(expr)).has(label), name);
    }
  });

  test(`no two panels of ${file} are in one place, and each is within the width`, () => {
    const taken = new Set<string>();
    for (const { title, gridPos } of board.panels) {
      assert.ok(gridPos.x + gridPos.w <= 24, title);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          assert.ok(!taken.has(`${x}/${y}`), `${title} covers another panel`);
          taken.add(`${x}/${y}`);
        }
    }
    assert.equal(new Set(board.panels.map(({ id }) => id)).size, board.panels.length);
  });
}

test('dashboards show each kind that people make, and what passes send', () => {
  const asked = Object.values(dashboards)
    .flatMap(({ rows }) => rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries)))
    .flatMap(({ expr }) => selectorsOf(sent(expr)).map(({ metric }) => metric));
  for (const prefix of ['fleet', 'cluster', 'backup_schedule', 'node_policy', 'pass'])
    assert.ok(
      asked.some((metric) => metric.startsWith(`etcd_ratchet_${prefix}_`)),
      prefix,
    );
  assert.ok(asked.some((metric) => metric.startsWith('etcd_server_')));
});

test('both dashboards fit into one ConfigMap', () => {
  const size = Object.values(dashboardFiles()).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  assert.ok(size < 512 * 1024, `${size} bytes`);
});
