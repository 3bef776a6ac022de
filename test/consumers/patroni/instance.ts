import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../reconcile/backup/agent/free-port.ts';
import { type Daemon, startDaemon } from '../../support/cluster/daemon.ts';
import type { ConsumerTools } from '../../support/cluster/tools.ts';

/** One PostgreSQL, and the Patroni that runs it. */
export interface Instance {
  readonly name: string;
  readonly daemon: Daemon;
  readonly port: number;
  /** Of Patroni's REST API. */
  readonly url: string;
  log(): Promise<string>;
}

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

/**
 * PostgreSQL refuses to run as root, which is the only user of the sandbox: in a user namespace within that, it is
 * nobody.
 */
const asNobody = ['--user', '--map-user=65534', '--map-group=65534'] as const;

export async function startInstance(wanted: Wanted, database: Database): Promise<Instance> {
  const { name } = wanted;
  const directory = join(database.directory, name);
  await mkdir(directory);
  const [port, apiPort] = [await freePort(), await freePort()];
  const file = join(directory, 'patroni.yml');
  // JSON is YAML.
  const settings = settingsOf(wanted, { directory, port, apiPort }, database);
  await writeFile(file, JSON.stringify(settings, undefined, 2), { mode: 0o600 });
  const log = join(directory, 'patroni.log');
  const daemon = startDaemon('unshare', [...asNobody, database.tools.python, '-m', 'patroni', file], log);
  return { name, daemon, port, url: `http://127.0.0.1:${apiPort}`, log: () => readFile(log, 'utf8') };
}

interface Place {
  readonly directory: string;
  readonly port: number;
  readonly apiPort: number;
}

function settingsOf({ name, isByService }: Wanted, { directory, port, apiPort }: Place, database: Database) {
  const { tools, etcd, certificates, password } = database;
  const api = `127.0.0.1:${apiPort}`;
  return {
    scope: 'shop',
    name,
    log: { format: '%(created).3f %(levelname)s: %(message)s' },
    restapi: { listen: api, connect_address: api },
    etcd3: {
      host: etcd,
      protocol: 'https',
      use_proxies: isByService,
      cacert: join(certificates, 'ca.crt'),
      cert: join(certificates, 'tls.crt'),
      key: join(certificates, 'tls.key'),
    },
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
