import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { ObjectLocation } from '../../../manifests/api/object-template.ts';
import { type Egress, refusalOf, strictEgress } from '../../../manifests/egress/egress.ts';
import { tokenRefusal } from '../../../manifests/egress/host-refusal.ts';
import { endpointNamed, isOwnEndpoint, type StoreRequest, stores } from '../../../manifests/stores/stores.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { ignoreMissing } from '../agent/files.ts';
import { guardConnections } from './guard.ts';
import type { Opening } from './opener.ts';
import { openers } from './openers.ts';
import type { Store } from './store.ts';

/**
 * The store of one location. The installation's word on hosts goes for every connection until the store is closed, and
 * no redirect is followed. @throws {BackupFailure}
 */
export async function openStore(
  location: ObjectLocation,
  request: StoreRequest = {},
  egress: Egress = strictEgress,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): Promise<Store> {
  const kind = stores[location.scheme];
  const opening = { readOnly, egress, assertToken: () => refuseToken(location, request, egress) };
  if (kind.reach === 'claim') return openAt(location, request, opening);
  const endpoint = endpointNamed(location, request);
  if (endpoint !== undefined) refuseHost(endpoint, kind.sendsSecret(request), egress);
  if (kind.sendsToken(request)) opening.assertToken();
  const guard = guardConnections(egress, openers[location.scheme].ownHosts(request));
  try {
    const store = await openAt(location, request, opening);
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

async function openAt({ scheme, bucket }: ObjectLocation, request: StoreRequest, opening: Opening): Promise<Store> {
  if (request.caFile !== undefined) await trustAlso(request.caFile);
  return openers[scheme].open(bucket, request, opening);
}

/** @throws {BackupFailure} HostRefused */
function refuseToken(location: ObjectLocation, request: StoreRequest, egress: Egress): void {
  const endpoint = endpointNamed(location, request);
  if (endpoint === undefined || isOwnEndpoint(location, endpoint)) return;
  const refused = tokenRefusal(endpoint, egress);
  if (refused !== undefined) throw new BackupFailure('HostRefused', refused);
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

/** As long as a certificate may be, so that hostile text costs no more than its length. */
const certificate = /-----BEGIN CERTIFICATE-----[^-]{1,65536}-----END CERTIFICATE-----/g;

/**
 * Trusts these authorities beside Node's own, for every connection of this process without its own.
 * @throws {BackupFailure} NotTrusted, when the file is missing or holds no certificates
 */
async function trustAlso(file: string): Promise<void> {
  const text = (await readFile(file, 'utf8').catch(ignoreMissing)) ?? '';
  const found = text.match(certificate) ?? [];
  if (found.length === 0 || !found.every(isCertificate))
    throw new BackupFailure(
      'NotTrusted',
      `caBundle holds no certificates that can be read: give PEM, one block for each authority (${file})`,
    );
  setDefaultCACertificates([...getCACertificates('default'), ...found]);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false; // the caller says so
  }
}
