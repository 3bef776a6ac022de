import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import { type Html, markup } from './markup.ts';
import { badge, card, stateWithWords, table } from './parts.ts';
import { readyState } from './state.ts';
import { ago, until } from './time.ts';

const heads = ['Schedule', 'State', 'Last', 'Last good', 'Next'];
const most = 10;

/** By name. Nothing where there is none, or none that the user may see. */
export function schedulesCard(schedules: readonly EtcdBackupSchedule[], now: Date): Html {
  if (schedules.length === 0) return markup``;
  const byName = schedules.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const left = byName.length - most;
  const more = left > 0 ? markup`<p class="quiet small">and ${left} others</p>` : markup``;
  const rows = byName.slice(0, most).map((schedule) => row(schedule, now));
  return card('Schedules of backups', table(heads, rows), more);
}

function row(schedule: EtcdBackupSchedule, now: Date): Html {
  const { metadata, spec, status } = schedule;
  const { lastAt, lastGood, nextAt } = status ?? {};
  const none = markup`<span class="quiet">–</span>`;
  return markup`<tr role="row"><th scope="row" role="rowheader"><bdi>${metadata.name}</bdi><span class="said"><bdi class="code">${spec.schedule}</bdi></span></th><td role="cell" data-label="State"><span>${stateOf(schedule)}</span></td><td role="cell" data-label="Last" class="nowrap">${lastAt === undefined ? none : ago(lastAt, now)}</td><td role="cell" data-label="Last good" class="nowrap">${lastGood ? ago(lastGood.takenAt, now) : none}</td><td role="cell" data-label="Next" class="nowrap">${nextAt === undefined ? none : until(nextAt, now)}</td></tr>`;
}

function stateOf({ spec, status }: EtcdBackupSchedule): Html {
  return spec.suspend ? badge({ tone: 'calm', word: 'Suspended' }) : stateWithWords(readyState(status));
}
