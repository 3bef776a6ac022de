import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { withTelemetry } from '../../../functions/telemetry/telemetry.ts';
import { recorded, traced } from '../../../reconcile/stepping/traced.ts';
import { startCollector } from './collector.ts';

type Passed = NonNullable<Awaited<ReturnType<typeof withTelemetry>>>;
const nothing: Passed = {
  fleets: [],
  results: {},
  clusters: [],
  workRemains: false,
  moved: false,
  unsettled: false,
  leftOut: new Map(),
};

/** The variables that the library itself reads are this process's. */
async function passing(
  env: Readonly<Record<string, string>>,
  pass: () => Promise<Passed | undefined> = async () => nothing,
) {
  const logged: { readonly problem?: unknown }[] = [];
  const log = (fields: { readonly problem?: unknown }) => void logged.push(fields);
  const told: (Passed | undefined)[] = [];
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    const onPassed = (one: Passed | undefined) => void told.push(one);
    const result = await withTelemetry({ version: '0.0.0', env, log, trigger: 'tick', onPassed }, pass);
    return { result, told, logged };
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

test('without a collector a pass is the pass, and nothing of it is written down', async () => {
  let recording: unknown = 'not asked';
  const { result, told, logged } = await passing({}, async () => {
    recording = await traced('inner', {}, async (note) => note({ outcome: 'acted' }));
    return nothing;
  });
  assert.deepEqual([result, told, logged, recording], [nothing, [nothing], [], undefined]);
});

test('traces and metrics are sent to their own paths, with the headers that are set', async () => {
  await using collector = await startCollector();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/base`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-a-tenant',
  };
  const { result, logged } = await passing(env);
  assert.deepEqual([result, logged], [nothing, []]);
  assert.deepEqual(collector.received.map(({ path }) => path).toSorted(), ['/base/v1/metrics', '/base/v1/traces']);
  for (const { headers, body } of collector.received) {
    assert.equal(headers['content-type'], 'application/x-protobuf');
    assert.equal(headers.authorization, 'Bearer of-a-tenant');
    assert.ok(body.length > 0);
  }
});

test('the result is told before the collector is', async () => {
  const order: string[] = [];
  await using collector = await startCollector((response) => {
    order.push('collector');
    response.end();
  });
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.url };
  const onPassed = () => void order.push('told');
  await withTelemetry({ version: '', env, log: assert.fail, trigger: 'tick', onPassed }, async () => nothing);
  assert.deepEqual(order, ['told', 'collector']);
});

const hidden = 'a-secret-of-the-collector';
const unkind: Readonly<Record<string, { answer: (response: ServerResponse) => void; problem: RegExp }>> = {
  'that never answers': { answer: () => undefined, problem: /no answer within 300 ms|timed out/i },
  'that answers a byte at a time': {
    answer: (response) => {
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    },
    problem: /no answer within 300 ms|timed out/i,
  },
  'that answers 5 MB': {
    answer: (response) => response.end(Buffer.alloc(5 * 1024 * 1024)),
    problem: /exceeded size limit/,
  },
  'that fails': {
    answer: (response) => response.writeHead(500).end(hidden),
    problem: /HTTP 500/,
  },
  'that refuses': {
    answer: (response) => response.writeHead(401).end(hidden),
    problem: /HTTP 401/,
  },
  'that leads elsewhere': {
    answer: (response) => response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
    problem: /HTTP 307/,
  },
  'that hangs up': { answer: (response) => response.socket?.destroy(), problem: /./ },
};
for (const [what, { answer, problem }] of Object.entries(unkind))
  test(`a collector ${what} costs one line of the log, and no more time than it has`, async () => {
    await using collector = await startCollector(answer);
    const begun = performance.now();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_TIMEOUT: '300' };
    const { result, logged } = await passing(env);
    assert.ok(performance.now() - begun < 3_500, `${performance.now() - begun} ms`);
    assert.deepEqual(result, nothing);
    assert.equal(logged.length, 1);
    assert.match(String(logged[0]?.problem), problem);
    assert.doesNotMatch(JSON.stringify(logged), new RegExp(hidden));
  });

test('a collector that is not there costs one line of the log', async () => {
  const { url } = await startCollector().then(async (one) => {
    await one[Symbol.asyncDispose]();
    return one;
  });
  const { result, logged } = await passing({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_TIMEOUT: '300',
  });
  assert.deepEqual(result, nothing);
  assert.equal(logged.length, 1);
});

test('a certificate that is not there is named by its variable', async () => {
  const { logged } = await passing({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere/ca.crt',
  });
  assert.match(String(logged[0]?.problem), /OTEL_EXPORTER_OTLP_CERTIFICATE names a file that can't be read: ENOENT/);
});

test('a pass that can not be made is told of, and its error is the caller’s', async () => {
  await using collector = await startCollector();
  const failure = new Error('no API server');
  await assert.rejects(
    passing({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, () => Promise.reject(failure)),
    failure,
  );
  assert.equal(collector.received.length, 2);
});

test('spans know what they are part of, also where two passes run at once', async () => {
  const one = (name: string) =>
    recorded(async (recording) => {
      await traced('pass', {}, async () => {
        await Promise.all([
          traced('step', { cluster: `${name}/a` }, () => traced('GET pods', {}, async () => undefined, 'api-server')),
          traced('step', { cluster: `${name}/b` }, async (note) => note({ outcome: 'acted' })),
        ]);
      });
      return recording;
    });
  const [x, y] = await Promise.all([one('x'), one('y')]);
  for (const [name, { spans, requests }] of Object.entries({ x, y })) {
    assert.deepEqual(
      spans.map((span) => [span.name, span.parent?.name, span.facts.cluster]),
      [
        ['pass', undefined, undefined],
        ['step', 'pass', `${name}/a`],
        ['GET pods', 'step', undefined],
        ['step', 'pass', `${name}/b`],
      ],
    );
    assert.deepEqual(requests, { 'api-server': 1, etcd: 0, git: 0 });
    assert.equal(spans[3]?.facts.outcome, 'acted');
    for (const { begun, ended = 0 } of spans) assert.ok(ended >= begun);
  }
});

test('of a pass of many thousand requests 2,000 spans are kept, and all requests counted', async () => {
  const { spans, left, requests } = await recorded(async (recording) => {
    for (let i = 0; i < 5_000; i += 1) await traced('GET pods', {}, async () => undefined, 'api-server');
    return recording;
  });
  assert.deepEqual([spans.length, left, requests['api-server']], [2_000, 3_000, 5_000]);
});

test('a span names the kind of an error, and never its message', async () => {
  const { spans } = await recorded(async (recording) => {
    await traced('act', {}, () => Promise.reject(new TypeError(hidden))).catch(() => undefined);
    return recording;
  });
  assert.equal(spans[0]?.failure, 'TypeError');
  assert.doesNotMatch(JSON.stringify(spans), new RegExp(hidden));
});
