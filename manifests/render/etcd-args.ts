import type { EtcdPeer } from '../api/etcd-peer.ts';
import { flagFields } from '../api/flag-fields.ts';
import { ownGates, reservedBecause } from '../api/reserved-flags.ts';
import { parseVersion } from '../api/version.ts';
import { gateFlags, unknownFlags } from './etcd-flags.ts';
import { clientUrl, peerUrl, ports, schemeOf } from './names.ts';
import { quotaBackendBytes } from './quota.ts';
import { scratchFlags, scratchUrls } from './scratch.ts';
import { tlsFlags } from './tls-files.ts';

export const dataDirectory = '/var/lib/etcd/data';

/**
 * etcd's flags for one peer, sorted, so that equal inputs give equal pods. Built per minor: an unknown flag makes etcd
 * exit with 2. The bootstrap variables are no flags, because a flag would win over the seal.
 * @throws {RangeError} for an invalid version, duration or quantity; the API refuses those first
 */
export function etcdArgs(peer: EtcdPeer): string[] {
  return written({
    ...flagsOf(peer),
    ...gateFlags({ ...corruptionChecks, ...featureGates(peer) }, parseVersion(peer.spec.version)),
  });
}

/**
 * The member as a cluster of one that only its own pod can reach. Its advertised addresses stay: it answers there again
 * once started without this. It compares its data with no other member, since no other counts.
 */
export function isolatedArgs(peer: EtcdPeer): string[] {
  const scheme = schemeOf(peer.spec.tls.mode);
  return written({
    ...flagsOf(peer),
    ...gateFlags(featureGates(peer), parseVersion(peer.spec.version)),
    'listen-peer-urls': `${scheme}://127.0.0.1:${ports.peer}`,
    'listen-client-urls': `${scheme}://127.0.0.1:${ports.client}`,
    'force-new-cluster': true,
  });
}

/**
 * The member on a copy of its restored data, for as long as it takes to see that it serves: alone on loopback, with
 * flags, quota and gates as its own, and the certificates of a drill. Without data it exits: it begins no cluster.
 */
export function trialArgs(peer: EtcdPeer, { data, tls, forces = false }: TrialSettings): string[] {
  return written({
    ...extraFlags(peer),
    ...settings(peer),
    ...gateFlags(featureGates(peer), parseVersion(peer.spec.version)),
    ...scratchFlags({ name: peer.metadata.name, tls, ...scratchUrls }),
    'data-dir': data,
    'initial-cluster-state': 'existing',
    'unsafe-no-fsync': true,
    ...(forces && { 'force-new-cluster': true }),
    // Of what its container says last a person is told: not of the weather before.
    'log-level': 'error',
  });
}

interface TrialSettings {
  readonly data: string;
  readonly tls: string;
  /** It forgets all other members first. */
  readonly forces?: boolean;
}

function flagsOf(peer: EtcdPeer): Flags {
  return { ...extraFlags(peer), ...settings(peer), ...addresses(peer), ...tlsFlags(peer) };
}

function written(flags: Flags): string[] {
  return Object.entries(flags)
    .map(([flag, value]) => `--${flag}=${value}`)
    .sort();
}

type Flags = Readonly<Record<string, string | number | boolean>>;

function addresses({ metadata, spec }: EtcdPeer): Flags {
  const namespace = metadata.namespace ?? 'default';
  const scheme = schemeOf(spec.tls.mode);
  // For Go, 0.0.0.0 is every address of the host, IPv6 included; "[::]" would fail where IPv6 is switched off.
  return {
    name: metadata.name,
    'data-dir': dataDirectory,
    'listen-peer-urls': `${scheme}://0.0.0.0:${ports.peer}`,
    'listen-client-urls': `${scheme}://0.0.0.0:${ports.client}`,
    // Plain HTTP also under TLS: kubelet's probes have no client certificate, and this listener knows health and
    // metrics only.
    'listen-metrics-urls': `http://0.0.0.0:${ports.metrics}`,
    'initial-advertise-peer-urls': peerUrl(namespace, spec.clusterName, metadata.name, scheme),
    'advertise-client-urls': clientUrl(namespace, spec.clusterName, metadata.name, scheme),
    'initial-cluster-token': spec.bootstrap.token,
  };
}

function settings({ spec }: EtcdPeer): Flags {
  return {
    logger: 'zap',
    'log-outputs': 'stderr',
    // Defaults of etcd's, said aloud because the planner's safety rests on them.
    'strict-reconfig-check': true,
    'pre-vote': true,
    ...fieldFlags({ ...spec.etcd, quotaBackendBytes: quotaBackendBytes(spec) }),
  };
}

type Fields = Omit<NonNullable<EtcdPeer['spec']['etcd']>, 'extraArgs' | 'featureGates'>;
type Value<F extends keyof Fields> = NonNullable<Fields[F]>;

const flagsByField: {
  readonly [F in keyof Fields]-?: Readonly<Record<string, (value: Value<F>) => string | number>>;
} = flagFields;

function fieldFlags(fields: Fields): Flags {
  const names = Object.keys(flagsByField) as (keyof Fields)[];
  return Object.assign({}, ...names.map((field) => flagsOfField(field, fields[field]))) as Flags;
}

function flagsOfField<F extends keyof Fields>(field: F, value: Fields[F]): Flags {
  if (value === undefined) return {};
  const given: Value<F> = value;
  return Object.fromEntries(Object.entries(flagsByField[field]).map(([flag, convert]) => [flag, convert(given)]));
}

/** A member that lost or mangled data should say so, at its start and at every compaction. */
const corruptionChecks = Object.fromEntries(ownGates.map((gate) => [gate, true]));

/** Those of the spec alone: a member in isolation has no other to compare its data with. */
function featureGates({ spec }: EtcdPeer): Readonly<Record<string, boolean>> {
  const given = Object.entries(spec.etcd?.featureGates ?? {});
  return Object.fromEntries(given.filter(([gate]) => !ownGates.includes(gate)).toSorted());
}

/**
 * The API refuses reserved flags; they are left out here too, because one that slipped through could undo the seal.
 * Flags that this minor lacks are refused by name earlier: a version is changed before the flags are.
 */
function extraFlags({ spec }: EtcdPeer): Flags {
  const given = Object.entries(spec.etcd?.extraArgs ?? {});
  const unknown = unknownFlags(Object.keys(spec.etcd?.extraArgs ?? {}), parseVersion(spec.version));
  return Object.fromEntries(given.filter(([flag]) => reservedBecause(flag) === undefined && !unknown.includes(flag)));
}
