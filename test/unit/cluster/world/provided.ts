import { clusterLeaves, memberLeaves } from '../../../../manifests/render/certificate-names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { type Authority, createAuthority } from '../../../../reconcile/x509/issue.ts';
import { day, leafOf } from '../../../e2e/support/certificates.ts';
import { namespace, type World } from '../../../support/world/world.ts';

/** A cluster of one member whose certificates a person provides. */

const provided = { peerSecretName: 'my-peer', serverSecretName: 'my-server', clientSecretName: 'my-client' };
export const byPerson = { replicas: 1, tls: { mode: 'Provided', provided } } as const;

export const allUses = ['peerSecretName', 'serverSecretName', 'clientSecretName'] as const;

const lifeIn = (world: World) => ({
  notBefore: new Date(world.now() - day),
  notAfter: new Date(world.now() + 90 * day),
});

export function authorityIn(world: World): Promise<Authority> {
  return createAuthority({ commonName: 'of a person', ...lifeIn(world) });
}

/** Secrets for these uses, of a CA of their own unless one is given. */
export async function give(world: World, uses: readonly (keyof typeof provided)[], given?: Authority): Promise<void> {
  const authority = given ?? (await authorityIn(world));
  const [peer, server] = memberLeaves({ namespace, cluster: 'orders' }, 'orders-0');
  const plans = { peerSecretName: peer, serverSecretName: server, clientSecretName: clusterLeaves('orders')[0] };
  for (const use of uses) {
    const data = await leafOf(plans[use], authority, { validity: lifeIn(world) });
    const metadata = { name: provided[use], namespace };
    world.kube.seed(resources.secrets, { apiVersion: 'v1', kind: 'Secret', metadata, ...{ data } });
  }
}
