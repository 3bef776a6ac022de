import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../reconcile/backup/agent/free-port.ts';
import { type Daemon, startDaemon } from '../../support/cluster/daemon.ts';
import { type Database, settingsOf, type Wanted } from './settings.ts';

/** One PostgreSQL, and the Patroni that runs it. */
export interface Instance {
  readonly name: string;
  readonly daemon: Daemon;
  readonly port: number;
  /** Of Patroni's REST API. */
  readonly url: string;
  log(): Promise<string>;
}

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
