import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { evaluate } from '@marcbachmann/cel-js';
import { type LuaEngine, LuaFactory } from 'wasmoon';
import { parse } from 'yaml';
import { read } from './pages.ts';

/** What Argo CD and Flux are told to make of our conditions, by their languages' own evaluators. */
const blocks = [...read('docs/how-to/argo-cd-and-flux.md').matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(
  ([, text = '']) => parse(text) as Readonly<Record<string, unknown>>,
);
const [configMap, kustomization] = blocks as unknown as [
  { readonly data: Readonly<Record<string, string>> },
  { readonly spec: { readonly healthCheckExprs: readonly Expressions[] } },
];

interface Expressions {
  readonly kind: string;
  readonly failed: string;
  readonly current: string;
}

interface Case {
  readonly is: string;
  readonly generation?: number;
  readonly status?: object;
  readonly argo: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended';
  readonly message: RegExp;
  readonly flux: 'current' | 'failed' | 'in progress';
}

function told(
  ready: 'True' | 'False' | 'Unknown',
  reason: string,
  also: readonly string[] = [],
  off: readonly string[] = [],
) {
  const common = {
    reason,
    message: `about ${reason}`,
    observedGeneration: 2,
    lastTransitionTime: '2026-11-23T00:00:00Z',
  };
  const others = [...also.map((type) => [type, 'True'] as const), ...off.map((type) => [type, 'False'] as const)];
  return {
    observedGeneration: 2,
    conditions: [['Ready', ready] as const, ...others].map(([type, status]) => ({ ...common, type, status })),
  };
}

const cases: readonly Case[] = [
  { is: 'new', argo: 'Progressing', message: /not looked/, flux: 'in progress' },
  {
    is: 'created',
    status: { observedGeneration: -1 },
    argo: 'Progressing',
    message: /not looked/,
    flux: 'in progress',
  },
  {
    is: 'born',
    status: told('False', 'WaitingForQuorum', ['Reconciling']),
    argo: 'Progressing',
    message: /^WaitingForQuorum: about/,
    flux: 'in progress',
  },
  { is: 'whole', status: told('True', 'Converged'), argo: 'Healthy', message: /^Converged/, flux: 'current' },
  {
    is: 'whole, with what no longer is so said to be False',
    status: told('True', 'Converged', [], ['Stalled', 'Reconciling']),
    argo: 'Healthy',
    message: /^Converged/,
    flux: 'current',
  },
  {
    is: 'changed, and not looked at since',
    generation: 3,
    status: told('True', 'Converged'),
    argo: 'Progressing',
    message: /not looked/,
    flux: 'in progress',
  },
  {
    is: 'without a quorum',
    status: told('False', 'QuorumLost', ['Stalled']),
    argo: 'Degraded',
    message: /^QuorumLost/,
    flux: 'failed',
  },
  {
    is: 'suspended',
    status: told('False', 'Suspended'),
    argo: 'Suspended',
    message: /^Suspended/,
    flux: 'current',
  },
];

describe('Argo CD', () => {
  let lua: LuaEngine;
  before(async () => {
    lua = await new LuaFactory().createEngine();
  });
  after(() => lua.global.close());

  const customizations = parse(configMap.data['resource.customizations'] ?? '') as Readonly<
    Record<string, Readonly<Record<string, string>>>
  >;
  const script = customizations['etcd.ratchet.dev/*']?.['health.lua'] ?? '';

  for (const { is, generation = 2, status, argo, message } of cases) {
    test(`takes a cluster that is ${is} for ${argo}`, async () => {
      // Argo CD hands over what JSON says: null and absent are both nil.
      await lua.doString(`obj = ${luaOf({ metadata: { generation }, status })}`);
      const health = (await lua.doString(script)) as { readonly status: string; readonly message: string };
      assert.equal(health.status, argo);
      assert.match(health.message, message);
    });
  }
});

describe('Flux', () => {
  const expressions = kustomization.spec.healthCheckExprs.find(({ kind }) => kind === 'EtcdCluster');

  for (const { is, generation = 2, status = {}, flux } of cases) {
    test(`takes a cluster that is ${is} for ${flux}`, () => {
      const object = { metadata: { generation: BigInt(generation) }, status: withIntegers(status) };
      const holds = (expression = '') => evaluate(expression, object) === true;
      const said = holds(expressions?.failed) ? 'failed' : holds(expressions?.current) ? 'current' : 'in progress';
      assert.equal(said, flux);
    });
  }
});

function withIntegers(status: object): object {
  return JSON.parse(JSON.stringify(status), (_, value) =>
    typeof value === 'number' ? BigInt(value) : value,
  ) as object;
}

function luaOf(value: unknown): string {
  if (value === undefined || value === null) return 'nil';
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `{${value.map(luaOf).join(', ')}}`;
  return `{${Object.entries(value)
    .map(([key, one]) => `[${JSON.stringify(key)}] = ${luaOf(one)}`)
    .join(', ')}}`;
}
