import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** An attribute or a value as OTLP's JSON has it. */
interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: string;
  readonly doubleValue?: number;
}
interface Attributed {
  readonly attributes?: readonly { readonly key: string; readonly value: AnyValue }[];
}

export interface SentSpan extends Attributed {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: string; readonly message?: string };
}

export interface SentMetric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly gauge?: {
    readonly dataPoints: readonly (Attributed & { readonly asDouble?: number; readonly asInt?: string })[];
  };
}

interface Scoped {
  readonly resource: Attributed;
  readonly scopeSpans?: readonly { readonly spans: readonly SentSpan[] }[];
  readonly scopeMetrics?: readonly { readonly metrics: readonly SentMetric[] }[];
}

export interface Sent {
  readonly path: string;
  readonly authorization: string;
  readonly wrong?: string;
  readonly body: { readonly resourceSpans?: readonly Scoped[]; readonly resourceMetrics?: readonly Scoped[] };
}

interface Sink extends AsyncDisposable {
  readonly url: string;
  readonly sent: Sent[];
}

export function attributesOf({ attributes = [] }: Attributed): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? String(value.doubleValue)]),
  );
}

/** The collector that OpenTelemetry's own Go types decode for. */
export async function startSink(binary: string): Promise<Sink> {
  const running = spawn(binary, [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const sent: Sent[] = [];
  const listening = Promise.withResolvers<string>();
  running.once('error', listening.reject);
  running.once('exit', (code) => listening.reject(new Error(`otlp-sink ended with ${code}`)));
  createInterface({ input: running.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as Sent & { readonly listening?: string };
    if (said.listening !== undefined) listening.resolve(said.listening);
    else sent.push(said);
  });
  return {
    url: `http://${await listening.promise}`,
    sent,
    [Symbol.asyncDispose]: async () => {
      const ended = once(running, 'exit');
      running.stdin.end();
      await ended;
    },
  };
}
