import { gatesIn35 } from '../api/reserved-flags.ts';
import type { Version } from '../api/version.ts';

/**
 * Flags that only some supported minors know (asked of 3.5.35, 3.6.16 and 3.7.3 themselves): an unknown flag makes a
 * member exit with 2. Reserved flags are not listed.
 */
const since36 = [
  'bootstrap-defrag-threshold-megabytes',
  'compaction-batch-limit',
  'compaction-sleep-interval',
  'distributed-tracing-address',
  'distributed-tracing-instance-id',
  'distributed-tracing-sampling-rate',
  'distributed-tracing-service-name',
  'downgrade-check-time',
  'enable-distributed-tracing',
  'experimental-warning-unary-request-duration',
  'log-format',
  'memory-mlock',
  'snapshot-catchup-entries',
  'warning-apply-duration',
  'warning-unary-request-duration',
  'watch-progress-notify-interval',
];
/** Feature gates that a minor after 3.6 brought: etcd exits on one that it does not know. */
const gatesSince: Readonly<Record<string, number>> = { FastLeaseKeepAlive: 7, PriorityRequest: 7 };

type Gates = Readonly<Record<string, boolean>>;

/** The flags that switch these gates, in their order and in the words of this version, without gates that it lacks. */
export function gateFlags(wanted: Gates, version: Version): Readonly<Record<string, string | boolean>> {
  const unknown = unknownGates(Object.keys(wanted), version);
  const known = Object.entries(wanted).filter(([gate]) => !unknown.includes(gate));
  if (version.minor < 6) return Object.fromEntries(known.map(([gate, on]) => [gatesIn35[gate], on]));
  const said = known.map(([gate, on]) => `${gate}=${on}`);
  return said.length === 0 ? {} : { 'feature-gates': said.join(',') };
}

/** Of these gates those that etcd of this version does not know, as far as that is known here. */
export function unknownGates(names: readonly string[], { minor }: Version): string[] {
  const isKnown = (name: string) => (minor < 6 ? Object.hasOwn(gatesIn35, name) : minor >= (gatesSince[name] ?? 6));
  return names.filter((name) => !isKnown(name));
}

const until35 = ['enable-v2', 'experimental-enable-v2v3'];
const until36 = 'experimental-';

/** Of these flags those that etcd of this version does not know, as far as that is known here. */
export function unknownFlags(flags: readonly string[], { major, minor }: Version): string[] {
  if (major !== 3) return [];
  return flags.filter(
    (flag) =>
      (minor < 6 && since36.includes(flag)) ||
      (minor > 5 && (until35.includes(flag) || flag.startsWith('proxy-'))) ||
      (minor > 6 && flag.startsWith(until36)),
  );
}
