import type { Api } from './api.ts';
import type { Pod, VolumeProjection } from './wire.ts';

type Projection = NonNullable<VolumeProjection['serviceAccountToken']>;
type Token = { readonly token: string; readonly renewAt: number };
type TokenReview = { status: { token: string; expirationTimestamp: string } };

const dayMs = 24 * 3600 * 1000;

/**
 * The pod's service account tokens, bound to the pod and asked for again when 80 % of their time is over or they are a
 * day old (kubelet: pkg/kubelet/token).
 */
export function createTokens(api: Api, pod: Pod) {
  const cache = new Map<string, Token>();
  return {
    async get({ audience, expirationSeconds = 3600 }: Projection): Promise<string> {
      const key = `${audience} ${expirationSeconds}`;
      const cached = cache.get(key);
      if (cached && Date.now() < cached.renewAt) return cached.token;
      const { namespace, name, uid } = pod.metadata;
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${pod.spec.serviceAccountName ?? 'default'}/token`;
      const askedAt = Date.now();
      const { status } = await api.create<TokenReview>(path, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {
          ...(audience !== undefined && audience !== '' && { audiences: [audience] }),
          expirationSeconds,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
        },
      });
      const lifeMs = Date.parse(status.expirationTimestamp) - askedAt;
      cache.set(key, { token: status.token, renewAt: askedAt + Math.min(dayMs, lifeMs * 0.8) });
      return status.token;
    },
    /** When the first of them is to be renewed; undefined when there is none. */
    renewAt(): number | undefined {
      const times = [...cache.values()].map(({ renewAt }) => renewAt);
      return times.length > 0 ? Math.min(...times) : undefined;
    },
  };
}
