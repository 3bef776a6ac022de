/** An etcd that is started on what was restored, for as long as it takes to compare: alone, and on loopback. */

/** On the loopback of its pod. */
export const scratchUrls = { clientUrl: 'https://127.0.0.1:2379', peerUrl: 'http://127.0.0.1:2380' } as const;

/** What lies where in the scratch volume of a drill. */
export function scratchLayout(directory: string) {
  const drill = `${directory}/drill`;
  return { drill, snapshot: `${drill}/snapshot.db`, data: `${drill}/data`, tls: `${drill}/tls` } as const;
}

/** Its certificates: what it is started with, and with which we come to it. */
export const scratchTls = {
  ca: 'ca.crt',
  cert: 'tls.crt',
  key: 'tls.key',
  rootCert: 'root.crt',
  rootKey: 'root.key',
} as const;

export interface ScratchMember {
  readonly name: string;
  readonly dataDirectory: string;
  readonly clientUrl: string;
  readonly peerUrl: string;
  /** A directory with {@link scratchTls}. It answers only clients with a certificate of that authority. */
  readonly tls: string;
}

export function scratchRestoreArgs(snapshot: string, { name, dataDirectory, peerUrl }: ScratchMember): string[] {
  return [
    'snapshot',
    'restore',
    snapshot,
    `--name=${name}`,
    `--data-dir=${dataDirectory}`,
    `--initial-cluster=${name}=${peerUrl}`,
    `--initial-cluster-token=${name}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
  ];
}

/** Where it listens, and whom it answers. */
export function scratchFlags({ name, clientUrl, peerUrl, tls }: Omit<ScratchMember, 'dataDirectory'>) {
  return {
    name,
    'listen-client-urls': clientUrl,
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `${name}=${peerUrl}`,
    'trusted-ca-file': `${tls}/${scratchTls.ca}`,
    'cert-file': `${tls}/${scratchTls.cert}`,
    'key-file': `${tls}/${scratchTls.key}`,
    'client-cert-auth': true,
  } as const;
}

export function scratchEtcdArgs({ dataDirectory, ...member }: ScratchMember): string[] {
  return [
    `--data-dir=${dataDirectory}`,
    ...Object.entries(scratchFlags(member)).map(([flag, value]) => `--${flag}=${value}`),
    // A database above its quota would raise an alarm, which changes what is compared.
    `--quota-backend-bytes=${100 * 1024 ** 3}`,
    '--unsafe-no-fsync',
    '--log-level=error',
  ];
}
