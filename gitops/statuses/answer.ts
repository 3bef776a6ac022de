import { ForgeError } from './forge.ts';
import type { ForgeAnswer } from './http.ts';
import { retryAtOf } from './retry-after.ts';

/**
 * What an answer to a status means; GitHub and Gitea agree on the codes.
 *
 * @throws ForgeError unless the status was taken
 */
export function assertTaken(address: string, answer: ForgeAnswer, now: number): void {
  const { status } = answer;
  if (status === 200 || status === 201) {
    // A login page is a 200 too.
    if (isHtml(answer))
      throw new ForgeError('BadAnswer', `${address} answers with a web page: is forge.apiUrl its API?`);
    return;
  }
  const words = wordsOf(answer);
  const retryAt = retryAtOf(answer, now);
  if (status === 429 || (status === 403 && retryAt !== undefined)) {
    throw new ForgeError('RateLimited', `${address} limits our requests`, { retryAt });
  }
  if (status === 401)
    throw new ForgeError(
      'ForgeUnauthorized',
      `${address} does not accept the token${words}: renew it in the Secret that forge.secretName names`,
    );
  if (status === 403)
    throw new ForgeError(
      'ForgeForbidden',
      `${address} does not let the token write commit statuses${words}: grant it that`,
    );
  if (status === 404)
    throw new ForgeError(
      'RepositoryNotFound',
      `${address} does not know the repository, or hides it from the token${words}`,
    );
  if (status === 400 || status === 422) throw new ForgeError('StatusRejected', `${address} rejects the status${words}`);
  if (status === 409 || status === 408)
    throw new ForgeError('ForgeBusy', `${address} could not take the status now (HTTP ${status})${words}`, { retryAt });
  if (status >= 500) throw new ForgeError('ForgeFailing', `${address} fails with HTTP ${status}`, { retryAt });
  throw new ForgeError('BadAnswer', `${address} answers HTTP ${status}${words}: is forge.apiUrl its API?`);
}

/** The forge's own explanation, from the JSON field where both put it. */
function wordsOf(answer: ForgeAnswer): string {
  if (isHtml(answer)) return ' (it answered with a web page)';
  try {
    const { message } = JSON.parse(answer.body) as { message?: unknown };
    if (typeof message !== 'string') return '';
    return ` (${message
      .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
      .trim()
      .slice(0, 150)})`;
  } catch {
    return ''; // no JSON, no explanation; the status code has to do
  }
}

function isHtml({ headers }: ForgeAnswer): boolean {
  return headers['content-type']?.startsWith('text/html') === true;
}
