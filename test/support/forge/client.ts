import { until } from '../../e2e/support/until.ts';

/** One status of a commit, as the forge shows it. */
export interface ShownStatus {
  readonly id: number;
  readonly context: string;
  readonly status: string;
  readonly description: string;
}

/** What people do at a forge, by Gitea's API. */
export interface ForgeClient {
  /** Opens a request to merge `branch` into main; its number. */
  open(branch: string, title: string): Promise<number>;
  /** Merges it; the SHA of main. */
  merge(number: number): Promise<string>;
  /** Everything that was said of a commit, newest first. */
  statusesOf(sha: string): Promise<readonly ShownStatus[]>;
  /** The bodies of a request's comments, oldest first. */
  commentsOf(number: number): Promise<readonly string[]>;
}

export type Ask = (method: string, path: string, body?: object) => Promise<unknown>;

/** What a forge answered in place of what it was asked for. */
export class ForgeRefusal extends Error {
  readonly status: number;

  constructor(asked: string, status: number, text: string) {
    super(`${asked}: ${status} ${text.slice(0, 500)}`);
    this.status = status;
  }
}

/** @throws {ForgeRefusal} */
export function askAt(apiUrl: string, authorization: string): Ask {
  return async (method, path, body) => {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(30_000),
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new ForgeRefusal(`${method} ${path}`, response.status, text);
    return text === '' ? undefined : JSON.parse(text);
  };
}

const repository = '/repos/platform/etcd';

export function clientOf(ask: Ask): ForgeClient {
  return {
    async open(branch, title) {
      const opened = await ask('POST', `${repository}/pulls`, { head: branch, base: 'main', title });
      return (opened as { readonly number: number }).number;
    },
    async merge(number) {
      await until(`request ${number} is merged`, () => tryToMerge(ask, number), { within: 30 });
      const main = await ask('GET', `${repository}/branches/main`);
      return (main as { readonly commit: { readonly id: string } }).commit.id;
    },
    async statusesOf(sha) {
      const shown = (await ask('GET', `${repository}/commits/${sha}/statuses`)) as ShownStatus[];
      // Gitea's own order is that of whole seconds.
      return shown.toSorted((a, b) => b.id - a.id);
    },
    async commentsOf(number) {
      const comments = await ask('GET', `${repository}/issues/${number}/comments`);
      return (comments as { readonly body: string }[]).map(({ body }) => body);
    },
  };
}

/** Gitea answers 405 until it has found out whether a request can be merged. */
async function tryToMerge(ask: Ask, number: number): Promise<boolean> {
  try {
    await ask('POST', `${repository}/pulls/${number}/merge`, { Do: 'merge' });
    return true;
  } catch (error) {
    if (error instanceof ForgeRefusal && error.status === 405) return false;
    throw error;
  }
}
