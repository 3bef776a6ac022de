import { adoption } from './adoption.ts';
import { attempts, ofTheApiServer } from './attempts.ts';
import { certificates, ofSecrets } from './certificates.ts';
import { changes } from './changes.ts';
import { life } from './life.ts';
import type { Course, Meaning } from './meaning.ts';
import { members } from './members.ts';
import { recovery } from './recovery.ts';
import { restore } from './restore.ts';

/**
 * Every reason of a cluster's decisions, conditions, events and history: one closed table, so that another one does not
 * compile. The tables in docs/reference, the page and all conclusions from a reason come from here.
 */
export const meanings = {
  ...members,
  ...recovery,
  ...restore,
  ...adoption,
  ...changes,
  ...certificates,
  ...life,
  ...attempts,
} as const satisfies Record<string, Meaning>;

/** In the order of the documents. For the test that no reason stands in two tables. */
export const tables = [members, recovery, restore, adoption, changes, certificates, life, attempts] as const;

/** CamelCase, never computed: a condition's reason, compared between steps. */
export type Reason = keyof typeof meanings;

function isWord(word: string): word is Reason {
  return Object.hasOwn(meanings, word);
}

/** A reason from status, which another release may have written. */
export function reasonIn(word: string): Reason {
  return isWord(word) ? word : 'OfAnotherRelease';
}

/**
 * The API server's own reason, or a general one: a webhook may answer with any word. Its `Expired` means an expired
 * list; ours means an expired certificate.
 */
export function reasonOfApi(word: string): keyof typeof ofTheApiServer {
  if (word === 'Expired') return 'Gone';
  return Object.hasOwn(ofTheApiServer, word) ? (word as keyof typeof ofTheApiServer) : 'ApiServerRefused';
}

/** Whether it is about a Secret's content: certificates that others provide may come later than the spec. */
export function isOfSecrets(reason: Reason): boolean {
  return Object.hasOwn(ofSecrets, reason) || reason === 'SecretsUnreadable';
}

/** Whether an entry of status has one of these reasons. */
export function says(told: { readonly reason: string } | undefined, ...reasons: readonly Reason[]): boolean {
  return reasons.some((reason) => reason === told?.reason);
}

/** What it says about running members; `undefined` also for a reason of another release. */
export function courseOf(word: string | undefined): Course | undefined {
  return meaningOf(word)?.course;
}

/** Reasons of `Available` that say that clients are not served. */
export type OutageReason = {
  [R in Reason]: (typeof meanings)[R] extends { readonly outage: true } ? R : never;
}[Reason];

/** Whether it is the reason of an outage, and not of a cluster that is not meant to serve now. */
export function isOutage(word: string | undefined): boolean {
  return meaningOf(word)?.outage === true;
}

/** Whether members answer, by the condition `Available`: also without writes, etcd can be read and copied. */
export function canBeRead(available: { readonly status: string; readonly reason: string } | undefined): boolean {
  return available?.status === 'True' || says(available, 'NoSpace', 'Corrupt');
}

export function meaningOf(word: string | undefined): Meaning | undefined {
  return word !== undefined && isWord(word) ? meanings[word] : undefined;
}
