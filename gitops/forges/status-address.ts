import type { Api, Call } from './api.ts';
import type { ForgeAnswer } from './http.ts';

interface StatusBodies {
  /** With the address of the page that it leads to. */
  readonly body: unknown;
  /** The same without it, or with one that the forge knows; absent: `body` has none. */
  readonly otherwise: unknown;
}

/**
 * Sends a status. Forges refuse all of it where they dislike its address, such as one of a private network: then it is
 * sent once more, leading elsewhere. @throws ForgeError
 */
export async function sendStatus(
  api: Api,
  path: string,
  { body, otherwise }: StatusBodies,
  call: Call,
  isTaken: (answer: ForgeAnswer) => boolean = () => false,
): Promise<void> {
  const isDisliked = (answer: ForgeAnswer) => otherwise !== undefined && dislikesAddress(answer);
  const answer = await api.send('POST', path, body, call, (one) => isTaken(one) || isDisliked(one));
  if (isDisliked(answer)) await api.send('POST', path, otherwise, call, isTaken);
}

/** GitLab names the field `target_url`, Bitbucket Cloud `url`; Data Center has only words. */
function dislikesAddress({ status, body }: ForgeAnswer): boolean {
  return status === 400 && /"(target_)?url"\s*:\s*\[|specify a valid url/i.test(body);
}
