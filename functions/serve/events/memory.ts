import type { Change } from './change.ts';

/**
 * What has been stepped for. It saves steps and nothing else: who has forgotten takes one too many, which changes
 * nothing.
 */
export interface Memory {
  isNews(change: Change): boolean;
  /** Only once it was stepped for: what failed is news when it comes again. */
  keep(change: Change): void;
  forget(uid: string): void;
}

export function createMemory(most = 10_000): Memory {
  const matters = new Map<string, string>();
  return {
    isNews: ({ uid, matter }) => matters.get(uid) !== matter,
    keep: ({ uid, matter }) => {
      matters.delete(uid);
      matters.set(uid, matter);
      const [oldest] = matters.keys();
      if (matters.size > most && oldest !== undefined) matters.delete(oldest);
    },
    forget: (uid) => void matters.delete(uid),
  };
}
