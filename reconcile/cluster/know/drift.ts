import type { SetDrift } from './observation.ts';

/** For messages: what is, and whose doing it is. */
export function driftInWords(name: string, drift: SetDrift): string {
  if (drift.kind === 'unknown')
    return `StatefulSet ${name} could not be compared with what its peer asks for: ${drift.cause}`;
  const { fields, by, replicas } = drift;
  const scaled =
    replicas === undefined ? '' : ` (it asks for ${replicas} pods${replicas === 0 ? ': its member is stopped' : ''})`;
  return `${by} changed ${fields.join(', ')} of StatefulSet ${name}${scaled}`;
}
