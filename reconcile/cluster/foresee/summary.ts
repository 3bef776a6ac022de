import { compareVersions, formatVersion, isVersion, parseVersion } from '../../../manifests/api/version.ts';
import { defectsOf } from '../../../manifests/api/version-defects.ts';
import type { ActionKind } from '../know/action.ts';
import { hasDeparted, isAsleep, recordOf } from '../know/life.ts';
import type { Observation } from '../know/observation.ts';
import { costsOf, counted } from '../know/plan/costs.ts';
import type { Plan } from './plan.ts';

/** A plan in one line: `9 steps: 3.5.35→3.6.16, +2 members`. */
export function summaryOf(before: Observation, plan: Plan): string {
  const { steps, end } = plan;
  const count = steps.length === 0 ? 'no steps' : counted(steps.length, 'step');
  const changes = changesOf(before, plan);
  const what = changes.length > 0 ? `: ${changes.join(', ')}` : '';
  return `${count}${what}${ending(end)}`;
}

/** What a plan comes to: `3.5.35→3.6.16`, `+2 members`. */
export function changesOf(before: Observation, { steps, outcome }: Plan): readonly string[] {
  return [
    ...fromSnapshot(steps),
    ...(steps.some(({ action }) => action === 'back-up') ? [backupIn(before, outcome)] : []),
    ...change(versionOf(before), versionOf(outcome)),
    ...cured(before, outcome),
    ...members(before, outcome),
    ...change(sizeOf(before), sizeOf(outcome)),
    ...restarts(steps),
    ...byOneAction.flatMap(([kind, words]) => (steps.some(({ action }) => action === kind) ? [words] : [])),
    ...beginning(steps),
  ];
}

/** Changes that are a step of their own, in words. */
const byOneAction = [
  ['keep-users', 'users and roles'],
  ['enable-auth', 'authentication on'],
  ['disable-auth', 'authentication off'],
  ['rotate-authorities', 'new CAs'],
] as const satisfies readonly (readonly [ActionKind, string])[];

/** When the first step may begin. Of a later one its line says it. */
function beginning([first]: Plan['steps']): readonly string[] {
  return first?.notBefore === undefined ? [] : [`not before ${first.notBefore}`];
}

function fromSnapshot(steps: Plan['steps']): readonly string[] {
  if (steps.some(({ action }) => action === 'begin-rollback')) return ['rolled back to a snapshot'];
  return steps.some(({ action }) => action === 'conclude-restore') ? ['restored from a snapshot'] : [];
}

/** A cluster that sleeps is deleted on one that was taken before. */
function backupIn({ hibernationBackup }: Observation, { cluster }: Observation): string {
  const isDeleted = cluster.metadata.deletionTimestamp !== undefined;
  return isDeleted && hibernationBackup?.kind === 'fit' ? 'a look for its last backup' : 'a backup';
}

function ending(end: Plan['end']): string {
  switch (end.kind) {
    case 'done':
      return '';
    case 'refused':
      return `; then a person is needed (${end.reason})`;
    case 'waits':
      return `; then it waits (${end.reason})`;
    case 'circles':
      return `; then it would go round in circles (${end.reason})`;
    case 'goes-on':
      return '; and it goes on from there';
  }
}

function change(from: string | undefined, to: string | undefined): readonly string[] {
  return from === undefined || to === undefined || from === to ? [] : [`${from}→${to}`];
}

/** Defects of etcd that a member had, and that the versions of the end have not. */
function cured(before: Observation, after: Observation): readonly string[] {
  const [had, left] = [before, after].map(versionsOf);
  if (!had?.length || !left?.length) return [];
  const remain = new Set(left.flatMap(defectsOf));
  const ids = [...new Set(had.flatMap(defectsOf))].filter((one) => !remain.has(one));
  return ids.length === 0 ? [] : [`cures ${ids.map(({ id }) => id).join(', ')}`];
}

/** What runs, or ran: one version, or the lowest and the highest. */
function versionOf(observation: Observation): string | undefined {
  const found = versionsOf(observation);
  const [lowest, highest] = [found[0], found.at(-1)];
  return lowest === highest ? lowest : `${lowest}..${highest}`;
}

function versionsOf({ slots }: Observation): readonly string[] {
  return slots
    .filter((slot) => slot.peer?.current && !hasDeparted(slot))
    .map((slot) => (slot.endpoint.kind === 'known' ? slot.endpoint.status.version : recordOf(slot)?.version))
    .filter(isVersion)
    .map(parseVersion)
    .toSorted(compareVersions)
    .map(formatVersion);
}

function members(before: Observation, after: Observation): readonly string[] {
  const [sleeping, asleep] = [before, after].map(({ slots }) => slots.some(isAsleep));
  if (asleep && !sleeping) return [`hibernates ${counted(countOf(before), 'member')}`];
  if (sleeping && !asleep) return [`wakes ${counted(countOf(after), 'member')}`];
  const more = countOf(after) - countOf(before);
  return more === 0 ? [] : [`${more > 0 ? '+' : '−'}${counted(Math.abs(more), 'member')}`];
}

function countOf({ membership, slots }: Observation): number {
  if (membership.kind === 'known') return membership.members.length;
  return slots.filter((slot) => slot.peer?.current && !hasDeparted(slot)).length;
}

function sizeOf({ slots }: Observation): string | undefined {
  return slots.find((slot) => slot.peer?.current && slot.volume?.bound)?.volume?.size;
}

function restarts(steps: Plan['steps']): readonly string[] {
  const count = costsOf(steps).restarts;
  return count === 0 ? [] : [counted(count, 'restart')];
}
