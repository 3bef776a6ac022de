export type CommitState = 'pending' | 'success' | 'failure' | 'error';

/** What a forge shows beside a commit. */
export interface CommitStatus {
  readonly sha: string;
  /** Who speaks: `etcd-ratchet/<fleet>` or `etcd-ratchet/<fleet>/<namespace>/<cluster>`. A newer status replaces that of the same context. */
  readonly context: string;
  readonly state: CommitState;
  /** At most 140 characters (see `describe`), without counters and clocks, or equal states would look different. */
  readonly description: string;
  readonly targetUrl?: string;
}

/** One forge, for one repository. */
export interface Forge {
  /** For messages: the API's address. */
  readonly address: string;
  /** Sends one status, in one request. @throws ForgeError */
  post(status: CommitStatus, context: { readonly signal: AbortSignal }): Promise<void>;
}

/** What it takes to reach a forge. The token comes from a Secret and is never printed. */
export interface ForgeAccess {
  /** The repository's clone URL: host, owner and name are taken from it. */
  readonly gitUrl: string;
  readonly token: string;
  /** For a forge whose API is not where its kind usually has it. */
  readonly apiUrl?: string;
  /** PEM; trusted in addition to the public authorities. */
  readonly caBundle?: string;
}

/** Why a status could not be sent. Static CamelCase: it becomes the reason of a condition. */
export type ForgeReason =
  | 'InvalidForge'
  | 'ForgeUnauthorized'
  | 'ForgeForbidden'
  | 'RepositoryNotFound'
  | 'StatusRejected'
  | 'RedirectRefused'
  | 'RateLimited'
  | 'ForgeBusy'
  | 'ForgeFailing'
  | 'ForgeUnreachable'
  | 'Timeout'
  | 'BadAnswer';

/**
 * What to do about it: `retry` the same request, give up on this `status` (the next may pass), or on the whole `forge`
 * (a person has to change something).
 */
export type ForgeErrorClass = 'retry' | 'status' | 'forge';

const classes = {
  InvalidForge: 'forge',
  ForgeUnauthorized: 'forge',
  ForgeForbidden: 'forge',
  RepositoryNotFound: 'forge',
  StatusRejected: 'status',
  RedirectRefused: 'forge',
  RateLimited: 'retry',
  ForgeBusy: 'retry',
  ForgeFailing: 'retry',
  ForgeUnreachable: 'retry',
  Timeout: 'retry',
  BadAnswer: 'forge',
} as const satisfies Record<ForgeReason, ForgeErrorClass>;

/** Its message never holds the token. */
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
