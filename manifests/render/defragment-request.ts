import { IsDateTime } from 'typebox/format';
import { annotations } from './names.ts';

export type DefragmentRequest =
  | { readonly kind: 'none' }
  /** From this time on, and for members that were not defragmented since. */
  | { readonly kind: 'asked'; readonly since: Date }
  /** In words: what the value is not. */
  | { readonly kind: 'unreadable'; readonly problem: string };

/**
 * Days that a request holds, and may lie ahead: a monthly window of `spec.maintenance` opens within them. Members that
 * join after that are not defragmented for it.
 */
const requestDays = 35;

/** The value of `etcd.ratchet.dev/defragment`: a time. A person may have typed anything. */
export function defragmentRequestOf(
  { metadata }: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } },
  at: Date,
): DefragmentRequest {
  const asked = metadata.annotations?.[annotations.defragment];
  if (asked === undefined) return { kind: 'none' };
  // Date would take the 30th of February for the 2nd of March.
  const since = new Date(IsDateTime(asked) ? asked : Number.NaN);
  if (Number.isNaN(since.getTime())) {
    return { kind: 'unreadable', problem: `is no time like ${at.toISOString().slice(0, 19)}Z` };
  }
  const days = (at.getTime() - since.getTime()) / 86_400_000;
  if (days < -requestDays) return { kind: 'unreadable', problem: `is more than ${requestDays} days ahead` };
  return days > requestDays ? { kind: 'none' } : { kind: 'asked', since };
}
