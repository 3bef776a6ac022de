import { exampleBucket, type Scheme, schemes, schemesText, stores } from '../stores/stores.ts';
import { shown } from './problem.ts';
import { didYouMean } from './suggest.ts';

/**
 * The name of a backup's object, as people write it: `<scheme>://bucket/{{namespace}}/{{cluster}}/{{timestamp}}.db`.
 * Pure: checked when a resource is applied, expanded when a backup is asked for.
 */

const templateVariables = ['namespace', 'cluster', 'name', 'uid', 'timestamp'] as const;
export type TemplateVariable = (typeof templateVariables)[number];

/** Where one object is, or the prefix of many. */
export interface ObjectLocation {
  readonly scheme: Scheme;
  /** A bucket, or a PersistentVolumeClaim of the cluster's own namespace. */
  readonly bucket: string;
  /** Without a leading slash. */
  readonly path: string;
}

export interface ObjectTemplate extends ObjectLocation {
  readonly variables: ReadonlySet<TemplateVariable>;
}

export interface TemplateProblem {
  readonly problem: string;
}

/** Beside each object lies its record, which makes it a backup: `<object>.json`. */
export const recordSuffix = '.json';
/** And what a restore of it has proven: `<object>.verified.json`. */
export const verifiedSuffix = '.verified.json';

/** Object stores allow names of 1,024 bytes, and a file's may have 255; names of files beside it are longer. */
const longest = {
  path: 1024 - verifiedSuffix.length,
  segment: 255 - '.partial-00000000'.length - verifiedSuffix.length,
} as const;

const example = `${exampleBucket}/{{namespace}}/{{cluster}}/{{timestamp}}.db`;
const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g;
/** Nothing that a shell, a URL or a file system reads as something else. */
const segment = /^[A-Za-z0-9._=+@,:-]+$/;

/** What a person wrote. The bucket is fixed: a name from a cluster must not choose where data go. */
export function parseObjectTemplate(text: string): ObjectTemplate | TemplateProblem {
  if (text.length > 2048) return { problem: `an object's name has at most 2048 characters, this has ${text.length}` };
  const variables = new Set<TemplateVariable>();
  for (const [, name = ''] of text.matchAll(placeholder)) {
    const known = templateVariables.find((variable) => variable === name);
    if (known === undefined) return { problem: unknownVariable(name) };
    variables.add(known);
  }
  // Stands for any value: the rest is checked as a name.
  const location = parseLocation(text.replace(placeholder, 'xxx'));
  if ('problem' in location) return location;
  const [, bucket = '', path = ''] = /^[a-z0-9]+:\/\/([^/]*)\/(.*)$/s.exec(text) ?? [];
  if (bucket !== location.bucket)
    return { problem: `a bucket can't come from a variable: write its name, like ${example}` };
  return { ...location, path: path.replace(placeholder, '{{$1}}'), variables };
}

/** A name as it stands in a store, without variables. */
export function parseLocation(url: string): ObjectLocation | TemplateProblem {
  const [, given, bucket = '', path] = /^([A-Za-z0-9+.-]+):\/\/([^/]*)(?:\/(.*))?$/s.exec(url) ?? [];
  if (given === undefined) return { problem: `${shown(url)} is no object's name: write one like ${example}` };
  const scheme = schemes.find((known) => known === given);
  if (scheme === undefined)
    return { problem: `${shown(`${given}://`)} is not known: use ${schemesText()}${didYouMean(given, schemes)}` };
  const { pattern, words } = stores[scheme].bucket;
  if (!new RegExp(`^${pattern}$`).test(bucket) || bucket.includes('..'))
    return { problem: `${shown(bucket)} can't be the name of ${words}: write ${scheme}://<name>/<path>` };
  if (path === undefined || path === '')
    return { problem: `the path after ${scheme}://${bucket}/ is missing: write one like ${example}` };
  const problem = problemOfPath(path);
  return problem === undefined ? { scheme, bucket, path } : { problem };
}

/** What all objects of a place begin with, like `<scheme>://bucket/payments/orders/`: it may end within a name. */
export function parsePrefix(url: string): ObjectLocation | TemplateProblem {
  const whole = parseLocation(`${url}x`);
  return 'problem' in whole ? whole : { ...whole, path: whole.path.slice(0, -1) };
}

/** @throws {RangeError} when a value is missing, or is none that a name may hold: it would lead elsewhere. */
export function expandTemplate(
  template: ObjectTemplate,
  values: Readonly<Partial<Record<TemplateVariable, string>>>,
): ObjectLocation {
  const path = template.path.replace(placeholder, (_, name: TemplateVariable) => {
    const value = values[name];
    if (value === undefined) throw new RangeError(`{{${name}}} has no value here`);
    if (!segment.test(value) || /^\.+$/.test(value)) throw new RangeError(`{{${name}}} can't be ${shown(value)}`);
    return value;
  });
  const problem = problemOfPath(path);
  if (problem !== undefined) throw new RangeError(problem);
  return { scheme: template.scheme, bucket: template.bucket, path };
}

/** In names: sorts by time, and holds no colon. */
export function timestampOf(time: Date): string {
  return time.toISOString().replace(/[-:]|\.\d+/g, '');
}

/** Up to the first variable that differs between backups of one cluster, so that a listing finds all of them. */
export function prefixOf(
  { path }: ObjectTemplate,
  values: Readonly<Partial<Record<TemplateVariable, string>>>,
): string {
  const [fixed = ''] = path.split(/\{\{(?:name|uid|timestamp)\}\}/);
  return fixed.replace(placeholder, (_, name: TemplateVariable) => values[name] ?? '');
}

/** The PersistentVolumeClaim that it names; `undefined` of a bucket, and of what is no place at all. */
export function claimNamedIn(
  place: Pick<ObjectLocation, 'scheme' | 'bucket'> | { readonly problem: string },
): string | undefined {
  return 'problem' in place || stores[place.scheme].reach !== 'claim' ? undefined : place.bucket;
}

export function urlOf({ scheme, bucket, path }: ObjectLocation): string {
  return `${scheme}://${bucket}/${path}`;
}

function unknownVariable(name: string): string {
  const known = templateVariables.map((variable) => `{{${variable}}}`).join(', ');
  return `${shown(`{{${name}}}`)} is not known: use ${known}${didYouMean(name, templateVariables)}`;
}

function problemOfPath(path: string): string | undefined {
  if (path.length > longest.path) return `the path has ${path.length} characters, at most ${longest.path} fit`;
  for (const part of path.split('/')) {
    if (part === '') return `the path ${shown(path)} has an empty part: write no "/" at its ends, and no two together`;
    if (/^\.+$/.test(part)) return `the path ${shown(path)} has the part ${shown(part)}: write it out`;
    if (/[{}]/.test(part))
      return `the path ${shown(path)} has a brace that belongs to no variable: write {{timestamp}}`;
    if (!segment.test(part))
      return `the path ${shown(path)} has the part ${shown(part)}: use letters, digits and . _ - = + @ , :`;
    if (part.length > longest.segment)
      return `the path has a part of ${part.length} characters, at most ${longest.segment} fit`;
  }
  // Also what ends like `verifiedSuffix`.
  if (path.endsWith(recordSuffix))
    return `the path ends in ${recordSuffix}, which records beside backups do: end it in .db`;
  if (path.includes('.partial-'))
    return 'the path holds ".partial-", which uploads that are under way do: leave it out';
  return undefined;
}
