import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

/** A certificate's file is a few KB; what is longer is something else. */
const longestFile = 1024 * 1024;

/**
 * Connections to the collector, which we can end: the exporter's own would keep the process alive for as long as a
 * server likes to send. They take the files that OpenTelemetry's variables name.
 *
 * @throws where such a file can't be read
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
