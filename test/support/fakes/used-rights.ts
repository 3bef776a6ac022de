import { appendFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { group } from '../../../manifests/api/group.ts';
import { definitions } from '../../../manifests/api/kinds.ts';
import type { Target } from '../../../reconcile/clients/kube-address.ts';
import type { KubeObject } from '../../../reconcile/interfaces/kube.ts';

const verbs = {
  GET: 'get',
  LIST: 'list',
  WATCH: 'watch',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
} as const satisfies Record<Target['verb'], string>;

interface Request extends Target {
  readonly user: string | undefined;
  readonly body?: KubeObject | undefined;
}

const checkout = fileURLToPath(new URL('../../..', import.meta.url));
const directory = process.env.RATCHET_USED_RIGHTS;
const file = directory && notesOf(directory, relative(join(checkout, 'test'), process.argv[1] ?? ''));
const ours = ['functions', 'reconcile'].map((room) => `${checkout}${room}/`);
const noted = new Set<string>();

/** Where the tests of a file note them, in `RATCHET_USED_RIGHTS`. @param story like `unit/backup/step.test.ts` */
export function notesOf(directory: string, story: string): string {
  return join(directory, story.replaceAll('/', '~'));
}

/** A line of these notes: who (`ours` or `fleet`), the verb, and the resource with its group. */
export function usedRight(who: string, verb: string, resource: string, itsGroup: string): string {
  return `${who} ${verb} ${itsGroup === '' ? resource : `${resource}.${itsGroup}`}`;
}

/** Notes what right a request of our own code takes; what a test does to set a scene takes none of ours. */
export function noteUsedRights(request: Request): void {
  if (file === undefined || !isOurs()) return;
  const { verb, resource, subresource, user, body } = request;
  const who = user === undefined ? 'ours' : 'fleet';
  const itsGroup = resource.apiVersion.includes('/') ? (resource.apiVersion.split('/')[0] ?? '') : '';
  const plural = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
  note(usedRight(who, verbs[verb], plural, itsGroup));
  // Server-side apply of what is not there takes the right to create.
  if (verb === 'PATCH') note(usedRight(who, 'create', plural, itsGroup));
  if (user !== undefined) note(usedRight('ours', 'impersonate', 'serviceaccounts', ''));
  if (verb === 'GET' || verb === 'LIST') return;
  // Where owner references are guarded, admission asks for more: to delete what one is set on, and to block the owner.
  const owners = body?.metadata.ownerReferences ?? [];
  if (verb === 'POST' && owners.length > 0) note(usedRight(who, 'delete', plural, itsGroup));
  for (const { kind, blockOwnerDeletion } of owners) {
    const owner = Object.values(definitions).find((definition) => definition.kind === kind);
    if (owner && blockOwnerDeletion) note(usedRight(who, 'update', `${owner.plural}/finalizers`, group));
  }
}

function isOurs(): boolean {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 50;
  const { stack = '' } = new Error('where');
  Error.stackTraceLimit = stackTraceLimit;
  return ours.some((room) => stack.includes(room));
}

function note(line: string): void {
  if (file === undefined || noted.has(line)) return;
  noted.add(line);
  appendFileSync(file, `${line}\n`);
}
