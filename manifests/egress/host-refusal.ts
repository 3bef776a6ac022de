import { type ObjectLocation, urlOf } from '../api/object-template.ts';
import { isListed } from '../render/listed-hosts.ts';
import { type NamedHost, stores } from '../stores/stores.ts';
import { listRefusal } from './allow-lists.ts';
import { type Egress, EgressError, refusalOf, strictEgress } from './egress.ts';

/**
 * Why the installation lets no Job go to this endpoint, by its words; `undefined`: it does. The agent judges plain
 * HTTP: it knows what the owner of the credentials says.
 */
export function hostRefusal(endpoint: string | undefined, egress: Egress = strictEgress): string | undefined {
  if (endpoint === undefined) return undefined;
  const url = URL.parse(endpoint);
  const refused = url ? refusalOf(url, false, egress) : new EgressError('HostRefused', `${endpoint} is no URL`);
  return refused?.message;
}

/** Where an object lies, or is to lie: a host that the author names, if any, and a bucket. */
export interface Place {
  readonly location: ObjectLocation;
  readonly host: NamedHost | undefined;
  readonly namespace: string | undefined;
}

/** The same of a store, which may be sent a token, and of its bucket. A PVC is offered by its owner. */
export function placeRefusal(place: Place, egress: Egress = strictEgress): string | undefined {
  const { location, host, namespace = '' } = place;
  const ofHost = storeRefusal(host, egress);
  if (ofHost !== undefined || stores[location.scheme].reach === 'claim') return ofHost;
  return listRefusal(egress.lists, 'buckets', urlOf(location), namespace);
}

function storeRefusal(named: NamedHost | undefined, egress: Egress): string | undefined {
  if (named === undefined) return undefined;
  return hostRefusal(named.endpoint, egress) ?? (named.getsToken ? tokenRefusal(named.endpoint, egress) : undefined);
}

/** Why an endpoint that is not the vendor's own gets no token: the store could use it elsewhere, as that identity. */
export function tokenRefusal(endpoint: string, { hosts = [] }: Egress): string | undefined {
  const url = URL.parse(endpoint);
  if (url && isListed(hosts, url)) return undefined;
  return `${url?.origin ?? endpoint} is not the vendor's own, and no token of an identity is sent there: name a host of the vendor's, use credentials that are not sent, or have it listed in RATCHET_HOSTS of this installation (docs/how-to/limit-tenants.md)`;
}
