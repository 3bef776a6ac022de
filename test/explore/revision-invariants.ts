import { isToldCompacted } from './model/clients.ts';
import { formationOf } from './model/etcd.ts';
import type { Event } from './model/event.ts';
import type { State } from './model/state.ts';

/**
 * I17: clients that resume are never served below what they saw without being told `compacted`. After a forced recovery
 * they must be restarted, which its approval says.
 */
export function servesOnlyOnward({ world: before }: State, _: Event, { world: after }: State): string | undefined {
  const { clients } = before;
  if (!clients || clients.of === after.clients?.of) return undefined;
  const formation = formationOf(after, after.clients?.of);
  if (!formation || formation.forced || isToldCompacted(clients, formation)) return undefined;
  return `clients saw revision ${clients.saw}, and resume at a store that begins with ${formation.compacted}`;
}
