import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scratchTls } from '../../../manifests/render/scratch.ts';
import type { EtcdTls } from '../../interfaces/etcd.ts';
import { createAuthority, issueLeaf } from '../../x509/issue.ts';

const serverName = 'drill.local';

/**
 * Certificates for one drill. With authentication in the snapshot, etcd answers only its users: a client certificate's
 * common name is one, and `root` is always there.
 */
export async function makeScratchTls(directory: string, now: Date): Promise<void> {
  const times = {
    notBefore: new Date(now.getTime() - 3600_000),
    notAfter: new Date(now.getTime() + 8 * 24 * 3600_000),
  };
  const authority = await createAuthority({ commonName: 'drill', ...times });
  const plan = {
    authority: 'client',
    secretName: 'drill',
    dnsNames: [serverName],
    ipAddresses: ['127.0.0.1'],
  } as const;
  const server = await issueLeaf(
    { ...plan, purpose: 'server', commonName: 'drill', usages: ['serverAuth', 'clientAuth'] },
    authority,
    times,
  );
  const root = await issueLeaf(
    { ...plan, purpose: 'reconciler', commonName: 'root', usages: ['clientAuth'] },
    authority,
    times,
  );
  await mkdir(directory, { recursive: true });
  const write = (name: keyof typeof scratchTls, text: string) =>
    writeFile(join(directory, scratchTls[name]), text, { mode: 0o600 });
  await write('ca', authority.certificate);
  await write('cert', server.certificate);
  await write('key', server.key);
  await write('rootCert', root.certificate);
  await write('rootKey', root.key);
}

/** What {@link makeScratchTls} wrote for us. */
export async function readScratchTls(directory: string): Promise<EtcdTls> {
  const read = (name: keyof typeof scratchTls) => readFile(join(directory, scratchTls[name]), 'utf8');
  const [ca, cert, key] = await Promise.all([read('ca'), read('rootCert'), read('rootKey')]);
  return { ca, cert, key, serverName: () => serverName };
}
