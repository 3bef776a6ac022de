import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';

/** The token under which the CAs of the cluster with this token were made: clients trust them through a rollback. */
export function tokenOfAuthorities(slots: readonly Slot[], token: string): string {
  const found = slots.map(recordOf).find((record) => record?.token === token && record.authoritiesOf !== undefined);
  return found?.authoritiesOf ?? token;
}
