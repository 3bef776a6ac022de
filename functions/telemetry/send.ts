import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  context,
  type Span as OpenTelemetrySpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import { pushed } from '../../manifests/monitoring/pushed.ts';
import type { Span } from '../../reconcile/stepping/traced.ts';
import type { Measure } from './measures.ts';

/** The only file that knows OpenTelemetry's library. It is loaded when the pass is over, and only where it is used. */

export interface SendOptions {
  readonly version: string;
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  /** For everything, in milliseconds; OTEL_EXPORTER_OTLP_TIMEOUT may make it shorter. */
  readonly limitMs: number;
}

const scope = 'etcd-ratchet';

/** @throws where the collector did not take all of them */
export async function sendSpans(spans: readonly Span[], options: SendOptions): Promise<void> {
  const done: ReadableSpan[] = [];
  const provider = new TracerProvider({
    resource: resourceOf(options),
    spanLimits: { attributeValueLengthLimit: 300 },
    spanProcessors: [
      {
        onStart: () => undefined,
        onEnd: (span) => void done.push(span),
        forceFlush: async () => undefined,
        shutdown: async () => undefined,
      },
    ],
  });
  const tracer = provider.getTracer(scope, options.version);
  const begun = new Map<Span, OpenTelemetrySpan>();
  // A parent begins before its children, so it is there already.
  for (const span of spans) {
    const parent = span.parent && begun.get(span.parent);
    const one = tracer.startSpan(
      span.name,
      { startTime: span.begun, kind: span.asked ? SpanKind.CLIENT : SpanKind.INTERNAL, attributes: attributesOf(span) },
      parent ? trace.setSpan(context.active(), parent) : ROOT_CONTEXT,
    );
    begun.set(span, one);
  }
  for (const [span, one] of begun) {
    if (span.failure !== undefined) one.setStatus({ code: SpanStatusCode.ERROR, message: span.failure });
    one.end(span.ended ?? Date.now());
  }
  await through('TRACES', options, (means) => new OTLPTraceExporter(means), done);
}

/** @throws where the collector did not take all of them */
export async function sendMeasures(measures: readonly Measure[], options: SendOptions): Promise<void> {
  const reader = new Once();
  const provider = new MeterProvider({ resource: resourceOf(options), readers: [reader] });
  const meter = provider.getMeter(scope, options.version);
  for (const { name, labels, value } of measures) {
    const { help: description, unit } = pushed[name];
    meter.createGauge(name, { description, unit }).record(value, labels);
  }
  const { resourceMetrics, errors } = await reader.collect();
  if (errors.length > 0) throw new Error('the metrics could not be collected', { cause: errors[0] });
  await through('METRICS', options, (means) => new OTLPMetricExporter(means), resourceMetrics);
}

class Once extends MetricReader {
  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }
}

interface Means {
  readonly url: string;
  readonly timeoutMillis: number;
  readonly httpAgentOptions: (protocol: string) => ReturnType<typeof collectorAgent>;
}

interface Exporter<T> {
  export(what: T, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

/** One export, over when the limit is, whatever the server does. */
async function through<T>(
  signal: 'TRACES' | 'METRICS',
  { url, env, limitMs }: SendOptions,
  make: (means: Means) => Exporter<T>,
  what: T,
): Promise<void> {
  const wanted = Number(env[`OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`] || env.OTEL_EXPORTER_OTLP_TIMEOUT);
  const timeoutMillis = wanted > 0 ? Math.min(wanted, limitMs) : limitMs;
  const agents: ReturnType<typeof collectorAgent>[] = [];
  const exporter = make({
    url,
    timeoutMillis,
    httpAgentOptions: (protocol) => {
      const agent = collectorAgent(signal, protocol === 'https:', env);
      agents.push(agent);
      return agent;
    },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMillis} ms`)), timeoutMillis);
      exporter.export(what, ({ code, error }) => (code === 0 ? resolve() : reject(error ?? new Error('refused'))));
    });
  } finally {
    clearTimeout(timer);
    for (const agent of agents) agent.destroy();
  }
}

function attributesOf({ facts }: Span): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[`ratchet.${name}`, value]])),
  );
}

function resourceOf({ version }: SendOptions): Resource {
  const ours = resourceFromAttributes({ 'service.name': 'etcd-ratchet', 'service.version': version });
  const theirs = detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] });
  return defaultResource().merge(ours).merge(theirs);
}

/** A certificate's file is a few KB; what is longer is something else. */
const longestFile = 1024 * 1024;

/**
 * Connections to the collector that we can end: the exporter's own keep the process alive as long as a server sends.
 * They take the files that OpenTelemetry's variables name. @throws where such a file can't be read
 */
export function collectorAgent(signal: 'TRACES' | 'METRICS', secure: boolean, env: NodeJS.ProcessEnv): HttpAgent {
  if (!secure) return new HttpAgent();
  const file = (name: string) => {
    const [own, all] = [`OTEL_EXPORTER_OTLP_${signal}_${name}`, `OTEL_EXPORTER_OTLP_${name}`];
    const variable = env[own]?.trim() ? own : all;
    const path = env[variable]?.trim();
    return path ? content(path, variable) : undefined;
  };
  const [ca, cert, key] = [file('CERTIFICATE'), file('CLIENT_CERTIFICATE'), file('CLIENT_KEY')];
  return new HttpsAgent({ ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) });
}

function content(path: string, variable: string): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    throw new Error(`${variable} names a file that can't be read: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
  if (bytes.length > longestFile) throw new Error(`${variable} names a file of more than ${longestFile} bytes`);
  return bytes;
}
