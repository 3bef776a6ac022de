import { type Egress, EgressError, refusalOf, strictEgress } from './egress.ts';

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
