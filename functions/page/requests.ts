import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import { checkState } from './check-states.ts';
import { checkHref } from './links.ts';
import { type Html, markup } from './markup.ts';
import { badge, card } from './parts.ts';

/** What asks to be merged, and what its check came to. What touches nothing here is left out. */
export function requestsCard({ status }: EtcdFleet, root: string): Html {
  const checks = (status?.checks ?? []).filter(({ state }) => state !== 'untouched');
  if (checks.length === 0) return markup``;
  return card('Open requests', markup`<ul class="problems">${checks.map((check) => row(check, root))}</ul>`);
}

function row({ number, head, state, description }: RequestCheck, root: string): Html {
  return markup`<li><a href="${checkHref(root, head)}">#${number}</a> ${badge(checkState(state))} <code>${head.slice(0, 10)}</code><br><bdi>${description}</bdi></li>`;
}
