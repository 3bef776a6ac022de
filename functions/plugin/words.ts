import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { repositoryFiles } from '../../manifests/documentation.ts';
import { toGoOn } from '../../reconcile/reasons/cure.ts';
import { meaningOf } from '../../reconcile/reasons/reasons.ts';
import { withoutMentions } from '../../reconcile/reasons/runbook.ts';
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

/** `-` of what is not known. */
export function sizeOf(bytes: number | undefined): string {
  return bytes === undefined ? '-' : size(bytes);
}

/** What is, what it means, what to do and where to read on, each on a line of its own. */
export function toldLines(reason: string, message: string): readonly string[] {
  const [what = '', cure, ...others] = withoutMentions(message).split(toGoOn);
  if (cure === undefined || others.length > 0) return [withoutMentions(message), ...cureLines(reason)];
  return [what, ...cureLines(reason).map((line) => (line.startsWith(does) ? `${does}${cure}` : line))];
}

const does = 'do:    ';

/** What a reason means and what to do about it in general: links of the documentation are written out. */
function cureLines(reason: string): readonly string[] {
  const meaning = meaningOf(reason);
  if (meaning === undefined) return [];
  const links: string[] = [];
  const cure = meaning.cure.replaceAll(/ ?\(?\[([^\]]+)\]\(([^)]+)\)\)?/g, (_, words: string, link: string) => {
    links.push(link);
    return words === 'runbook' ? '' : ` ${words}`;
  });
  return [`means: ${meaning.means}`, `${does}${cure}`, ...links.map((link) => `see:   ${repositoryFiles}/${link}`)];
}

/** All that a person should know of a cluster now, the most urgent first. */
export function concernsOf(cluster: EtcdCluster): ReturnType<typeof clusterConcerns> {
  const { tone, reason, message } = clusterState(cluster);
  const found = clusterConcerns(cluster);
  if (tone !== 'busy' || reason === undefined || found.some((one) => one.reason === reason)) return found;
  return [...found, { tone, reason, message }];
}
