import type { KStatus } from './kstatus.ts';

/** What one state is called in each place where a person meets it. */
interface StateWords {
  /** On the page and in `kubectl ratchet`. It is the condition's type, where one says so. */
  readonly word: 'Ready' | 'Reconciling' | 'Stalled' | 'Deleting';
  /** In which number of `status.clusters` of a fleet it is counted. */
  readonly count: 'ready' | 'reconciling' | 'stalled';
  /** Forges have these words, and no others. */
  readonly commit: 'pending' | 'success' | 'failure';
  readonly means: string;
}

/** docs/reference/glossary.md shows this table. */
export const states = {
  Current: {
    word: 'Ready',
    count: 'ready',
    commit: 'success',
    means: 'it is as this revision describes it',
  },
  InProgress: {
    word: 'Reconciling',
    count: 'reconciling',
    commit: 'pending',
    means: 'steps remain; or its document is not applied yet',
  },
  Terminating: {
    word: 'Deleting',
    count: 'reconciling',
    commit: 'pending',
    means: 'it is being deleted',
  },
  Failed: {
    word: 'Stalled',
    count: 'stalled',
    commit: 'failure',
    means: 'it needs a person; or its document is refused',
  },
} as const satisfies Record<KStatus, StateWords>;
