/** An etcd that is started on what was restored, for as long as it takes to compare: alone, and on loopback. */

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

export function scratchEtcdArgs({ name, dataDirectory, clientUrl, peerUrl, tls }: ScratchMember): string[] {
  return [
    `--name=${name}`,
    `--data-dir=${dataDirectory}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=${name}=${peerUrl}`,
    `--trusted-ca-file=${tls}/${scratchTls.ca}`,
    `--cert-file=${tls}/${scratchTls.cert}`,
    `--key-file=${tls}/${scratchTls.key}`,
    '--client-cert-auth',
    // A database above its quota would raise an alarm, which changes what is compared.
    `--quota-backend-bytes=${100 * 1024 ** 3}`,
    '--unsafe-no-fsync',
    '--log-level=error',
  ];
}
