import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import { longestBackupName } from '../../manifests/api/identifiers.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../reconcile/objects/conditions.ts';
import { newestFirst } from '../page/backups.ts';
import { readyState } from '../page/state.ts';
import { type Asked, type ExitCode, Refusal } from './command.ts';
import { clusterNamed, dataText, nextCommand, say } from './objects.ts';
import { type Cell, table } from './table.ts';
import { inShort, since, sizeOf, stateCell } from './words.ts';

interface BackupOptions {
  /** The EtcdBackupSchedule that says how. Absent: the only one of the cluster. */
  readonly schedule?: string;
}

/** Asks for a backup now, as a schedule of the cluster takes them. */
export async function backup(name: string, asked: Asked, options: BackupOptions): Promise<ExitCode> {
  await clusterNamed(name, asked);
  const { kube, namespace, stop, now } = asked;
  const schedule = await scheduleFor(name, asked, options);
  // Like 20261123175501: two within a second are one.
  const suffix = `-${now().toISOString().replaceAll(/\D/g, '').slice(0, 14)}`;
  const made: EtcdBackup = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { namespace, name: `${name.slice(0, longestBackupName - suffix.length)}${suffix}` },
    spec: schedule.spec.template,
  };
  await kube.create(resources.backups, made, { signal: stop });
  const sentence = `EtcdBackup ${namespace}/${made.metadata.name} is asked for, as ${schedule.metadata.name} takes them; the next pass takes it, within a minute`;
  say(asked, `${sentence}: ${nextCommand(asked, `backups ${name}`)}`, made);
  return 0;
}

async function scheduleFor(name: string, asked: Asked, { schedule }: BackupOptions): Promise<EtcdBackupSchedule> {
  const { kube, namespace, stop } = asked;
  const { items } = await kube.list<EtcdBackupSchedule>(resources.schedules, { namespace, signal: stop });
  const fitting = items.filter(({ spec }) => spec.template.clusterName === name);
  const chosen = schedule === undefined ? fitting : fitting.filter(({ metadata }) => metadata.name === schedule);
  const [only, ...more] = chosen;
  if (only && more.length === 0) return only;
  const names = fitting.map(({ metadata }) => metadata.name).join(', ');
  if (fitting.length === 0)
    throw new Refusal(
      `${namespace}/${name} has no EtcdBackupSchedule that says where to and how: make one, or apply an EtcdBackup (docs/how-to/backups.md)`,
    );
  throw new Refusal(
    schedule === undefined
      ? `${namespace}/${name} has several schedules: name one of ${names} by --schedule`
      : `${namespace}/${name} has no EtcdBackupSchedule ${schedule}; there are: ${names}`,
  );
}

/** The backups of a cluster, or of all, the newest first. */
export async function backups(name: string | undefined, asked: Asked): Promise<ExitCode> {
  const { kube, namespace, out, err, output, colours, stop } = asked;
  const { items } = await kube.list<EtcdBackup>(resources.backups, { namespace, signal: stop });
  const wanted = items.filter(({ spec }) => name === undefined || spec.clusterName === name);
  const newest = newestFirst(wanted);
  if (output !== 'text') out(dataText({ backups: newest.map(facts) }, output));
  else if (newest.length === 0)
    err(`there is no EtcdBackup${name === undefined ? '' : ` of ${name}`} in namespace ${namespace}\n`);
  else {
    const heads = ['NAME', 'STATE', 'VERIFIED', 'SIZE', 'REVISION', 'TAKEN', 'OBJECT'];
    out(
      table(
        heads,
        newest.map((one) => row(one, asked.now())),
        colours,
      ),
    );
  }
  return 0;
}

function row({ metadata, status }: EtcdBackup, now: Date): readonly Cell[] {
  const { bytes, revision, object, verified, takenAt } = status ?? {};
  const state = readyState(status);
  const place = object ?? inShort(state.message);
  return [
    metadata.name,
    stateCell(state),
    since(verified?.at, now),
    sizeOf(bytes),
    String(revision ?? '-'),
    since(takenAt, now),
    place,
  ];
}

function facts({ metadata, spec, status }: EtcdBackup) {
  const ready = conditionOf(status, 'Ready');
  const { object, bytes, revision, takenAt, verified } = status ?? {};
  return {
    ...{ name: metadata.name, clusterName: spec.clusterName, ready: ready?.status === 'True', reason: ready?.reason },
    ...{ object, bytes, revision, takenAt, verifiedAt: verified?.at },
  };
}
