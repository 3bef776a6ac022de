import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Traits } from './traits.ts';

const formerly = '-formerly.git';

/** Whether the server leads on from there. */
export function isFormer(url: string | undefined): boolean {
  return url?.includes(`${formerly}/`) ?? false;
}

/** The address of a repository that people have: the one from which a server leads on, where it does. */
export function toldPath({ leads }: Traits, path: string): string {
  if (leads?.from === 'withoutDotGit') return path.replace(/\.git$/, '');
  return leads ? path.replace(/\.git$/, formerly) : path;
}

/** Where the repository is, by path and query. */
function target({ leads }: Traits, url: string): string {
  if (leads?.from === 'formerName') return url.replace(`${formerly}/`, '.git/');
  return leads ? url.replace(/(?<!\.git)(?=\/(info\/refs|git-upload-pack)\b)/, '.git') : url;
}

/** Whether this request is answered by another address alone. */
export function isLedOn(traits: Traits, url = ''): boolean {
  const { leads } = traits;
  if (!leads || target(traits, url) === url) return false;
  return leads.only === 'anything' || url.includes(`/${leads.only}`);
}

/** Where the repository is; `undefined`: the request was led on, or not found. */
export function led(traits: Traits, { url = '' }: Pick<IncomingMessage, 'url'>, response: ServerResponse) {
  const { leads } = traits;
  const to = target(traits, url);
  if (!leads || to === url) return url;
  if (isLedOn(traits, url)) response.writeHead(leads.by, { location: to }).end();
  else if (leads.from === 'formerName') return to;
  else response.writeHead(404, { 'content-type': 'text/html' }).end('<html>');
  return undefined;
}
