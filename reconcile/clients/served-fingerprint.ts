import { EtcdError } from '../interfaces/etcd.ts';
import { servedCertificate } from './tls-probe.ts';

/** For one look, in milliseconds. */
const patience = 2_000;

/** The SHA-256 fingerprint that a port presents now; `undefined` without an answer or TLS, which callers report. */
export async function servedFingerprint(
  target: { readonly host: string; readonly port: number; readonly serverName: string; readonly ca: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { fingerprint } = await servedCertificate({ ...target, signal, timeoutMs: patience });
    return fingerprint;
  } catch (error) {
    if (error instanceof EtcdError) return undefined;
    throw error;
  }
}
