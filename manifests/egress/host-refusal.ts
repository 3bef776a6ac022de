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
