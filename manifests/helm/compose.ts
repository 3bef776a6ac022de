import { deepStrictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { type Condition, type Switches, simplified } from './condition.ts';

/** One object of the installation, under which switches it is there, and what changes it under which. */
export interface Part {
  /** Where it stands, below `manifests`. */
  readonly file: string;
  readonly object: Manifest;
  readonly when: Condition;
  readonly edits: readonly Edit[];
  /** Where else than in a field `namespace` the namespace of the installation stands: RFC 6901. */
  readonly namespaceAt: readonly string[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

/** An operation of RFC 6902, as kustomize takes it. */
export interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

interface Edit {
  readonly operations: readonly Operation[];
  readonly when: Condition;
}

/** What a person names in a kustomization of their own, and the switches that stand for it. */
export interface Root {
  readonly directory: string;
  readonly when: Switches;
}

export interface ComposeOptions {
  /** Parts of a root that have a switch of their own, by file or directory. */
  readonly also?: Readonly<Record<string, Switches>>;
  /** The content of a file below `manifests`. */
  readonly read?: (file: string) => string;
}

interface Kustomization {
  readonly kind: string;
  readonly apiVersion: string;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly target: Target; readonly patch: string }[];
  readonly images?: readonly object[];
  readonly configurations?: readonly string[];
}

/** A field that kustomize's `namespace` sets, as its configurations say it. */
interface NamespaceField {
  readonly path: string;
  readonly kind: string;
}

interface Target {
  readonly kind: string;
  readonly name: string;
}

interface Found {
  readonly file: string;
  readonly index: number;
  readonly object: Manifest;
  readonly when: Switches;
}

interface Patch {
  readonly key: string;
  readonly target: Target;
  readonly operations: readonly Operation[];
  readonly when: Switches;
}

const manifests = join(import.meta.dirname, '..');

/**
 * The kustomizations, for all combinations of the switches at once.
 * @throws when one says something that is not understood here: the chart would lack it
 */
export function compose(roots: readonly Root[], options: ComposeOptions = {}): readonly Part[] {
  const { also = {}, read = (file) => readFileSync(join(manifests, file), 'utf8') } = options;
  const patches: Patch[] = [];
  const namespaceFields: NamespaceField[] = [];
  const found = roots.flatMap(({ directory, when }) => load(directory, when));

  const byPlace = Map.groupBy(found, ({ file, index }) => `${file}#${index}`);
  const parts = [...byPlace.values()].map(([first, ...others]) => {
    const { file, object, when } = first as Found;
    const condition = simplified([when, ...others.map((other) => other.when)]);
    const fields = namespaceFields.filter(({ kind }) => kind === object.kind);
    return {
      file,
      object,
      when: condition,
      edits: [] as Edit[],
      namespaceAt: fields.map(({ path }) => pointerOf(path)),
    };
  });
  for (const same of Map.groupBy(patches, ({ key }) => key).values()) {
    const [{ target, operations, key }] = same as [Patch];
    const targets = parts.filter(({ object }) => matches(target, object));
    if (targets.length !== 1) throw new Error(`${key}: ${target.kind} ${target.name} is there ${targets.length} times`);
    targets[0]?.edits.push({ operations, when: simplified(same.map(({ when }) => when)) });
  }
  return parts;

  function load(directory: string, outer: Switches): Found[] {
    const when = { ...outer, ...also[directory] };
    const file = posix.join(directory, 'kustomization.yaml');
    const content = understood(file, parse(read(file)));
    const { resources = [], components = [], patches: own = [], configurations = [] } = content;
    for (const one of configurations) {
      const path = posix.join(directory, one);
      namespaceFields.push(...namespaceFieldsIn(path, parse(read(path))));
    }
    let here = [
      ...resources.flatMap((one) => {
        const path = posix.join(directory, one);
        return one.endsWith('.yaml') ? objectsIn(path, when) : load(path, when);
      }),
      ...components.flatMap((one) => load(posix.join(directory, one), when)),
    ];
    for (const [i, { target, patch }] of own.entries()) {
      const content: unknown = parse(patch);
      const key = `${file}, patch ${i + 1}`;
      if (Array.isArray(content))
        patches.push({ key, target, when, operations: content.map((one) => known(key, one)) });
      else if (isDeletion(content)) here = here.filter(({ object }) => !matches(target, object));
      else throw new Error(`${key}: only operations of RFC 6902 and deletions are understood`);
    }
    return here;
  }

  function objectsIn(file: string, outer: Switches): Found[] {
    const when = { ...outer, ...also[file] };
    return parseAllDocuments(read(file)).map((document, index) => {
      if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join(', ')}`);
      return { file, index, when, object: document.toJS() as Manifest };
    });
  }
}

/** What stands at a pointer of RFC 6901; `undefined`: nothing. */
export function valueAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const segment of segmentsOf(pointer)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, segment)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[segment];
  }
  return at;
}

export function segmentsOf(pointer: string): string[] {
  const [, ...segments] = pointer.split('/');
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** @throws unless an operation `test` holds */
export function assertHolds({ object }: Part, { path, value }: Operation): void {
  deepStrictEqual(valueAt(object, path), value, `${object.kind} ${object.metadata.name}: ${path}`);
}

function understood(file: string, content: Kustomization): Kustomization {
  const { apiVersion, kind, resources, components, patches, images, configurations, ...others } = content;
  const unknown = Object.keys(others);
  if (unknown.length > 0) throw new Error(`${file}: ${unknown.join(', ')} is not understood by manifests/helm`);
  if (images && file !== 'image/kustomization.yaml')
    throw new Error(`${file}: images are named by manifests/image only`);
  return content;
}

function namespaceFieldsIn(file: string, content: { readonly namespace: readonly NamespaceField[] }) {
  const { namespace, ...others } = content;
  const unknown = [others, ...namespace.map(({ path, kind, ...more }) => more)].flatMap((one) => Object.keys(one));
  if (unknown.length > 0) throw new Error(`${file}: ${unknown.join(', ')} is not understood by manifests/helm`);
  return namespace;
}

/** kustomize separates by slashes, too, and escapes those of a key by a backslash. */
function pointerOf(path: string): string {
  const keys = path.split(/(?<!\\)\//).map((key) => key.replaceAll('\\/', '/'));
  return keys.map((key) => `/${escaped(key)}`).join('');
}

/** A key as a segment of a pointer. */
export function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function known(key: string, operation: Operation): Operation {
  if (!['add', 'remove', 'replace', 'test'].includes(operation.op)) {
    throw new Error(`${key}: the operation ${operation.op} is not understood by manifests/helm`);
  }
  return operation;
}

function isDeletion(content: unknown): boolean {
  return (content as { $patch?: unknown } | null)?.$patch === 'delete';
}

function matches({ kind, name }: Target, object: Manifest): boolean {
  return object.kind === kind && object.metadata.name === name;
}
