import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Access } from '../e2e/support/client.ts';

/** As kubelet mounts a Secret: each file is whole at every moment. */
export async function putCertificates(directory: string, { credentials }: Access): Promise<void> {
  const { rootCertificate, certChain, privateKey } = credentials ?? {};
  const files = { 'ca.crt': rootCertificate, 'tls.crt': certChain, 'tls.key': privateKey };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(directory, `${name}.new`), content ?? '', { mode: 0o600 });
    await rename(join(directory, `${name}.new`), join(directory, name));
  }
}
