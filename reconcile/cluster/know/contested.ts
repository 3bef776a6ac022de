import { wantsReconcile } from '../../../manifests/render/reconcile-request.ts';
import type { ActionKind } from './action.ts';
import type { Observation } from './observation.ts';

/** So long nothing is written that another client changes each time, in minutes. */
export const pauseMinutes = 10;
const rememberedMinutes = 60;

/**
 * Whether this was done so often within an hour that another client must be undoing it each time: two clients that
 * never agree must not write for ever. The history of the cluster remembers that: where it is lost, a few writes more
 * are made. A request to look now is also a request to try again.
 */
export function isContested(
  { action, target, atOnce }: { readonly action: ActionKind; readonly target: string; readonly atOnce: number },
  { cluster, at }: Pick<Observation, 'cluster' | 'at'>,
): boolean {
  const minutes = (cluster.status?.history ?? []).flatMap((entry) => {
    const isSame = entry.action === action && entry.outcome === 'acted' && isAbout(entry.target, target);
    const ago = (at.getTime() - Date.parse(entry.at)) / 60_000;
    return isSame && ago < rememberedMinutes ? [ago] : [];
  });
  return minutes.length >= atOnce && Math.min(...minutes) < pauseMinutes && !wantsReconcile(cluster);
}

function isAbout(targets: string | undefined, target: string): boolean {
  return (targets ?? '').split(', ').includes(target);
}
