import { isRecord, jsonIn } from '../../manifests/json.ts';
import { ForgeError } from './error.ts';
import type { ForgeAnswer } from './http.ts';

/** What a request is for; each forge has a right of its own for it. */
export type Purpose = 'statuses' | 'readStatuses' | 'requests' | 'comments' | 'contents';

const deeds = {
  statuses: 'write commit statuses',
  readStatuses: 'read commit statuses',
  requests: 'read pull requests',
  comments: 'write comments',
  contents: 'read the repository',
} as const satisfies Record<Purpose, string>;

/** What an answer means; the forges agree on the codes. @throws ForgeError unless the answer is a yes */
export function assertTaken(address: string, answer: ForgeAnswer, purpose: Purpose, now: number): void {
  const { status } = answer;
  if ([200, 201, 202, 204].includes(status)) {
    // A login page is a 200 too.
    if (isHtml(answer))
      throw new ForgeError('BadAnswer', `${address} answers with a web page: is forge.apiURL its API?`);
    return;
  }
  throw refusal(address, answer, purpose, now);
}

/** Which Secret holds who we are. */
function secretFor(purpose: Purpose): string {
  return purpose === 'contents' ? 'git.secretName' : 'forge.secretName';
}

function refusal(address: string, answer: ForgeAnswer, purpose: Purpose, now: number): ForgeError {
  const { status } = answer;
  const code = ` (HTTP ${status}${isHtml(answer) ? ', with a web page' : ''})`;
  const retryAt = retryAtOf(answer, now);
  if (status === 429 || (status === 403 && retryAt !== undefined))
    return new ForgeError('RateLimited', `${address} limits our requests`, { retryAt });
  // Azure DevOps answers 203 and its sign-in page to a token that it does not know.
  if (status === 401 || status === 203)
    return new ForgeError(
      'ForgeUnauthorized',
      `${address} does not accept the token${code}: renew it in the Secret that ${secretFor(purpose)} names`,
    );
  if (status === 403)
    return new ForgeError(
      'ForgeForbidden',
      `${address} does not let the token ${deeds[purpose]}${code}: grant it that`,
    );
  if (status === 404 && /\bcommit\b.*\bnot (found|exist)/i.test(wordsOf(answer)))
    return new ForgeError('StatusRejected', `${address} does not have the commit in this repository${code}`);
  if (status === 404)
    return new ForgeError(
      'RepositoryNotFound',
      `${address} does not know the repository, or hides it from the token${code}`,
    );
  // GitLab leads on what is read at a former address, and refuses what is written there.
  if (status === 405 && /moved/i.test(wordsOf(answer)))
    return new ForgeError(
      'RepositoryNotFound',
      `${address} says that the repository has moved, and takes nothing at its former address${code}: set spec.git.url to the new one`,
    );
  if (status === 422 && purpose === 'statuses' && isFull(answer))
    return new ForgeError(
      'StatusRejected',
      `${address} has 1,000 statuses of this context on the commit, and takes no more of it: the next commit has room`,
    );
  if (status === 400 || status === 422)
    return new ForgeError('StatusRejected', `${address} rejects what was sent to ${deeds[purpose]}${code}`);
  if (status === 409 || status === 408)
    return new ForgeError('ForgeBusy', `${address} could not take it now (HTTP ${status})`, { retryAt });
  if (status >= 500) return new ForgeError('ForgeFailing', `${address} fails with HTTP ${status}`, { retryAt });
  return new ForgeError('BadAnswer', `${address} answers HTTP ${status}: is forge.apiURL its API?`);
}

/** GitHub's limit of statuses ("Create a commit status"): its error is about no field (openshift/release#6179). */
function isFull({ body }: ForgeAnswer): boolean {
  const { errors } = fieldsOf(jsonIn(body));
  if (!Array.isArray(errors)) return false;
  return errors.map(fieldsOf).some(({ resource, code, field }) => {
    return resource === 'Status' && code === 'custom' && field === undefined;
  });
}

/** Of an answer that may be anything. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The forge's own explanation, from where each of them puts it: to tell its refusals apart, and never repeated. */
function wordsOf(answer: ForgeAnswer): string {
  return sentencesIn(jsonIn(answer.body), 0).join('; ').slice(0, 150);
}

/** `{message}`, `{error: {message}}`, `{errors: [{message}]}`, `{error}`; of GitLab `{message: {name: ["…"]}}`. */
function sentencesIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth === 4) return [];
  if (Array.isArray(value)) return value.slice(0, 3).flatMap((one) => sentencesIn(one, depth + 1));
  const { message, error, errors } = value as { message?: unknown; error?: unknown; errors?: unknown };
  const said = [message, error, errors].filter((one) => one !== undefined && one !== null);
  // Below `message`, keys are the fields that are wrong.
  const below = said.length > 0 || depth === 0 ? said : Object.values(value).slice(0, 3);
  return below.flatMap((one) => sentencesIn(one, depth + 1));
}

function isHtml({ headers }: ForgeAnswer): boolean {
  return headers['content-type']?.startsWith('text/html') === true;
}

/** A forge that asks for more is heard for so long; and what it says may be no time at all, such as 1e30 seconds. */
const longestMs = 24 * 3_600_000;

/**
 * When a forge wants to be asked again: milliseconds since the epoch, at most a day ahead; `undefined`: it says
 * nothing. `Retry-After` is seconds or a date (RFC 9110, 10.2.3). GitHub's primary limit says `x-ratelimit-remaining:
 * 0` and `x-ratelimit-reset` (seconds since the epoch); its secondary one maybe only words, which mean a minute.
 */
export function retryAtOf(answer: Pick<ForgeAnswer, 'status' | 'headers' | 'body'>, now: number): number | undefined {
  const said = saidBy(answer, now);
  return said === undefined ? undefined : Math.min(Math.max(said, now), now + longestMs);
}

function saidBy(
  { status, headers, body }: Pick<ForgeAnswer, 'status' | 'headers' | 'body'>,
  now: number,
): number | undefined {
  const after = headers['retry-after'];
  if (after !== undefined) {
    if (/^\d+$/.test(after.trim())) return now + Number(after) * 1000;
    const date = Date.parse(after);
    if (!Number.isNaN(date)) return date;
  }
  const reset = headers['x-ratelimit-reset'];
  if (headers['x-ratelimit-remaining'] === '0' && typeof reset === 'string' && /^\d+$/.test(reset)) {
    return Number(reset) * 1000;
  }
  if ((status === 403 || status === 429) && isSecondary(body)) return now + 60_000;
  return undefined;
}

/** Servers of the Enterprise kind call it abuse, and name the page about it, as github.com does. */
function isSecondary(body: string): boolean {
  const { documentation_url: page } = fieldsOf(jsonIn(body));
  if (typeof page === 'string' && /[#/-](secondary|abuse)-rate-limits$/.test(page)) return true;
  return /secondary rate limit/i.test(body);
}
