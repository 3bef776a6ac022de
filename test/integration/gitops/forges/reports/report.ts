import type { ForgeReason } from '../../../../../gitops/forges/error.ts';
import type { CommitStatus } from '../../../../../gitops/forges/forge.ts';
import type { Answer, RecordedRequest } from '../../../../support/git/recorder.ts';
import type { Source } from '../../../../support/git/traits.ts';
import type { Kind } from '../kinds.ts';

/** What a forge's API was publicly reported to do, how the stand-in plays it, and what becomes of our request. */
export interface ForgeReport {
  /** After the forge's name: what it does. */
  readonly does: string;
  readonly at: Source;
  readonly plays: (kind: Kind) => Answer;
  readonly heard: Heard;
}

type Heard =
  /** A status that it takes; `last`: as the request that was taken had it. */
  | {
      readonly status: Partial<CommitStatus>;
      readonly last?: Partial<RecordedRequest>;
      readonly without?: string;
    }
  /** Open requests, by number and head; `fork` of the first. */
  | { readonly finds: readonly (readonly [number: string, sha: string])[]; readonly fork?: boolean }
  /** A refusal of the one or the other; `retry`: in so many milliseconds. */
  | {
      readonly refused: 'status' | 'requests';
      readonly reason: ForgeReason;
      readonly words: RegExp;
      readonly retry?: number;
    };

export interface Body {
  readonly [name: string]: unknown;
}

export function bodyOf({ body }: RecordedRequest): Body {
  return typeof body === 'object' && body !== null ? (body as Body) : {};
}

export function textIn(request: RecordedRequest, name: string): string {
  const value = bodyOf(request)[name];
  return typeof value === 'string' ? value : '';
}
