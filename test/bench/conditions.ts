import { cpus, loadavg, totalmem } from 'node:os';

/** Under what conditions the figures came to be. */
export async function conditions(): Promise<string> {
  const processors = cpus();
  const gigabytes = (totalmem() / 2 ** 30).toFixed(0);
  return [
    `# Bench, ${new Date().toISOString().slice(0, 16)}Z`,
    '',
    `Machine: ${processors.length} × ${processors[0]?.model ?? 'unknown processor'}, ${gigabytes} GiB, ${process.platform}/${process.arch}, Node ${process.version}`,
    'Everything runs on this one machine: API server, controllers, scheduler, its etcd (without fsync), nodes, Git server, forge.',
    'In memory, where fsync costs nothing: volumes and data of the etcd members by hand (ramfs); data of the API server,\nrepositories, the measured bundle (tmpfs).',
    load(),
    '',
  ].join('\n');
}

/** What else the machine was doing. */
export function load(): string {
  return `Load average (1, 5, 15 min): ${loadavg()
    .map((value) => value.toFixed(1))
    .join(', ')}`;
}
