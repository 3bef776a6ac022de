import { createHash } from 'node:crypto';
import type { EtcdPeerSpec } from '../api/etcd-peer.ts';
import { parseQuantity } from '../api/quantity.ts';
import { formatVersion, parseVersion } from '../api/version.ts';
import { byIdentity } from '../by-identity.ts';
import type { KubeObject } from '../kube-types.ts';
import { canonicalJson } from './canonical-json.ts';
import { annotations } from './names.ts';

/** Inputs that restart no member, and why. All others are hashed: a new field needs a row in a table to compile. */
const notHashed = {
  clusterName: 'whose member it is never changes',
  ordinal: 'which member it is never changes',
  bootstrap: 'read once, at the first start',
  storage: 'a volume grows under a running member; a quota that follows it moves with the next template',
} as const satisfies Partial<Record<keyof EtcdPeerSpec, string>>;

/** What a peer's spec says about how its member runs: the part whose change needs a restart. */
export type ConfigurationInputs = Omit<EtcdPeerSpec, keyof typeof notHashed>;

/** How each is spelled for the hash: two spellings of one wish are the same. */
const spelled: { readonly [K in keyof Required<ConfigurationInputs>]: (field: ConfigurationInputs[K]) => unknown } = {
  version: (version) => formatVersion(parseVersion(version)),
  image: withoutEmpty,
  etcd: (etcd) => {
    const quota = etcd?.quotaBackendBytes;
    return withoutEmpty({ ...etcd, ...(quota !== undefined && { quotaBackendBytes: parseQuantity(quota) }) });
  },
  tls: (tls) => tls,
  resources: withoutEmpty,
  podTemplate: withoutEmpty,
};

/**
 * A hash over the inputs that a person chose, not their rendering: an upgrade of etcd-ratchet must roll no cluster.
 * Several rules ask about the same inputs in one decision, and a search a million times.
 */
export const inputsHash = byIdentity((spec: ConfigurationInputs): string => {
  const fields = Object.keys(spelled) as (keyof ConfigurationInputs)[];
  return hashOf(Object.fromEntries(fields.map((field) => [field, spelledField(field, spec)])));
});

function spelledField<K extends keyof ConfigurationInputs>(field: K, spec: ConfigurationInputs): unknown {
  return spelled[field](spec[field]);
}

export function sameInputs(a: ConfigurationInputs, b: ConfigurationInputs): boolean {
  return inputsHash(a) === inputsHash(b);
}

/** The inputs that an object of ours was built from, as its annotation says; `undefined` when it carries none. */
export function inputsHashOf(object: KubeObject): string | undefined {
  return object.metadata.annotations?.[annotations.inputsHash];
}

/** For builders whose inputs are few: Services and the disruption budget. */
export function hashOf(inputs: unknown): string {
  return createHash('sha256').update(canonicalJson(inputs)).digest('hex').slice(0, 32);
}

/** `resources: {}` and no resources are one wish, and so are `metadata: {}` in a template and none. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([, field]) => !isEmpty(field));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
