/** Parts of a dashboard, in Grafana's own format. */

export interface Query {
  readonly expr: string;
  /** `{{label}}` stands for a label's value. */
  readonly legend?: string;
  /** For a table: the newest values. */
  readonly instant?: true;
}

export interface Panel {
  readonly title: string;
  readonly about: string;
  readonly type: 'stat' | 'timeseries' | 'table' | 'state-timeline';
  /** Of 24 columns. */
  readonly width: number;
  readonly height: number;
  /** In Grafana's words: s, bytes, percentunit, short, dateTimeAsIso. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** From where on it is red; `below`: where lower is worse. */
  readonly red?: { readonly from: number } | { readonly below: number };
}

interface Row {
  readonly row: string;
  readonly panels: readonly Panel[];
}

interface Variable {
  readonly name: string;
  readonly label: string;
  readonly query: string;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly about: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}

const columns = 24;
const datasource = { type: 'prometheus', uid: '$datasource' } as const;

/** What Grafana imports. */
export function grafana({ uid, title, about, variables, rows }: Dashboard): object {
  return {
    uid,
    title,
    description: about,
    tags: ['etcd', 'etcd-ratchet'],
    editable: true,
    graphTooltip: 1,
    refresh: '1m',
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {} },
        ...variables.map(({ name, label, query }) => ({
          name,
          label,
          type: 'query',
          datasource,
          query: { query, refId: 'A' },
          refresh: 2,
          sort: 1,
          includeAll: false,
          multi: false,
        })),
      ],
    },
    panels: placed(rows),
  };
}

function placed(rows: readonly Row[]): object[] {
  const all: object[] = [];
  let y = 0;
  for (const { row, panels } of rows) {
    all.push({
      id: all.length + 1,
      type: 'row',
      title: row,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: columns, h: 1 },
    });
    y += 1;
    let x = 0;
    let tallest = 0;
    for (const panel of panels) {
      if (x + panel.width > columns) {
        x = 0;
        y += tallest;
        tallest = 0;
      }
      all.push(panelOf(panel, all.length + 1, { x, y, w: panel.width, h: panel.height }));
      x += panel.width;
      tallest = Math.max(tallest, panel.height);
    }
    y += tallest;
  }
  return all;
}

function panelOf({ title, about, type, unit, queries, red }: Panel, id: number, gridPos: object): object {
  return {
    id,
    type,
    title,
    description: about,
    gridPos,
    datasource,
    targets: queries.map(({ expr, legend, instant }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      ...(legend !== undefined && { legendFormat: legend }),
      ...(instant ? { instant: true, range: false, format: 'table' } : { range: true }),
    })),
    fieldConfig: { defaults: { unit, thresholds: thresholdsOf(red) }, overrides: [] },
    options: optionsOf(type, red !== undefined),
    ...(type === 'table' && { transformations: [withoutTime] }),
  };
}

const withoutTime = {
  id: 'organize',
  options: {
    excludeByName: Object.fromEntries(
      [
        ...['Time', 'Value', '__name__', 'job', 'instance', 'pod', 'container', 'endpoint', 'service'],
        // kube-state-metrics says of each series which kind it is of.
        ...['customresource_group', 'customresource_kind', 'customresource_version'],
      ].map((label) => [label, true]),
    ),
  },
} as const;

function thresholdsOf(red: Panel['red']): object {
  if (!red) return { mode: 'absolute', steps: [{ color: 'blue', value: null }] };
  const [first, second, value] = 'from' in red ? ['green', 'red', red.from] : ['red', 'green', red.below];
  return {
    mode: 'absolute',
    steps: [
      { color: first, value: null },
      { color: second, value },
    ],
  };
}

function optionsOf(type: Panel['type'], judged: boolean): object {
  switch (type) {
    case 'stat':
      return {
        colorMode: judged ? 'background' : 'value',
        graphMode: 'none',
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
      };
    case 'timeseries':
      return { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } };
    case 'state-timeline':
      return { showValue: 'never', mergeValues: true, rowHeight: 0.9 };
    case 'table':
      return { showHeader: true };
  }
}
