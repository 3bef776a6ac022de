import assert from 'node:assert/strict';
import { test } from 'node:test';
import { telemetryFrom } from '../../../functions/telemetry/settings.ts';

const endpoint = 'http://collector.example:4318';
const [traces, metrics] = [`${endpoint}/v1/traces`, `${endpoint}/v1/metrics`];
const off = { problems: [] };

test('nothing is sent unless a collector is named', () => {
  assert.deepEqual(telemetryFrom({}), off);
  assert.deepEqual(telemetryFrom({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ', OTEL_TRACES_EXPORTER: 'otlp' }), off);
});

test('one address is for both signals, and each may have its own', () => {
  assert.deepEqual(telemetryFrom({ OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/` }), { ...off, traces, metrics });
  const own = `${endpoint}/tenants/1?x=y`;
  assert.deepEqual(telemetryFrom({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own }), { ...off, traces: own });
  assert.deepEqual(telemetryFrom({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: own }), { ...off, metrics: own });
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: own };
  assert.deepEqual(telemetryFrom(all), { ...off, traces, metrics: own });
});

test('a signal that is turned off is not sent, and none where all of OpenTelemetry is', () => {
  const named = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
  assert.deepEqual(telemetryFrom({ ...named, OTEL_TRACES_EXPORTER: 'none' }), { ...off, metrics });
  assert.deepEqual(telemetryFrom({ ...named, OTEL_METRICS_EXPORTER: 'none' }), { ...off, traces });
  assert.deepEqual(telemetryFrom({ ...named, OTEL_SDK_DISABLED: 'TRUE' }), off);
});

for (const [what, env, problem] of [
  ['another protocol', { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /OTEL_EXPORTER_OTLP_PROTOCOL must be http\/protobuf/],
  ['JSON', { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, /OTEL_EXPORTER_OTLP_PROTOCOL must be http\/protobuf/],
  ['another exporter', { OTEL_TRACES_EXPORTER: 'zipkin', OTEL_METRICS_EXPORTER: 'none' }, /OTEL_TRACES_EXPORTER must/],
  ['no address', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /OTEL_EXPORTER_OTLP_ENDPOINT must be an http/],
  ['a file', { OTEL_EXPORTER_OTLP_ENDPOINT: 'file:///etc/shadow' }, /OTEL_EXPORTER_OTLP_ENDPOINT must be an http/],
] as const)
  test(`a setting that asks for ${what} sends nothing, and says so`, () => {
    const { problems, ...sent } = telemetryFrom({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...env });
    assert.deepEqual(sent, {});
    assert.match(problems[0] ?? '', problem);
  });

test('an address is not repeated where it is wrong: it may hold credentials', () => {
  const { problems } = telemetryFrom({ OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://user:hunter2@collector' });
  assert.equal(problems.length, 2);
  assert.doesNotMatch(problems.join(), /hunter2/);
});
