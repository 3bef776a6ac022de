/** `retryable`: the same request may succeed later by itself. `terminal`: a person has to change something. */
export type GitErrorClass = 'retryable' | 'terminal';

/** Why Git could not give what was asked for. Static CamelCase: it becomes the reason of a condition. */
export const gitErrorClasses = {
  InvalidSource: 'terminal',
  InvalidCredentials: 'terminal',
  SecretNotShared: 'terminal',
  AuthenticationFailed: 'terminal',
  RepositoryNotFound: 'terminal',
  EmptyRepository: 'terminal',
  RefNotFound: 'terminal',
  CommitNotFound: 'terminal',
  RefMoved: 'retryable',
  PathNotFound: 'terminal',
  /** Of spec.git.verify: the keys can't be used, or can't be read now. */
  TrustedKeysUnusable: 'terminal',
  TrustedKeysUnreadable: 'retryable',
  /** The revision is not signed as spec.git.verify asks. */
  CommitNotSigned: 'terminal',
  SignerNotTrusted: 'terminal',
  SignatureInvalid: 'terminal',
  HistoryNotVerified: 'terminal',
  NoCommonAncestor: 'terminal',
  RedirectRefused: 'terminal',
  CertificateNotTrusted: 'terminal',
  ProxyRefused: 'retryable',
  /** The installation does not let us go there. */
  HostRefused: 'terminal',
  /** A Secret would be shown without TLS. */
  PlainHttpRefused: 'terminal',
  Unreachable: 'retryable',
  ServerFailing: 'retryable',
  RateLimited: 'retryable',
  Timeout: 'retryable',
  Aborted: 'retryable',
  BadAnswer: 'retryable',
  TooLarge: 'terminal',
  /** Others of the same pass take the room or the time. */
  BudgetUsedUp: 'retryable',
  /** Its files take more processor time than one fleet has. */
  TakesTooLong: 'retryable',
} as const satisfies Record<string, GitErrorClass>;

export type GitReason = keyof typeof gitErrorClasses;

/** Thrown by everything in this room that talks to a Git server. Its message never holds a credential. */
export class GitError extends Error {
  readonly reason: GitReason;
  readonly class: GitErrorClass;

  constructor(reason: GitReason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'GitError';
    this.reason = reason;
    this.class = gitErrorClasses[reason];
  }
}

/** @throws GitError Aborted once the invocation's time is used up */
export function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted)
    throw new GitError('Aborted', "the invocation's time was used up before the repository was read");
}
