import { repositoryFiles } from '../../manifests/documentation.ts';
import { meaningOf } from './reasons.ts';

/** Where a person reads what to do about a reason, as a link; the runbook, where there is one and another page. */
export function runbookOf(reason: string): string | undefined {
  const links = [...(meaningOf(reason)?.cure ?? '').matchAll(/\]\((docs\/[^)]+)\)/g)].map(([, link = '']) => link);
  const link = links.find((one) => one.startsWith('docs/runbooks/')) ?? links[0];
  return link && `${repositoryFiles}/${link}`;
}

const mention = / \(runbook: ([^\s)]+)\)/g;

/** A message with the page where a person reads more. */
export function mentioning(message: string, page: string): string {
  return `${message} (runbook: ${page})`;
}

/** For where there is no room for a link, or the link stands elsewhere. */
export function withoutMentions(message: string): string {
  return message.replaceAll(mention, '');
}

/** The first page of ours that a message names; others' words may be in it, and lead nowhere else. */
export function mentionedIn(message: string): string | undefined {
  return [...message.matchAll(mention)]
    .map(([, page = '']) => page)
    .find((page) => page.startsWith(`${repositoryFiles}/docs/`));
}

/** Where a person reads what to do, by the kind of the object that needs that person. */
export const kindRunbooks = {
  EtcdBackup: 'docs/runbooks/backup-fails.md#a-backup',
  EtcdRestore: 'docs/runbooks/backup-fails.md#a-restore',
  EtcdBackupSchedule: 'docs/runbooks/backup-fails.md#a-schedule',
  EtcdNodePolicy: 'docs/runbooks/node-stuck.md',
  EtcdFleet: 'docs/runbooks/fleet.md',
} as const;

/** The message of `Stalled`. That of `Ready` has no link: other objects quote it, and have a runbook of their own. */
export function withRunbook(message: string, kind: keyof typeof kindRunbooks): string {
  return mentioning(message, `${repositoryFiles}/${kindRunbooks[kind]}`);
}
