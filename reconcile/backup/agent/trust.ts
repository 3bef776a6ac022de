import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { BackupFailure } from '../../jobs/failure.ts';
import { ignoreMissing } from './files.ts';

/** As long as a certificate may be, so that hostile text costs no more than its length. */
const certificate = /-----BEGIN CERTIFICATE-----[^-]{1,65536}-----END CERTIFICATE-----/g;

/**
 * Trusts these authorities beside Node's own, for every connection of this process without its own. @throws
 * {BackupFailure} NotTrusted, when the file is missing or holds no certificates
 */
export async function trustAlso(file: string): Promise<void> {
  const text = (await readFile(file, 'utf8').catch(ignoreMissing)) ?? '';
  const found = text.match(certificate) ?? [];
  if (found.length === 0 || !found.every(isCertificate))
    throw new BackupFailure(
      'NotTrusted',
      `caBundle holds no certificates that can be read: give PEM, one block for each authority (${file})`,
    );
  setDefaultCACertificates([...getCACertificates('default'), ...found]);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false; // the caller says so
  }
}
