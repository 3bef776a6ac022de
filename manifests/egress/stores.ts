import type { ObjectLocation } from '../api/object-template.ts';
import { type Egress, EgressError, refusalOf, strictEgress } from './egress.ts';

/** Of a backup or a snapshot, what says where its store is. */
export interface StoreSettings {
  readonly gcs?: { readonly endpoint?: string | undefined } | undefined;
  readonly s3?: { readonly endpoint?: string | undefined } | undefined;
}

/** The host that its author names in place of Google's or Amazon's. */
export function endpointNamed({ scheme }: Pick<ObjectLocation, 'scheme'>, settings: StoreSettings): string | undefined {
  switch (scheme) {
    case 'gs':
      return settings.gcs?.endpoint;
    case 's3':
      return settings.s3?.endpoint;
    case 'pvc':
      return undefined;
  }
}

/**
 * Why the installation lets no Job go there, as far as the endpoint's words tell; `undefined` where it does. Whether
 * credentials may go without TLS is the agent's to judge, which knows what their owner says.
 */
export function hostRefusal(endpoint: string | undefined, egress: Egress = strictEgress): string | undefined {
  if (endpoint === undefined) return undefined;
  const url = URL.parse(endpoint);
  const refused = url ? refusalOf(url, false, egress) : new EgressError('HostRefused', `${endpoint} is no URL`);
  return refused?.message;
}
