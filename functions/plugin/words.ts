import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { repositoryFiles } from '../../manifests/documentation.ts';
import { toGoOn } from '../../reconcile/reasons/cure.ts';
import { waysIn } from '../../reconcile/reasons/offers.ts';
import { meaningOf } from '../../reconcile/reasons/reasons.ts';
import { mentionedIn, withoutMentions } from '../../reconcile/reasons/runbook.ts';
import { clusterConcerns } from '../page/attention.ts';
import { firstSentence, size } from '../page/short.ts';
import { clusterState, type State } from '../page/state.ts';
import { duration } from '../page/time.ts';
import type { Cell } from './table.ts';

const longest = 90;

/** A table is to be looked over, and `why` has all of it. */
export function inShort(message: string): string {
  return firstSentence(message, longest);
}

export function stateCell({ tone, word }: State): Cell {
  return { tone, text: word };
}

/** `3h`, as long as something is there; `-` of what never was. */
export function since(time: string | undefined, now: Date): string {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? '-' : duration(Math.max(0, now.getTime() - at));
}

/** `in 3 h`, or `3 h ago`. */
export function until(time: string, now: Date): string {
  const left = Date.parse(time) - now.getTime();
  return left <= 0 ? `${duration(-left)} ago` : `in ${duration(left)}`;
}

/** `2026-11-23` */
export function dayOf(time: string): string {
  return time.slice(0, 10);
}

/** `-` of what is not known. */
export function sizeOf(bytes: number | undefined): string {
  return bytes === undefined ? '-' : size(bytes);
}

/** What a reason says in general: what is, and what a person does about it. */
export interface General {
  readonly means: string;
  readonly cure?: string;
}

/**
 * What is, what it means, what to do and where to read on, each on a line of its own. What a message says to do stands
 * in place of the general cure.
 */
export function toldLines(
  reason: string,
  message: string,
  general: General | undefined = meaningOf(reason),
): readonly string[] {
  const said = withoutMentions(message);
  const [what = '', own, ...others] = said.split(toGoOn);
  const isOne = own !== undefined && others.length === 0;
  const { cure, links } = cureOf(general);
  const toDo = isOne ? own : cure;
  const page = mentionedIn(message);
  const pages = links.length === 0 && page !== undefined ? [page] : links;
  return [
    isOne ? what : said,
    ...(general === undefined ? [] : [`means: ${general.means}`]),
    ...(toDo === undefined ? [] : waysIn(toDo).map((way, at) => `${at === 0 ? 'do' : 'or'}:    ${way}`)),
    ...pages.map((link) => `see:   ${link}`),
  ];
}

/** Links of the documentation are written out. */
function cureOf(general: General | undefined): { readonly cure?: string; readonly links: readonly string[] } {
  if (general?.cure === undefined) return { links: [] };
  const links: string[] = [];
  const cure = general.cure.replaceAll(/ ?\(?\[([^\]]+)\]\(([^)]+)\)\)?/g, (_, words: string, link: string) => {
    links.push(`${repositoryFiles}/${link}`);
    return words === 'runbook' ? '' : ` ${words}`;
  });
  return { cure, links };
}

/** All that a person should know of a cluster now, the most urgent first. */
export function concernsOf(cluster: EtcdCluster): ReturnType<typeof clusterConcerns> {
  const { tone, reason, message } = clusterState(cluster);
  const found = clusterConcerns(cluster);
  if (tone !== 'busy' || reason === undefined || found.some((one) => one.reason === reason)) return found;
  return [...found, { tone, reason, message }];
}
