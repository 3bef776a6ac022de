import type { Network } from '../net/agent.ts';
import type { ForgeCredentials } from './credentials.ts';

export type CommitState = 'pending' | 'success' | 'failure' | 'error';

export interface CommitStatus {
  readonly sha: string;
  /** The sender: `etcd-ratchet/<fleet>`, with `/<namespace>/<cluster>` or `/plan`. A newer status replaces it. */
  readonly context: string;
  readonly state: CommitState;
  /** At most 140 characters (see `describe`), without counters and clocks, or equal states would look different. */
  readonly description: string;
  readonly targetURL?: string;
  /** The number of its request, for forges that show statuses of requests elsewhere than those of commits. */
  readonly request?: string;
}

/** An open pull (merge) request, as its forge tells of it: everything in it may be written by a stranger. */
export interface ChangeRequest {
  /** As people say it: `17`. */
  readonly number: string;
  /** One line. */
  readonly title: string;
  /** For people; http or https. */
  readonly url: string;
  /** 40 hexadecimal digits. */
  readonly headSha: string;
  /**
   * The ref that brings `headSha` from the *target's* repository: `refs/pull/17/head`. `undefined` where there is none:
   * requests from forks on Bitbucket Cloud and Azure DevOps.
   */
  readonly headRef: string | undefined;
  /** The target's branch, without `refs/heads/`. */
  readonly target: string;
  /** Its head lives in another repository. */
  readonly fork: boolean;
  readonly draft: boolean;
  /** The forge's ID of the author: to be compared, never shown. Empty: not known. */
  readonly author: string;
  /** It bears `forkLabel`; see `labelProof`. */
  readonly labelled: boolean;
  /** Its head is a commit of the merge queue, which waits for a status; no comment belongs to it. */
  readonly queued?: true;
}

export interface OpenRequests {
  /** Newest first, at most 1000. */
  readonly requests: readonly ChangeRequest[];
  /** Where the others begin, which were not read; absent: there are none. */
  readonly next?: number;
  /** By which the forge tells whether this list is still the same; absent where it was not read whole, in one page. */
  readonly validator?: string | undefined;
}

export interface Queue {
  readonly commits: readonly ChangeRequest[];
  /** As of {@link OpenRequests}. */
  readonly validator?: string | undefined;
}

/** What {@link Forge.isUnchanged} asks about. */
export interface Validators {
  readonly list: string;
  /** Absent: the queue is not looked at. */
  readonly queue?: string | undefined;
}

export interface Comment {
  /** An HTML comment, by which our own comment is known again; the body begins with it. */
  readonly marker: string;
  /** Markdown, without the marker. */
  readonly body: string;
}

export interface Patience {
  readonly signal: AbortSignal;
}

/** A look at the list of open requests. */
interface Look extends Patience {
  /** A `next` of before; absent: from the first. */
  readonly from?: number | undefined;
}

/** One forge, for one repository. */
export interface Forge {
  /** For messages: the API's address. */
  readonly address: string;
  /** Sends one status, in one request. @throws ForgeError */
  post(status: CommitStatus, patience: Patience): Promise<void>;
  /** Open requests whose target is this branch (`main`). @throws ForgeError */
  openRequests(target: string, look: Look): Promise<OpenRequests>;
  /**
   * Commits that wait in the merge queue of this branch, at most 100. Absent: the forge has no queue
   * whose commits statuses are for. @throws ForgeError
   */
  queued?(target: string, patience: Patience): Promise<Queue>;
  /**
   * Whether the list of this branch, and its queue, are those of the validators. Absent where asking so would count as
   * much as to read them. @throws ForgeError
   */
  isUnchanged?(target: string, validators: Validators, patience: Patience): Promise<boolean>;
  /**
   * Whether a label proves that a person with rights in the target's repository set it. `asks`: for each request.
   * Absent: it proves nothing, because there is none, or authors can set it.
   */
  readonly labelProof?: 'always' | { asks(request: ChangeRequest, patience: Patience): Promise<boolean> };
  /** The first of these contexts whose newest status on that commit is a failure or an error. @throws ForgeError */
  failedStatus(sha: string, contexts: readonly string[], patience: Patience): Promise<string | undefined>;
  /** A status that is about a request is shown there, not at its commit. */
  readonly tellsRequests?: true;
  /** Writes or updates our one comment with the marker. Absent where the forge has no use for it. @throws ForgeError */
  comment?(request: ChangeRequest, comment: Comment, patience: Patience): Promise<void>;
  commitUrl(sha: string): string;
}

/** What it takes to reach a forge. The credentials come from a Secret and are never printed. */
export interface ForgeAccess {
  /** The repository's clone URL: host, owner and name are taken from it. */
  readonly gitUrl: string;
  readonly credentials: ForgeCredentials;
  /** For a forge whose API is not where its kind usually has it. */
  readonly apiURL?: string;
  /** PEM; trusted in addition to the public authorities. */
  readonly caBundle?: string;
  readonly network?: Network;
}

/** A kind of forge: a file of its own, and a line in `registry.ts`. */
export interface ForgeKind {
  /** What its Secret may hold. */
  readonly accepts: readonly ForgeCredentials['kind'][];
  /** Sends no request yet. @throws ForgeError InvalidForge if the repository cannot be told from the clone URL */
  open(access: ForgeAccess): Forge;
}
