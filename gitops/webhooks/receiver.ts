/** HMAC-SHA256. */
export type Hmac = (secret: Uint8Array, bytes: Uint8Array) => Uint8Array;

/** What came in, as it came in: nothing is parsed before it is verified. */
export interface Delivery {
  /** By lower-case name; `undefined` when it is not there. */
  readonly header: (name: string) => string | undefined;
  readonly body: Uint8Array;
  /** Absent: each is computed anew. */
  readonly hmac?: Hmac;
}

/** What a delivery is about: a hint where to look, never what to do. */
export type WebhookEvent =
  /** A ref moved; `after` is all zeros when it was deleted, `before` when it was created. */
  | {
      readonly kind: 'push';
      readonly repositoryUrls: readonly string[];
      readonly ref: string;
      readonly before: string;
      readonly after: string;
    }
  /** A pull or merge request was opened, changed or closed. */
  | {
      readonly kind: 'request';
      readonly repositoryUrls: readonly string[];
      /** The branch that it wants to change. */
      readonly target: string;
      readonly number: string;
    }
  /** A sender that knows the secret says: look. */
  | { readonly kind: 'look' }
  /** The forge tries whether the address answers. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'ignored'; readonly because: string };

export interface Receiver {
  /** A delivery without any of these headers proves nothing. Lower case. */
  readonly proofs: readonly string[];
  /** Whether the caller knows one of the secrets. Constant time in what it compares; false without a secret. */
  readonly verify: (delivery: Delivery, secrets: readonly Uint8Array[], now: Date) => boolean;
  /** Only for what was verified. One delivery may tell of several refs. @throws {MalformedDelivery} */
  readonly read: (delivery: Delivery) => readonly WebhookEvent[];
  /** What the forge calls this delivery, the same when it repeats it. */
  readonly id: (delivery: Delivery) => string | undefined;
}

/** It was signed, and still is not what it says: the message names the field, and never quotes the body. */
export class MalformedDelivery extends Error {
  override readonly name = 'MalformedDelivery';
}

/** What a ref points to before it is made and after it is deleted. */
export const noCommit = '0'.repeat(40);

/**
 * Whether a full ref name, as deliveries tell it, is what a fleet follows: `main`, `v1.0` or `refs/…`. `HEAD` may be
 * any branch: a look too many.
 */
export function isSameRef(followed: string, full: string): boolean {
  if (followed === 'HEAD') return full.startsWith('refs/heads/');
  if (followed.startsWith('refs/')) return followed === full;
  return [`refs/heads/${followed}`, `refs/tags/${followed}`, `refs/${followed}`].includes(full);
}

/** Whether a branch, told as `main` or as `refs/heads/main`, is what a fleet follows. */
export function isSameBranch(followed: string, branch: string): boolean {
  return isSameRef(followed, branch.startsWith('refs/') ? branch : `refs/heads/${branch}`);
}
