/** `retry` the request, give up on this `status` (the next may pass), or on the `forge` until a person mends it. */
export type ForgeErrorClass = 'retry' | 'status' | 'forge';

/** Why a forge could not be asked or told. Static CamelCase: it becomes the reason of a condition. */
const classes = {
  InvalidForge: 'forge',
  ForgeUnauthorized: 'forge',
  ForgeForbidden: 'forge',
  RepositoryNotFound: 'forge',
  StatusRejected: 'status',
  RedirectRefused: 'forge',
  CertificateNotTrusted: 'forge',
  ProxyRefused: 'forge',
  /** The installation does not let us go there. */
  HostRefused: 'forge',
  /** A Secret would be shown without TLS. */
  PlainHttpRefused: 'forge',
  RateLimited: 'retry',
  ForgeBusy: 'retry',
  ForgeFailing: 'retry',
  ForgeUnreachable: 'retry',
  Timeout: 'retry',
  BadAnswer: 'forge',
} as const satisfies Record<string, ForgeErrorClass>;

export type ForgeReason = keyof typeof classes;

/** Its message never holds a token, a password or a key. */
export class ForgeError extends Error {
  readonly reason: ForgeReason;
  readonly class: ForgeErrorClass;
  /** When the forge wants to be asked again: milliseconds since the epoch. */
  readonly retryAt: number | undefined;

  constructor(reason: ForgeReason, message: string, options: { cause?: unknown; retryAt?: number | undefined } = {}) {
    super(message, options);
    this.name = 'ForgeError';
    this.reason = reason;
    this.class = classes[reason];
    this.retryAt = options.retryAt;
  }
}
