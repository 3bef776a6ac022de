import { createHash } from 'node:crypto';
import type { EtcdPeerSpec } from '../api/etcd-peer.ts';
import { parseQuantity } from '../api/quantity.ts';
import { formatVersion, parseVersion } from '../api/version.ts';
import type { KubeObject } from '../kube-types.ts';
import { canonicalJson } from './canonical-json.ts';
import { annotations } from './names.ts';
import { quotaVolumeLimit } from './quota.ts';

/** What a peer's spec says about how its member runs: the part whose change needs a restart. */
export type ConfigurationInputs = Pick<
  EtcdPeerSpec,
  'version' | 'image' | 'etcd' | 'tls' | 'resources' | 'podTemplate' | 'storage'
>;

/**
 * A hash over the inputs that a person chose, not over what we render from them: an upgrade of etcd-ratchet, with better
 * defaults or other flags, must roll nobody's cluster.
 *
 * Bootstrap is left out because it is read once. Of storage only what etcd reads at its start counts: the volume's size, and
 * only where the quota follows it, no further than where the quota stops growing. Two spellings of one quantity are the same.
 */
export function inputsHash(spec: ConfigurationInputs): string {
  const { version, image, etcd, tls, resources, podTemplate, storage } = spec;
  const { quotaBackendBytes, ...settings } = etcd ?? {};
  return hashOf({
    version: formatVersion(parseVersion(version)),
    image: withoutEmpty(image),
    etcd: settings,
    quota:
      quotaBackendBytes === undefined
        ? { volume: Math.min(parseQuantity(storage.size), quotaVolumeLimit) }
        : { bytes: parseQuantity(quotaBackendBytes) },
    tls,
    resources: withoutEmpty(resources),
    podTemplate: withoutEmpty(podTemplate),
  });
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
