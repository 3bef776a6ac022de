import type { KubeObject } from '../manifests/kube-types.ts';
import { kubectl } from '../manifests/render/kubectl.ts';
import { labels } from '../manifests/render/names.ts';

/** A Secret as a fleet names it: credentials of Git or a forge, or what webhooks are verified with. */
export interface FleetSecret extends KubeObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

const shared = 'true';

/** On every Secret that fleets may use. */
export const fleetSecretLabels = { [labels.fleetSecret]: shared } as const;

/**
 * Whether the owner of a Secret lets the fleets of its namespace use it. We may read every Secret by name, also the
 * keys of clusters and what other software keeps there: who may write a fleet must not borrow that right.
 */
export function isShared({ metadata }: FleetSecret): boolean {
  return metadata.labels?.[labels.fleetSecret] === shared;
}

/** What a person runs to share it. */
export function shareCommand(namespace: string, name: string): string {
  return kubectl({ namespace }, `label --overwrite secret ${name} ${labels.fleetSecret}=${shared}`);
}
