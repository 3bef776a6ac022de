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

/** Where the repository is, by path and query; `undefined`: the request was led on, or not found. */
export function led(
  { leads }: Traits,
  { url = '', method }: Pick<IncomingMessage, 'url' | 'method'>,
  response: ServerResponse,
): string | undefined {
  if (!leads) return url;
  const to =
    leads.from === 'formerName'
      ? url.replace(`${formerly}/`, '.git/')
      : url.replace(/(?<!\.git)(?=\/(info\/refs|git-upload-pack)\b)/, '.git');
  if (to === url) return url;
  if (leads.only === 'anything' || url.includes(`/${leads.only}`)) {
    response.writeHead(leads.by, { location: to }).end();
    return undefined;
  }
  if (leads.from === 'formerName') return to;
  response.writeHead(404, { 'content-type': 'text/html' }).end(method === 'HEAD' ? undefined : '<html>');
  return undefined;
}
