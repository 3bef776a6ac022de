import { annotations } from '../render/names.ts';
import { dnsLabel } from './common-rules.ts';
import { group } from './group.ts';
import { isPlainObject } from './plain-data.ts';
import { dotted, type Path, type Problems, shown } from './problem.ts';
import { didYouMean } from './suggest.ts';

const known = ['name', 'namespace', 'labels', 'annotations'];
const serverSet = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
]);
const notForGit = new Set(['generateName', 'ownerReferences', 'finalizers']);

/** The metadata of a document, which is less than that of an object: what others set does not belong in Git. */
export function checkMetadata(metadata: unknown, problems: Problems, { clusterScoped = false } = {}): void {
  if (metadata === undefined || metadata === null) {
    problems.add(['metadata'], 'metadata is required, with name and namespace');
    return;
  }
  if (!isPlainObject(metadata)) {
    problems.add(['metadata'], `metadata must be an object, is ${shown(metadata)}`);
    return;
  }
  for (const [key, value] of Object.entries(metadata)) {
    if (known.includes(key) || value === null) continue;
    const at = ['metadata', key];
    if (serverSet.has(key)) problems.add(at, `${dotted(at)} is set by the API server: remove it from the document`);
    else if (notForGit.has(key)) problems.add(at, `${dotted(at)} does not belong in a document: remove it`);
    else problems.add(at, `${dotted(at)} is not a known field${didYouMean(key, known)}`);
  }
  checkName(metadata, 'name', 253, /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, problems);
  if (!clusterScoped) checkName(metadata, 'namespace', 63, new RegExp(dnsLabel), problems);
  else if (typeof metadata.namespace === 'string')
    problems.add(
      ['metadata', 'namespace'],
      'metadata.namespace does not belong here: the object is of the whole cluster',
    );
  checkPairs(metadata.labels, 'labels', problems);
  checkPairs(metadata.annotations, 'annotations', problems);
}

function checkName(
  metadata: Record<string, unknown>,
  key: 'name' | 'namespace',
  longest: number,
  pattern: RegExp,
  problems: Problems,
): void {
  const at = ['metadata', key];
  const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
  if (value === undefined || value === null) {
    problems.add(at, `${dotted(at)} is required`);
  } else if (typeof value !== 'string') {
    problems.add(
      at,
      `${dotted(at)} must be a string, is ${shown(value)}${typeof value === 'object' ? '' : ': put it in quotes'}`,
    );
  } else if (value.length > longest) {
    problems.add(at, `${dotted(at)} must have at most ${longest} characters, has ${value.length}`);
  } else if (!pattern.test(value)) {
    problems.add(at, `${dotted(at)} must be lower-case letters, digits and "-", is ${shown(value)}`);
  }
}

const qualifiedName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/;

function checkPairs(pairs: unknown, field: 'labels' | 'annotations', problems: Problems): void {
  if (pairs === undefined || pairs === null) return;
  if (!isPlainObject(pairs)) {
    problems.add(['metadata', field], `metadata.${field} must be an object, is ${shown(pairs)}`);
    return;
  }
  for (const [key, value] of Object.entries(pairs)) {
    const at: Path = ['metadata', field, key];
    if (!qualifiedName.test(key) || key.length > 253 + 64) {
      problems.add(at, `${dotted(at)} is no valid key: [<domain>/]<name>, letters, digits, "-", "_" and "."`);
    } else if (field === 'annotations' && key === annotations.prune) {
      if (!isPruneWord(value)) problems.add(at, `${dotted(at)} must be ${pruneWords.join(' or ')}, is ${shown(value)}`);
    } else if (isOurs(key)) {
      problems.add(at, `${dotted(at)} belongs to etcd-ratchet, or to people on the live object, not in Git: remove it`);
    } else if (typeof value !== 'string') {
      problems.add(
        at,
        `${dotted(at)} must be a string, is ${shown(value)}${typeof value === 'object' ? '' : ': put it in quotes'}`,
      );
    } else if (field === 'labels' && !labelValue.test(value)) {
      problems.add(at, `${dotted(at)} is no valid label value: at most 63 letters, digits, "-", "_" and "."`);
    }
  }
}

/** What a document may say about the end of its object. */
const pruneWords = ['disabled', 'confirm'] as const;

function isPruneWord(value: unknown): boolean {
  return (pruneWords as readonly unknown[]).includes(value);
}

/** Whose mark an owner label is must not be for a document to say. */
function isOurs(key: string): boolean {
  const [domain, name] = key.split('/');
  return name !== undefined && (domain === group || domain?.endsWith(`.${group}`) === true);
}
