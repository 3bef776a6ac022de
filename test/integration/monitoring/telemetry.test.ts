import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { build } from '../../../functions/build.ts';
import { pushed } from '../../../manifests/monitoring/pushed.ts';
import { tools } from '../../support/cluster/tools.ts';
import { cluster } from '../../unit/manifests/api-documents.ts';
import { install, startApiServer } from '../manifests/api-server.ts';
import { attributesOf, type Sent, type SentMetric, type SentSpan, startSink } from './otlp-sink.ts';

const binaries = await tools.monitoring.provide();
Object.assign(process.env, tools.monitoring.environment(binaries));
const api = await startApiServer();
const parts = new AsyncDisposableStack();
after(async () => {
  await parts.disposeAsync();
  await api[Symbol.asyncDispose]();
});

const directory = await mkdtemp(join(tmpdir(), 'telemetry-'));
parts.defer(() => rm(directory, { recursive: true }));
await build(join(directory, 'app'));
await api.kubectl(['apply', '--server-side', '-k', install]);
const kubeconfig = join(directory, 'kubeconfig');
await writeFile(kubeconfig, await api.kubeconfigOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet' }));

interface Tick {
  readonly code: number;
  readonly log: string;
  readonly result: {
    readonly clusters: readonly { readonly outcome: string }[];
    readonly requests: Record<string, number>;
  };
}

/** The program as the image has it. */
function tick(env: Readonly<Record<string, string>>): Promise<Tick> {
  const args = [join(directory, 'app/tick.js'), '--kubeconfig', kubeconfig, '--output', 'json'];
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      args,
      { env: { ...env, PATH: process.env.PATH }, timeout: 60_000 },
      (error, out, log) => {
        if (out === '') reject(new Error(`no result: ${log}`, { cause: error }));
        else resolve({ code: error ? Number(error.code) : 0, log, result: JSON.parse(out) as Tick['result'] });
      },
    );
  });
}

function spansIn(sent: readonly Sent[]): readonly SentSpan[] {
  const all = sent.flatMap(({ body }) => body.resourceSpans ?? []);
  return all.flatMap(({ scopeSpans = [] }) => scopeSpans.flatMap(({ spans }) => spans));
}

function metricsIn(sent: readonly Sent[]): readonly SentMetric[] {
  const all = sent.flatMap(({ body }) => body.resourceMetrics ?? []);
  return all.flatMap(({ scopeMetrics = [] }) => scopeMetrics.flatMap(({ metrics }) => metrics));
}

async function newCluster(name: string, spec: object = {}): Promise<void> {
  const path = '/apis/etcd.ratchet.dev/v1alpha1/namespaces/default/etcdclusters';
  const made = await api.send('POST', path, {
    ...cluster,
    metadata: { ...cluster.metadata, name },
    spec: { ...cluster.spec, ...spec },
  });
  assert.equal(made.status, 201, made.body.message);
}

test('a pass that acts arrives as one trace: observe, decide, act, report, and their requests', async () => {
  await newCluster('traced');
  await using sink = await startSink(binaries['otlp-sink']);
  const { code, log, result } = await tick({
    OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20it',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });
  assert.equal(code, 0, log);
  assert.deepEqual(
    sink.sent
      .map(({ path, authorization, wrong }) => ({ path, authorization, wrong }))
      .toSorted((a, b) => a.path.localeCompare(b.path)),
    ['/v1/metrics', '/v1/traces'].map((path) => ({ path, authorization: 'Bearer it', wrong: undefined })),
  );
  const spans = spansIn(sink.sent);
  const [root, ...others] = spans.filter(({ parentSpanId = '' }) => parentSpanId === '');
  assert.deepEqual([root?.name, others.length], ['pass', 0]);
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1);
  const step = spans.find(({ name }) => name === 'step') ?? assert.fail('no step');
  const { 'ratchet.cluster': whose, 'ratchet.outcome': outcome } = attributesOf(step);
  assert.deepEqual([whose, outcome], ['default/traced', 'acted']);
  const within = spans.filter(({ parentSpanId }) => parentSpanId === step.spanId).map(({ name }) => name);
  for (const phase of ['observe', 'decide', 'act', 'report']) assert.ok(within.includes(phase), within.join());
  const act = spans.find(({ name }) => name === 'act') ?? assert.fail('no act');
  const written = spans.filter(({ parentSpanId }) => parentSpanId === act.spanId);
  assert.ok(written.some(({ name, kind }) => name.startsWith('POST ') && kind === 'SPAN_KIND_CLIENT'));
  for (const { startTimeUnixNano, endTimeUnixNano } of spans)
    assert.ok(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano));
  const resource = attributesOf(
    sink.sent[0]?.body.resourceSpans?.[0]?.resource ?? sink.sent[1]?.body.resourceSpans?.[0]?.resource ?? {},
  );
  assert.equal(resource['service.name'], 'etcd-ratchet');
  assert.equal(resource['deployment.environment.name'], 'test');
  const asked = spans.filter(({ kind }) => kind === 'SPAN_KIND_CLIENT').length;
  const counted = Object.values(result.requests).reduce((sum, one) => sum + one, 0);
  assert.equal(asked, counted, JSON.stringify(result.requests));
});

test('the metrics of a pass are gauges of the table, with its names, units and labels', async () => {
  await newCluster('measured');
  await using sink = await startSink(binaries['otlp-sink']);
  const { result } = await tick({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${sink.url}/v1/metrics` });
  const metrics = metricsIn(sink.sent);
  assert.equal(sink.sent.length, 1);
  for (const { name, unit, description, gauge } of metrics) {
    const known = Object.entries(pushed).find(([one]) => one === name)?.[1] ?? assert.fail(name);
    assert.deepEqual([unit, description], [known.unit, known.help]);
    for (const point of gauge?.dataPoints ?? assert.fail(`${name} is no gauge`))
      assert.deepEqual(Object.keys(attributesOf(point)).toSorted(), [...known.labels].toSorted(), name);
  }
  const points = (name: string) => metrics.find((one) => one.name === name)?.gauge?.dataPoints ?? [];
  const valueFor = (name: string, labels: object) => {
    const found = points(name).find((one) => JSON.stringify(attributesOf(one)) === JSON.stringify(labels));
    return found?.asDouble ?? Number(found?.asInt ?? Number.NaN);
  };
  const counted = Object.values(result.requests).reduce((sum, one) => sum + one, 0);
  assert.equal(valueFor('etcd_ratchet_pass_requests', { to: 'api-server' }), counted);
  assert.ok(valueFor('etcd_ratchet_pass_duration_seconds', { trigger: 'tick', outcome: 'passed' }) > 0);
  const acted = result.clusters.filter(({ outcome }) => outcome === 'acted').length;
  assert.ok(acted > 0);
  assert.equal(valueFor('etcd_ratchet_pass_clusters', { decision: 'act' }), acted);
});

test('no value of a Secret that a pass reads or writes is in what it sends', async () => {
  await newCluster('discreet', { tls: { mode: 'Managed' } });
  await using sink = await startSink(binaries['otlp-sink']);
  await tick({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${sink.url}/v1/traces` });
  const path = '{range .items[*]}{.data}{"\\n"}{end}';
  const secrets = await api.kubectl(['get', 'secrets', '--all-namespaces', '-o', `jsonpath=${path}`]);
  const values = [...secrets.matchAll(/"([A-Za-z0-9+/=]{24,})"/g)].map(([, value = '']) => value);
  assert.ok(values.length > 2, 'certificates were signed');
  const all = JSON.stringify(sink.sent);
  for (const value of values) {
    assert.ok(!all.includes(value));
    assert.ok(!all.includes(Buffer.from(value, 'base64').toString()));
  }
  assert.ok(spansIn(sink.sent).length > 5);
});

test('without a collector, and with one that is not there, a pass ends alike', async () => {
  // Both passes look at what the passes before have left.
  const quiet = await tick({});
  assert.doesNotMatch(quiet.log, /collector|OpenTelemetry/);
  const unheard = await tick({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
  });
  assert.deepEqual([quiet.code, unheard.code], [0, 0]);
  assert.equal(unheard.log.match(/the collector was not told of this pass/g)?.length, 1);
});
