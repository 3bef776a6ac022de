import { GitError } from './error.ts';

/** Bytes of Git data that all repositories of one pass may hold at a time. */
export interface ByteBudget {
  /**
   * One more repository; disposing of it gives its bytes back.
   * @param isSpare it ends before any other does: its content can be fetched again
   */
  join(url: string, isSpare?: boolean): ByteShare;
}

interface Entry {
  readonly url: string;
  readonly isSpare: boolean;
  taken: number;
  readonly end: AbortController;
}

export interface ByteShare extends Disposable {
  /** @throws GitError TooLarge */
  take(bytes: number): void;
  /** Aborts, with a GitError as its reason, when this share must end for the others'. */
  readonly signal: AbortSignal;
}

/** What a repository of a hundred thousand folders comes to, and less than half of what a pod has. */
const defaultBytes = 48 * 1024 * 1024;

/** Fair: when the sum is too much, the largest taker ends, not the last: no large repository keeps a small one out. */
export function createByteBudget(most = defaultBytes): ByteBudget {
  const shares = new Map<ByteShare, Entry>();
  let all = 0;

  function join(url: string, isSpare = false): ByteShare {
    const end = new AbortController();
    const entry = { url, isSpare, taken: 0, end };
    const share: ByteShare = {
      signal: end.signal,
      take: (bytes) => {
        if (end.signal.aborted) throw end.signal.reason;
        entry.taken += bytes;
        all += bytes;
        while (all > most) {
          const open = [...shares];
          const spare = open.filter(([, { isSpare: one, taken }]) => one && taken > 0);
          const [largest, its] = (spare.length > 0 ? spare : open).reduce((a, b) => (b[1].taken > a[1].taken ? b : a));
          its.end.abort(exceeded(its.url, its.taken, most));
          leave(largest);
          if (largest === share) throw end.signal.reason;
        }
      },
      [Symbol.dispose]: () => leave(share),
    };
    shares.set(share, entry);
    return share;
  }

  function leave(share: ByteShare): void {
    all -= shares.get(share)?.taken ?? 0;
    shares.delete(share);
  }

  return { join };
}

function exceeded(url: string, taken: number, most: number): GitError {
  const mib = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MiB`;
  // Alone it would be too large, too: nothing changes by itself.
  const isAlone = taken > most;
  const why = isAlone
    ? `more than the ${mib(most)} that one pass may hold`
    : `the most of all repositories, which together may hold ${mib(most)} in one pass`;
  return new GitError(
    isAlone ? 'TooLarge' : 'BudgetUsedUp',
    `${url} sent ${mib(taken)}, ${why}: keep the specs in a smaller repository, or on a server that can leave files out`,
  );
}
