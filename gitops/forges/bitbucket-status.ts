import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import type { ToldStatus } from './failed-status.ts';
import type { CommitState, CommitStatus } from './forge.ts';

const states = {
  pending: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  error: 'FAILED',
} as const satisfies Record<CommitState, string>;

/** A build status as both tell of it. */
export const bitbucketBuild = Type.Object({
  key: Type.String(),
  name: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  state: Type.String(),
});

/** People know it by its key or its name. */
export function bitbucketTold({ key, name, state }: Static<typeof bitbucketBuild>): ToldStatus {
  return { contexts: [key, ...(name ? [name] : [])], isFailed: state === states.failure };
}

/** Data Center takes no longer one. */
const longestUrl = 450;

/** A build status, which both Bitbuckets take: a key of at most 40 characters, and an address always. */
export function bitbucketStatus({ state, context, description, targetURL }: CommitStatus, commitUrl: string) {
  const otherwise = {
    key: createHash('sha1').update(context).digest('hex'),
    name: context.slice(0, 255),
    state: states[state],
    description,
    url: commitUrl,
  };
  const fits = targetURL !== undefined && targetURL.length <= longestUrl;
  return fits ? { body: { ...otherwise, url: targetURL }, otherwise } : { body: otherwise, otherwise: undefined };
}
