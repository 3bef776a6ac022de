import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import { type Html, markup } from './markup.ts';
import { card, stateWithWords, table } from './parts.ts';
import { size } from './size.ts';
import { readyState } from './state.ts';
import { ago } from './time.ts';

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
  return markup`<tr role="row"><th scope="row" role="rowheader"><bdi>${metadata.name}</bdi></th><td role="cell" data-label="State"><span>${stateWithWords(readyState(status))}${object !== undefined && markup`<span class="said"><bdi class="code">${object}</bdi></span>`}</span></td><td role="cell" data-label="Verified" class="nowrap">${verified ? ago(verified.at, now) : none}</td><td role="cell" data-label="Size" class="nowrap">${bytes === undefined ? none : size(bytes)}</td><td role="cell" data-label="Revision">${revision ?? none}</td><td role="cell" data-label="Taken" class="nowrap">${takenAt === undefined ? none : ago(takenAt, now)}</td></tr>`;
}
