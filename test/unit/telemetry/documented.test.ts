import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectorAgent } from '../../../functions/telemetry/send.ts';
import { withTelemetry } from '../../../functions/telemetry/telemetry.ts';
import { read } from '../docs/pages.ts';
import { startCollector } from './collector.ts';

const page = read('docs/how-to/monitoring.md');

/** What the library asks for, and what changes nothing of what we send: all metrics are gauges. */
const withoutEffect: ReadonlySet<string> = new Set(['OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE']);

/** Every variable of OpenTelemetry that a pass asks for, by our code and by the library's. */
async function asked(): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  await using collector = await startCollector();
  const before = process.env;
  const given = { ...before, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const env: NodeJS.ProcessEnv = new Proxy(given, {
    get: (target, name) => {
      if (typeof name === 'string' && name.startsWith('OTEL_')) names.add(name);
      return Reflect.get(target, name);
    },
  });
  process.env = env;
  try {
    const log = (fields: object) => assert.fail(JSON.stringify(fields));
    const nothing = {
      fleets: [],
      results: {},
      clusters: [],
      workRemains: false,
      moved: false,
      unsettled: false,
      leftOut: new Map(),
    };
    await withTelemetry(
      { version: '0.0.0', env, log, trigger: 'tick', onPassed: () => undefined },
      async () => nothing,
    );
    for (const signal of ['TRACES', 'METRICS'] as const) collectorAgent(signal, true, env).destroy();
  } finally {
    process.env = before;
  }
  assert.equal(collector.received.length, 2);
  return names;
}

/** `…_CLIENT_KEY` goes on as the variable before it begins. */
function documented(): ReadonlySet<string> {
  const short = [...page.matchAll(/`…_([A-Z_]+)`/g)].map(([, end]) => `OTEL_EXPORTER_OTLP_${end}`);
  const whole = [...page.matchAll(/\bOTEL_[A-Z_]*[A-Z]\b/g)].map(([name]) => name);
  return new Set([...whole, ...short]);
}

/** The page says of all of these that one signal may have its own. */
const general = (name: string) => name.replace(/^(OTEL_EXPORTER_OTLP_)(?:TRACES|METRICS)_/, '$1');

test('the variables of OpenTelemetry that a pass asks for are those of the page', async () => {
  const [inCode, onPage] = [await asked(), documented()];
  assert.ok(inCode.size > 15, [...inCode].join());
  assert.ok([...withoutEffect].every((name) => inCode.has(name)));
  assert.deepEqual(
    [...inCode].filter((name) => !withoutEffect.has(name) && !onPage.has(name) && !onPage.has(general(name))),
    [],
  );
  assert.deepEqual(
    [...onPage].filter((name) => !inCode.has(name)),
    [],
  );
});
