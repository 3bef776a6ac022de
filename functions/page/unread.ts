import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { EtcdError } from '../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../reconcile/interfaces/etcd-admin.ts';
import { type Kube, KubeError } from '../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../reconcile/objects/conditions.ts';
import { canBeRead } from '../../reconcile/reasons/reasons.ts';
import { readOnly } from '../pass/read-only.ts';

/** What could not be read while something was looked at with a person's own rights and from where that person is. */
export interface Unread {
  /** Plurals that this person may not read. */
  readonly forbidden: Set<string>;
  /** Endpoints of members that did not answer, each with its cause. */
  readonly silent: Map<string, string>;
  /** Endpoints that answered. */
  readonly heard: Set<string>;
}

export function nothingUnread(): Unread {
  return { forbidden: new Set(), silent: new Map(), heard: new Set() };
}

/** A pass reached members, and no member answered here: what is concluded from here would be wrong. */
export function isOutOfReach({ status }: Pick<EtcdCluster, 'status'>, { heard }: Unread): boolean {
  return heard.size === 0 && canBeRead(conditionOf(status, 'Available'));
}

/** The same API server; nothing is written, and what is forbidden is noted. */
export function notingKube(kube: Kube, { forbidden }: Unread): Kube {
  const noted = async <T>(plural: string, asked: Promise<T>): Promise<T> => {
    try {
      return await asked;
    } catch (error) {
      if (error instanceof KubeError && error.reason === 'Forbidden') forbidden.add(plural);
      throw error;
    }
  };
  return {
    ...readOnly(kube),
    get: (resource, ...rest) => noted(resource.plural, kube.get(resource, ...rest)),
    list: (resource, options) => noted(resource.plural, kube.list(resource, options)),
  };
}

/** The same members; which of them answer is noted. */
export function notingEtcd(etcd: EtcdAdmin, { silent, heard }: Unread): EtcdAdmin {
  return {
    ...etcd,
    status: async (endpoint, options) => {
      try {
        const status = await etcd.status(endpoint, options);
        heard.add(endpoint);
        return status;
      } catch (error) {
        if (error instanceof EtcdError) silent.set(endpoint, error.message);
        throw error;
      }
    },
  };
}
