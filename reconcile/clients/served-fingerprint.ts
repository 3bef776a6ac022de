import { EtcdError } from '../interfaces/etcd.ts';
import { servedCertificate } from './tls-probe.ts';

/** For one look, in milliseconds. */
const patience = 2_000;

/**
 * What a port presents right now, by its SHA-256 fingerprint; `undefined` without an answer, or without TLS: callers
 * that need an answer report that.
 */
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
