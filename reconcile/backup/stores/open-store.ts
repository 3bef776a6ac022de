import type { ObjectLocation } from '../../../manifests/api/object-template.ts';
import { type Egress, refusalOf, strictEgress } from '../../../manifests/egress/egress.ts';
import { endpointNamed, type StoreRequest, stores } from '../../../manifests/stores/stores.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { trustAlso } from '../agent/trust.ts';
import { guardConnections } from './guard.ts';
import { openers } from './openers.ts';
import type { Store } from './store.ts';

/**
 * The store of one location. Where its author names a host, the installation's word on hosts goes for every connection
 * until the store is closed. @throws {BackupFailure}
 */
export async function openStore(
  location: ObjectLocation,
  request: StoreRequest = {},
  egress: Egress = strictEgress,
): Promise<Store> {
  const endpoint = endpointNamed(location, request);
  if (endpoint === undefined) return openAt(location, request);
  refuseHost(endpoint, sendsSecret(location, request), egress);
  const guard = guardConnections(egress, openers[location.scheme].ownHosts(request));
  try {
    const store = await openAt(location, request);
    const refused = guard.refused.then(({ message }) => {
      throw new BackupFailure('HostRefused', message);
    });
    // Not everyone waits for it.
    refused.catch(() => undefined);
    return {
      ...store,
      refused,
      close: () => {
        store.close();
        guard[Symbol.dispose]();
      },
    };
  } catch (error) {
    guard[Symbol.dispose]();
    throw error;
  }
}

async function openAt({ scheme, bucket }: ObjectLocation, request: StoreRequest): Promise<Store> {
  if (request.caFile !== undefined) await trustAlso(request.caFile);
  return openers[scheme].open(bucket, request);
}

function sendsSecret({ scheme }: ObjectLocation, request: StoreRequest): boolean {
  const kind = stores[scheme];
  return kind.reach === 'network' && kind.sendsSecret(request);
}

/** Before a credential is read: plain HTTP would show it. @throws {BackupFailure} PlainHttpRefused, HostRefused */
function refuseHost(endpoint: string, secret: boolean, egress: Egress): void {
  const url = URL.parse(endpoint);
  if (!url) throw new BackupFailure('InvalidRequest', `the endpoint ${endpoint} is no URL`);
  const refused = refusalOf(url, secret, egress);
  if (!refused) return;
  if (refused.reason === 'HostRefused') throw new BackupFailure('HostRefused', refused.message);
  throw new BackupFailure(
    'PlainHttpRefused',
    `${url.origin} is plain HTTP, and credentials are not sent there: use https://, or list its host in RATCHET_PLAIN_HTTP_HOSTS of ConfigMap etcd-ratchet-settings in this namespace`,
  );
}
