import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { FleetRevisionEntry } from '../../manifests/api/etcd-fleet-status.ts';
import { type Html, markup } from './markup.ts';
import { badge, card, revision } from './parts.ts';
import type { Tone } from './state.ts';
import { ago } from './time.ts';

const tones: Readonly<Record<FleetRevisionEntry['outcome'], Tone>> = {
  Applied: 'good',
  Refused: 'bad',
  Retrying: 'busy',
  Unreadable: 'bad',
};

/** The last commits and what came of them, the newest first. */
export function revisionsCard(fleet: EtcdFleet, now: Date): Html {
  const history = fleet.status?.history ?? [];
  if (history.length === 0) return markup``;
  const rows = history.map(
    ({ revision: text, outcome, at }) =>
      markup`<li><span>${ago(at, now)}</span><div>${revision(text, fleet)} ${badge({ tone: tones[outcome] ?? 'calm', word: outcome })}</div></li>`,
  );
  return card('Revisions', markup`<ol class="past">${rows}</ol>`);
}
