import { createHash } from 'node:crypto';
import type { CommitState, CommitStatus } from './forge.ts';

const states = {
  pending: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  error: 'FAILED',
} as const satisfies Record<CommitState, string>;

/** Data Center takes no longer one. */
const longestUrl = 450;

/** The body of a build status, which both Bitbuckets take: a key of at most 40 characters, and an address always. */
export function bitbucketStatus({ state, context, description, targetURL }: CommitStatus, commitUrl: string) {
  return {
    key: createHash('sha1').update(context).digest('hex'),
    name: context.slice(0, 255),
    state: states[state],
    description,
    url: targetURL !== undefined && targetURL.length <= longestUrl ? targetURL : commitUrl,
  };
}
