import { EtcdError } from '../etcd.ts';
import { servedCertificate } from './tls-probe.ts';

/** For one look, in milliseconds. */
const patience = 2_000;

/**
 * What a port presents right now, by its SHA-256 fingerprint; `undefined` when nobody answers there, or not with TLS: that is
 * told elsewhere, by who needs an answer.
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
