import { forkLabel } from '../../manifests/api/etcd-fleet.ts';
import { describe } from '../statuses/describe.ts';
import type { ChangeRequest } from './forge.ts';

/** What a forge said of a request, before it is checked. */
export interface ToldRequest extends Omit<ChangeRequest, 'headSha' | 'number' | 'author' | 'labelled'> {
  readonly number: number;
  readonly headSha: string | null | undefined;
  /** Absent: the account is gone. */
  readonly author: string | number | undefined;
  readonly labels: readonly string[];
  /** The page for people as we would build it, for when the forge's own is no web address. */
  readonly page: string;
}

/** The request with every text made safe to show; nothing if it has no commit to look at yet, or makes no sense. */
export function changeRequests(told: ToldRequest): ChangeRequest[] {
  const { number, title, url, page, headSha, author = '', labels, ...rest } = told;
  if (number < 1 || !Number.isSafeInteger(number) || !headSha || !/^[0-9a-f]{40}$/.test(headSha)) return [];
  const safe = { number: String(number), title: describe(title), url: isWeb(url) ? url : page };
  return [{ ...rest, ...safe, headSha, author: String(author), labelled: labels.includes(forkLabel) }];
}

function isWeb(url: string): boolean {
  const protocol = URL.parse(url)?.protocol;
  return url.length <= 2048 && (protocol === 'https:' || protocol === 'http:');
}
