import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import { type Html, markup } from './markup.ts';
import { card, stateWithWords, table } from './parts.ts';
import { size } from './short.ts';
import { readyState, scheduleState } from './state.ts';
import { ago, until } from './time.ts';

const heads = ['Backup', 'State', 'Verified', 'Size', 'Revision', 'Taken'];
const most = 10;

/** The newest first. Nothing where there is none, or none that the user may see. */
export function backupsCard(backups: readonly EtcdBackup[], now: Date): Html {
  if (backups.length === 0) return markup``;
  const newest = newestFirst(backups);
  const left = newest.length - most;
  const more = left > 0 ? markup`<p class="quiet small">and ${left} older ones</p>` : markup``;
  return card(
    'Backups',
    table(
      heads,
      newest.slice(0, most).map((backup) => row(backup, now)),
    ),
    more,
  );
}

/** By when they were taken, or else made. */
export function newestFirst(backups: readonly EtcdBackup[]): readonly EtcdBackup[] {
  return backups.toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
}

function timeOf({ metadata, status }: EtcdBackup): string {
  return status?.takenAt ?? metadata.creationTimestamp ?? '';
}

function row(backup: EtcdBackup, now: Date): Html {
  const { metadata, status } = backup;
  const { bytes, revision, object, verified, takenAt } = status ?? {};
  const none = markup`<span class="quiet">–</span>`;
  return markup`<tr role="row"><th scope="row" role="rowheader"><bdi>${metadata.name}</bdi></th><td role="cell" data-label="State"><div>${stateWithWords(readyState(status))}${object !== undefined && markup`<span class="said"><bdi class="code">${object}</bdi></span>`}</div></td><td role="cell" data-label="Verified" class="nowrap">${verified ? ago(verified.at, now) : none}</td><td role="cell" data-label="Size" class="nowrap">${bytes === undefined ? none : size(bytes)}</td><td role="cell" data-label="Revision">${revision ?? none}</td><td role="cell" data-label="Taken" class="nowrap">${takenAt === undefined ? none : ago(takenAt, now)}</td></tr>`;
}

const scheduleHeads = ['Schedule', 'State', 'Last', 'Last good', 'Next'];
const mostSchedules = 10;

/** By name. Nothing where there is none, or none that the user may see. */
export function schedulesCard(schedules: readonly EtcdBackupSchedule[], now: Date): Html {
  if (schedules.length === 0) return markup``;
  const byName = schedules.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const left = byName.length - mostSchedules;
  const more = left > 0 ? markup`<p class="quiet small">and ${left} others</p>` : markup``;
  const rows = byName.slice(0, mostSchedules).map((schedule) => scheduleRow(schedule, now));
  return card('Schedules of backups', table(scheduleHeads, rows), more);
}

function scheduleRow(schedule: EtcdBackupSchedule, now: Date): Html {
  const { metadata, spec, status } = schedule;
  const { lastAt, lastGood, nextAt } = status ?? {};
  const none = markup`<span class="quiet">–</span>`;
  return markup`<tr role="row"><th scope="row" role="rowheader"><bdi>${metadata.name}</bdi><span class="said"><bdi class="code">${spec.schedule}</bdi></span></th><td role="cell" data-label="State"><div>${stateWithWords(scheduleState(schedule))}</div></td><td role="cell" data-label="Last" class="nowrap">${lastAt === undefined ? none : ago(lastAt, now)}</td><td role="cell" data-label="Last good" class="nowrap">${lastGood ? ago(lastGood.takenAt, now) : none}</td><td role="cell" data-label="Next" class="nowrap">${nextAt === undefined ? none : until(nextAt, now)}</td></tr>`;
}
