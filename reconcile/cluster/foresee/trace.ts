import type { Certificates, Observation } from '../know/observation.ts';

/** What differs between two moments of one cluster though nothing has come nearer to its goal. */
const passing: ReadonlySet<string> = new Set(['uid', 'made', 'createdAt', 'startedAt', 'restarts']);

/** Equal where the same would be decided again, for ever. */
export function traceOf({ at: _, nonce: __, lease: ___, cluster, certificates, ...rest }: Observation): string {
  const { metadata, spec } = cluster;
  return JSON.stringify([rest, metadata, spec, traceOfCertificates(certificates)], (key, value: unknown) => {
    if (passing.has(key)) return undefined;
    return typeof value === 'bigint' ? String(value) : value;
  });
}

/** What they say in full is long, and their fingerprints say the same. */
function traceOfCertificates(certificates: Certificates): unknown {
  if (certificates.kind !== 'read') return certificates.kind;
  const { authorities, leaves } = certificates;
  return [
    Object.values(authorities).map(({ state, record, facts }) => [state, record, facts?.fingerprint, facts?.trust]),
    leaves.map(({ plan, state, facts, served, handedOverAt, issued }) => [
      plan.secretName,
      state,
      facts?.fingerprint,
      facts?.trust,
      served,
      handedOverAt,
      issued?.certificate,
      issued?.facts?.fingerprint,
    ]),
  ];
}
