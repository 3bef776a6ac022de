import { createHash } from 'node:crypto';
import type { ByteBudget, ByteShare } from '../../gitops/git/budget.ts';
import type { Earlier } from '../../gitops/git/earlier.ts';
import { GitError } from '../../gitops/git/error.ts';
import { accessOf, type GitSource } from '../../gitops/git/source.ts';

/** Fetched repositories, kept for later tasks while the thread lives and there is room. It only saves bytes. */
export interface FetchCache {
  /** Hands over what is kept of that repository; its bytes count for the taker from now on. */
  take(source: GitSource, share: ByteShare): Earlier | undefined;
  /** In place of what is kept of that repository; `undefined`: nothing. */
  put(source: GitSource, earlier: Earlier | undefined): void;
}

/** Of all repositories: a third of what a pass may hold. */
const defaultBytes = 16 * 1024 * 1024;

export function createFetchCache(budget: ByteBudget, most = defaultBytes): FetchCache {
  const kept = new Map<string, { readonly earlier: Earlier; readonly bytes: number; readonly share: ByteShare }>();
  let all = 0;

  function drop(key: string): void {
    const one = kept.get(key);
    if (!one) return;
    kept.delete(key);
    all -= one.bytes;
    one.share[Symbol.dispose]();
  }

  return {
    take: (source, share) => {
      const key = keyOf(source);
      const one = kept.get(key);
      drop(key);
      if (one) share.take(one.bytes);
      return one?.earlier;
    },
    put: (source, earlier) => {
      const key = keyOf(source);
      drop(key);
      const bytes = earlier?.packs.reduce((sum, { pack, index }) => sum + pack.length + index.length, 0) ?? 0;
      if (!earlier || bytes > most) return;
      for (const [oldest] of kept) if (all + bytes > most) drop(oldest);
      const share = budget.join(source.url, true);
      try {
        share.take(bytes);
      } catch (error) {
        share[Symbol.dispose]();
        // No room: others are at work.
        if (error instanceof GitError) return;
        throw error;
      }
      share.signal.addEventListener('abort', () => drop(key), { once: true });
      kept.set(key, { earlier, bytes, share });
      all += bytes;
    },
  };
}

/** Only who shows the same credentials is given what they opened. Nothing secret is kept. */
function keyOf(source: GitSource): string {
  return createHash('sha256').update(accessOf(source)).digest('hex');
}
