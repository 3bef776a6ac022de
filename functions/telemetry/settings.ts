/** Where telemetry is sent; without a collector nothing is. */
export interface TelemetrySettings {
  readonly traces?: string;
  readonly metrics?: string;
  /** Settings that say something which is not done. */
  readonly problems: readonly string[];
}

const signals = { traces: 'TRACES', metrics: 'METRICS' } as const;
type Signal = keyof typeof signals;

/** The variables of OpenTelemetry that are read; docs/how-to/monitoring.md lists them. */
export function telemetryFrom(env: NodeJS.ProcessEnv): TelemetrySettings {
  if (isTrue(env.OTEL_SDK_DISABLED)) return { problems: [] };
  const [traces, metrics] = [asked('traces', env), asked('metrics', env)];
  return {
    ...(traces.url !== undefined && { traces: traces.url }),
    ...(metrics.url !== undefined && { metrics: metrics.url }),
    problems: [...new Set([traces, metrics].flatMap(({ problem }) => problem ?? []))],
  };
}

interface Asked {
  readonly url?: string;
  readonly problem?: string;
}

function asked(signal: Signal, env: NodeJS.ProcessEnv): Asked {
  const own = `OTEL_EXPORTER_OTLP_${signals[signal]}`;
  const nameOf = (what: string) => (env[`${own}_${what}`]?.trim() ? `${own}_${what}` : `OTEL_EXPORTER_OTLP_${what}`);
  const endpoint = env[nameOf('ENDPOINT')]?.trim();
  const exporter = env[`OTEL_${signals[signal]}_EXPORTER`]?.trim().toLowerCase() || 'otlp';
  if (!endpoint || exporter === 'none') return {};
  const unsent = `no ${signal} are sent`;
  if (exporter !== 'otlp') return { problem: `OTEL_${signals[signal]}_EXPORTER must be otlp or none: ${unsent}` };
  if (!['', 'http/protobuf'].includes(env[nameOf('PROTOCOL')]?.trim() ?? '')) {
    return { problem: `${nameOf('PROTOCOL')} must be http/protobuf: ${unsent}` };
  }
  const url = URL.parse(endpoint);
  // It may hold credentials, so it is not repeated.
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    return { problem: `${nameOf('ENDPOINT')} must be an http(s) address: ${unsent}` };
  }
  // As OpenTelemetry has it: an address of one signal is whole, one for all is the base of both.
  if (nameOf('ENDPOINT') === `OTEL_EXPORTER_OTLP_ENDPOINT`)
    url.pathname = `${url.pathname.replace(/\/*$/, '')}/v1/${signal}`;
  return { url: url.href };
}

function isTrue(text = ''): boolean {
  return text.trim().toLowerCase() === 'true';
}
