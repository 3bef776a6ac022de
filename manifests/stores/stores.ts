import type { Static, TOptional } from 'typebox';
import type { ReadonlyDeep } from '../api/schema.ts';
import { hostOf } from '../render/listed-hosts.ts';
import { azure } from './azure.ts';
import { gcs } from './gcs.ts';
import { pvc } from './pvc.ts';
import { s3 } from './s3.ts';
import type { SchemaTools } from './store-kind.ts';

/** Every store, by the scheme of its objects' names. */
export const stores = { gs: gcs, s3, azure, pvc } as const;

export type Scheme = keyof typeof stores;
export const schemes = Object.keys(stores) as readonly Scheme[];

type Kind<S extends Scheme> = (typeof stores)[S];
type NetworkScheme = { [S in Scheme]: Kind<S>['reach'] extends 'network' ? S : never }[Scheme];
type SchemaOf<S extends NetworkScheme, W extends 'settings' | 'request'> = ReturnType<Kind<S>[W]>;

/** The fields of all object stores, of which one resource uses one at most. */
export type StoreFields<W extends 'settings' | 'request'> = {
  [S in NetworkScheme as Kind<S>['field']]: TOptional<SchemaOf<S, W>>;
};

type Values<W extends 'settings' | 'request'> = {
  readonly [S in NetworkScheme as Kind<S>['field']]?: ReadonlyDeep<Static<SchemaOf<S, W>>>;
};

/** Of a spec. */
export type StoreSettings = Values<'settings'>;

/** Of the agent's request. */
export interface StoreRequest extends Values<'request'> {
  /** Where the PersistentVolumeClaim is mounted. */
  readonly directory?: string;
  readonly caFile?: string;
}

/** The part of the request that concerns one store. */
export type RequestOf<S extends Scheme> = S extends NetworkScheme
  ? Pick<StoreRequest, Kind<S>['field']>
  : Pick<StoreRequest, 'directory'>;

const rows = schemes.map((scheme) => ({ scheme, ...stores[scheme] }));
export const networkStores = rows.filter((row) => row.reach === 'network');
export const claimStores = rows.filter((row) => row.reach === 'claim');

export function storeFields<W extends 'settings' | 'request'>(which: W, tools: SchemaTools): StoreFields<W> {
  const fields = networkStores.map((kind) => [kind.field, tools.Type.Optional(kind[which](tools))]);
  return Object.fromEntries(fields) as StoreFields<W>;
}

/** Of a spec's fields, those that say how its store is reached. */
export function storeSettingsOf(settings: StoreSettings): StoreSettings {
  const fields = networkStores.flatMap(({ field }) => (settings[field] ? [[field, settings[field]]] : []));
  return Object.fromEntries(fields);
}

/** The host that a spec, or a request, names in place of the vendor's. */
export function endpointNamed(
  { scheme }: { readonly scheme: Scheme },
  settings: StoreSettings | StoreRequest,
): string | undefined {
  const kind = stores[scheme];
  return kind.reach === 'claim' ? undefined : settings[kind.field]?.endpoint;
}

/** The host of `endpointNamed`, and whether it is sent a token without being the vendor's own. */
export interface NamedHost {
  readonly endpoint: string;
  readonly getsToken: boolean;
}

/** Of a spec. */
export function hostNamed(at: { readonly scheme: Scheme }, settings: StoreSettings): NamedHost | undefined {
  const kind = stores[at.scheme];
  const endpoint = endpointNamed(at, settings);
  if (kind.reach === 'claim' || endpoint === undefined) return undefined;
  const files = kind.secretName(settings) === undefined ? undefined : '.';
  return { endpoint, getsToken: kind.sendsToken(kind.ask(settings, files)) && !isOwnEndpoint(at, endpoint) };
}

export function isOwnEndpoint({ scheme }: { readonly scheme: Scheme }, endpoint: string): boolean {
  const kind = stores[scheme];
  const url = URL.parse(endpoint);
  return kind.reach === 'network' && url !== null && kind.ownEndpoints.test(hostOf(url));
}

/** The field of the agent's request without which its objects can't be reached. */
export function requiredOf({ scheme }: { readonly scheme: Scheme }): keyof StoreRequest | undefined {
  const kind = stores[scheme];
  if (kind.reach === 'claim') return 'directory';
  return kind.needsField ? kind.field : undefined;
}

/** What an example begins with. */
export const exampleBucket = 'gs://bucket';

/** As in `gs://, s3:// or pvc://`. */
export function schemesText(): string {
  const [last, ...others] = schemes.map((scheme) => `${scheme}://`).toReversed();
  return `${others.toReversed().join(', ')} or ${last}`;
}

/** For a description that shows an example: what other schemes there are. */
export function otherSchemesText(): string {
  const others = networkStores.map(({ scheme }) => `${scheme}://`).filter((start) => !exampleBucket.startsWith(start));
  return `${others.join(', ')}, and ${claimStores.map(({ scheme }) => `${scheme}://<PersistentVolumeClaim>/…`).join(', ')}`;
}
