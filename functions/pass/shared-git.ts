import { connect, type GitConnection } from '../../gitops/git/http.ts';
import { type Resolution, resolveRef } from '../../gitops/git/resolve.ts';
import type { Revision } from '../../gitops/git/revision.ts';
import { accessOf, type GitSource } from '../../gitops/git/source.ts';
import type { Verification } from '../../gitops/signatures/verification.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { DesiredTree } from '../../reconcile/fleet/reading.ts';
import { traced } from '../../reconcile/stepping/traced.ts';
import { networkFrom } from '../environment.ts';
import type { Log } from '../log.ts';
import type { Reader } from '../read/reader.ts';

/** One repository at one ref, asked once however many ask here. */
interface Conversation {
  /** @throws {GitError} */
  resolve(): Promise<Resolution>;
  /** What the commit asks of a fleet: fetched once for all. @throws {GitError} */
  read(revision: Revision, fleet: EtcdFleet, verification?: Verification): Promise<DesiredTree>;
}

/** The fleets of one pass share it: a monorepo is resolved once and fetched once, whatever their paths are. */
export interface SharedGit extends Disposable {
  /** The path does not count. @throws {GitError} ProxyRefused, InvalidCredentials */
  join(source: GitSource): Conversation;
}

/**
 * Fleets share only if url, ref and credentials are the same, so that none reads what its own Secret does not open. An
 * error is the error of all that asked the same. Nothing outlives the pass.
 * @param signal for all that share: one caller's patience ends nothing that others wait for
 */
export function shareGit(signal: AbortSignal, reader: Reader, log: Log): SharedGit {
  const open = new Map<string, Conversation & { readonly git: GitConnection }>();

  function join(source: GitSource): Conversation {
    const key = keyOf(source);
    const known = open.get(key);
    if (known) return known;
    const { host } = new URL(source.url);
    const git = connect({ ...source, path: '.' }, {}, networkFrom(process.env));
    let resolved: Promise<Resolution> | undefined;
    let isTold = false;
    const conversation = {
      git,
      resolve: () => {
        resolved ??= traced('git resolve', { host }, () => resolveRef(git, signal), 'git');
        return resolved;
      },
      read: (revision: Revision, fleet: EtcdFleet, verification?: Verification) => {
        const { terms } = git;
        if (terms?.canFilter === false && !isTold) {
          isTold = true;
          log({ host }, whole);
        }
        const about = { source, revision, fleet: { metadata: fleet.metadata, spec: fleet.spec } };
        const task = {
          ...about,
          ...(terms && { terms }),
          ...(verification && { verification }),
        };
        return traced('git read', { host }, () => reader.read(task, signal), 'git');
      },
    };
    open.set(key, conversation);
    return conversation;
  }

  return {
    join,
    [Symbol.dispose]: () => {
      for (const { git } of open.values()) git.close();
      open.clear();
    },
  };
}

const whole =
  'this Git server can leave no files out, so a fetch brings the whole commit: have uploadpack.allowFilter set there';

/** Holds credentials, and so never leaves this file. */
function keyOf(source: GitSource): string {
  return JSON.stringify([accessOf(source), source.ref]);
}

/** Half of what is left, at most: the clusters' steps come after it. Whole milliseconds, as a timer wants them. */
export function timeForGit(deadline: number, now: number): number {
  return Math.min(longestGitMs, Math.floor(Math.max(0, deadline - now) / 2));
}

/** What asking Git may cost, and how long the clusters' steps wait for it: a dead Git host must not hold them up. */
const longestGitMs = 10_000;
