import { repositoryFiles } from '../../manifests/documentation.ts';

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
