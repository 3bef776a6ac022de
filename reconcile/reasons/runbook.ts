import { repositoryFiles } from '../../manifests/documentation.ts';
import { meaningOf } from './reasons.ts';

/** Where a person reads what to do about a reason, as a link; the runbook, where there is one and another page. */
export function runbookOf(reason: string): string | undefined {
  const links = [...(meaningOf(reason)?.cure ?? '').matchAll(/\]\((docs\/[^)]+)\)/g)].map(([, link = '']) => link);
  const link = links.find((one) => one.startsWith('docs/runbooks/')) ?? links[0];
  return link && `${repositoryFiles}/${link}`;
}
