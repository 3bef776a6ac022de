/**
 * Where backups are kept: the least that every object store and a directory can do. `stores/` implements it; one
 * contract test holds all of them to it.
 */

export interface StoredObject {
  /** Within the bucket, without a leading slash. */
  readonly name: string;
  readonly bytes: number;
  /** Changes whenever the object does: a generation, an ETag, an inode and its times. */
  readonly version: string;
  readonly modifiedAt: Date;
  /**
   * The store deletes it no earlier (Object Lock, a retention policy); `held`: until a person lets it go. Only `stat`
   * tells, where the credentials may see it.
   */
  readonly lockedUntil?: Date | 'held';
}

export interface StoreOptions {
  readonly signal: AbortSignal;
}

/** All throw a BackupFailure with the place, the cause and a cure, and nothing else. */
export interface Store {
  /** For messages, like `<scheme>://bucket`. */
  readonly place: string;
  /**
   * Makes the object when `body` has ended without an error, and only if there is none of this name (`Exists`). If
   * `body` throws, nothing is left under the name, and the error is thrown as it is.
   */
  put(name: string, body: AsyncIterable<Uint8Array>, options: StoreOptions): Promise<StoredObject>;
  /** A chunk is valid until the next one is asked for. @throws {BackupFailure} NotFound; Changed if it was replaced */
  read(name: string, options: StoreOptions): AsyncIterable<Uint8Array>;
  /** In the order of their names. */
  list(prefix: string, options: StoreOptions): AsyncIterable<StoredObject>;
  stat(name: string, options: StoreOptions): Promise<StoredObject | undefined>;
  /** Deletes this version and no other. Done also when it is gone already. @throws {BackupFailure} Changed; Locked */
  delete(object: Pick<StoredObject, 'name' | 'version'>, options: StoreOptions): Promise<void>;
  close(): void;
  /** Rejects when the installation does not let it go where it goes. Its client would try again and again. */
  readonly refused?: Promise<never>;
}
