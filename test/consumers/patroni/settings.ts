import { join } from 'node:path';
import type { ConsumerTools } from '../../support/cluster/tools.ts';

export interface Database {
  readonly tools: ConsumerTools;
  /** Of this run: files of all instances. */
  readonly directory: string;
  /** Of etcd: its Service's name and port. */
  readonly etcd: string;
  /** Has `ca.crt`, `tls.crt` and `tls.key`, for etcd. */
  readonly certificates: string;
  readonly password: string;
}

export interface Wanted {
  readonly name: string;
  /** It asks the Service alone; without, as by default, it learns members' names there, and asks each of them. */
  readonly isByService: boolean;
}

/** Seconds, as Patroni has them where a person says nothing. */
export const timing = { ttl: 30, loop_wait: 10, retry_timeout: 10 } as const;

interface Place {
  readonly directory: string;
  readonly port: number;
  readonly apiPort: number;
}

/** What patroni.yml says. */
export function settingsOf({ name, isByService }: Wanted, { directory, port, apiPort }: Place, database: Database) {
  const { tools, etcd, certificates, password } = database;
  const api = `127.0.0.1:${apiPort}`;
  return {
    scope: 'shop',
    name,
    log: { format: '%(created).3f %(levelname)s: %(message)s' },
    restapi: { listen: api, connect_address: api },
    etcd3: { ...etcdOf(etcd, certificates), use_proxies: isByService },
    bootstrap: {
      dcs: { ...timing, postgresql: { parameters: { max_wal_size: '128MB', min_wal_size: '32MB' } } },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      bin_dir: tools.postgresql,
      data_dir: join(directory, 'data'),
      pgpass: join(directory, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
      },
      parameters: { unix_socket_directories: directory },
      pg_hba: ['local all all scram-sha-256', 'host all,replication all 127.0.0.1/32 scram-sha-256'],
    },
  };
}

/** How it reaches etcd. */
export function etcdOf(host: string, certificates: string) {
  const file = (name: string) => join(certificates, name);
  return { host, protocol: 'https', cacert: file('ca.crt'), cert: file('tls.crt'), key: file('tls.key') };
}
