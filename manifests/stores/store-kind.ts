import type Type from 'typebox';
import type { Static, TObject } from 'typebox';
import type { object, ReadonlyDeep, text } from '../api/schema.ts';

/**
 * A store: where its objects are, its part of a spec and of the agent's request, and which Secret it needs. The table
 * of openers in `reconcile/backup/stores` tells how it is opened.
 */

/** Handed to each schema: most invocations load neither schemas nor what makes them. */
export interface SchemaTools {
  readonly Type: typeof Type;
  readonly object: typeof object;
  readonly text: typeof text;
}

/** Keys of a Secret that a pod is shown. It does not start without those that are needed. */
export interface SecretKeys {
  readonly needed: readonly string[];
  readonly optional?: readonly string[];
}

/** What stands between `<scheme>://` and the path. Node and CEL read the pattern alike. */
interface BucketName {
  readonly pattern: string;
  readonly words: string;
}

/** The store's own part of a spec, or of the agent's request. */
type Under<F extends string, S extends TObject> = { readonly [K in F]?: ReadonlyDeep<Static<S>> };

/** An object store. Its settings in a spec, and in the agent's request, stand under one field. */
export interface NetworkStore<F extends string, S extends TObject, R extends TObject> {
  readonly reach: 'network';
  readonly bucket: BucketName;
  readonly field: F;
  /** Whether its objects can't be reached without the field. */
  readonly needsField: boolean;
  /** Of the field in a spec. It has an `endpoint`, as that of the request has: `endpointNamed` reads both. */
  readonly settings: (tools: SchemaTools) => S;
  readonly request: (tools: SchemaTools) => R;
  /** The volume that shows the agent the Secret's keys as files. */
  readonly secretVolume: string;
  readonly secretName: (settings: Under<F, S>) => string | undefined;
  /** Nothing else of it is shown. */
  readonly secretKeys: SecretKeys;
  /** @param files the directory where the Secret is mounted, if there is one */
  readonly ask: (settings: Under<F, S>, files: string | undefined) => Under<F, R>;
  /** Hosts of the vendor's own endpoints: no other account can have a name among them. */
  readonly ownEndpoints: RegExp;
  /** Whether the agent sends credentials, which plain HTTP would show. */
  readonly sendsSecret: (request: Under<F, R>) => boolean;
  /** Whether it sends a token of an identity, which the store could use elsewhere. */
  readonly sendsToken: (request: Under<F, R>) => boolean;
  /** Whether its Secret may name hosts, which the installation then judges. */
  readonly secretNamesHosts?: boolean;
  /** Former names of its settings, each with what to write now. */
  readonly renamed?: Readonly<Record<string, string>>;
}

/** A directory: its bucket is the name of a PersistentVolumeClaim, which is mounted. */
export interface ClaimStore {
  readonly reach: 'claim';
  readonly bucket: BucketName;
}

/** Types the functions of a row by its schemas. */
export function networkStore<F extends string, S extends TObject, R extends TObject>(
  row: NetworkStore<F, S, R>,
): NetworkStore<F, S, R> {
  return row;
}
