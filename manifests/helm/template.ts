import { Pair, Scalar, stringify, YAMLMap, YAMLSeq } from 'yaml';
import { assertHolds, escaped, type Part, segmentsOf, valueAt } from './compose.ts';
import { expression, inParentheses, isAlways, within } from './condition.ts';
import { image } from './image.ts';
import type { Place, Value } from './values/value.ts';

/** What stands at one place: nothing, or one thing, or one of several by their guards. */
interface Content {
  readonly value: unknown;
  /** An argument of `if`. */
  readonly guard?: string;
}

/** How a template differs from the object that it was made from. */
export interface Changes {
  /** By pointer. What is not named stays. */
  readonly instead: Map<string, Content[]>;
  /** By the pointer of the map or list that they are added to. */
  readonly added: Map<string, (Content & { readonly key?: string })[]>;
  /** By pointer: whose entries are added to the map or list there, as arguments of `merge`, or the one of a list. */
  readonly among: Map<string, string[]>;
  readonly bound: Map<string, { readonly place: Place; readonly source: string; readonly isText: boolean }>;
  readonly namespaceAt: readonly string[];
}

const keepPolicy = '(ternary (dict "helm.sh/resource-policy" "keep") (dict) .Values.crds.keep)';

/** The name of a switch in the values, as a template says it. */
function switchValue(name: string): string {
  if (name === 'namespaced') return '.Values.namespaced';
  if (name === 'crds') return '.Values.crds.enabled';
  if (name === 'namespace') return '.Values.namespace.create';
  return `.Values.components.${name}.enabled`;
}

/** One object as a template: what patches change, by their conditions; and the values at their places. */
export function templateOf(part: Part, values: readonly Value[]): string {
  const changes = changesOf(part, values);
  const text = printed(part.object, '', changes);
  if (isAlways(part.when)) return text;
  return `{{- if ${expression(part.when, switchValue)} }}\n---\n${text}{{- end }}\n`;
}

export function changesOf(part: Part, values: readonly Value[]): Changes {
  const changes: Changes = {
    ...{ instead: new Map(), added: new Map(), bound: new Map(), among: new Map() },
    namespaceAt: part.namespaceAt,
  };
  if (part.object.kind === 'CustomResourceDefinition') changes.among.set('/metadata/annotations', [keepPolicy]);
  for (const { operations, when } of part.edits) {
    const rest = within(when, part.when);
    const guard = isAlways(rest) ? undefined : expression(rest, switchValue);
    for (const operation of operations) {
      const { op, path, value } = operation;
      if (op === 'test') {
        assertHolds(part, operation);
        continue;
      }
      const before = valueAt(part.object, path);
      if (before !== undefined) {
        if (changes.instead.has(path)) throw new Error(`${part.file}: two patches change ${path}`);
        const kept: Content[] = guard === undefined ? [] : [{ value: before, guard: `not ${inParentheses(guard)}` }];
        changes.instead.set(path, op === 'remove' ? kept : [...kept, { value, ...(guard !== undefined && { guard }) }]);
      } else if (op === 'add') {
        const key = segmentsOf(path).at(-1) ?? '';
        const parent = path.slice(0, path.lastIndexOf('/'));
        const into = valueAt(part.object, parent);
        if (typeof into !== 'object' || into === null) throw new Error(`${part.file}: ${parent} is not there`);
        if (Array.isArray(into) && key !== '-') throw new Error(`${part.file}: only the end of a list is added to`);
        add(changes, parent, { value, ...(key !== '-' && { key }), ...(guard !== undefined && { guard }) });
      } else throw new Error(`${part.file}: ${path} is not there to ${op}`);
    }
  }
  for (const { path, schema, places = [], source = `.Values.${path}` } of values) {
    for (const place of places) {
      const { kind, name, at } = place;
      if (kind !== '*' && (part.object.kind !== kind || part.object.metadata.name !== name)) continue;
      if (place.as === 'among') {
        changes.among.set(at, [`.Values.${path}`, ...(changes.among.get(at) ?? [])]);
        continue;
      }
      changes.bound.set(at, { place, source, isText: 'enum' in schema });
      const key = segmentsOf(at).at(-1) ?? '';
      if (place.as === 'where-set') add(changes, at.slice(0, at.lastIndexOf('/')), { key, value: undefined });
    }
  }
  for (const at of changes.among.keys()) {
    if (valueAt(part.object, at) !== undefined) continue;
    const [parent, key] = [at.slice(0, at.lastIndexOf('/')), segmentsOf(at).at(-1) ?? ''];
    if (changes.added.get(parent)?.some((one) => one.key === key))
      throw new Error(`${part.file}: a patch adds ${at}, and so does a value`);
    add(changes, parent, { key, value: undefined });
  }
  return changes;
}

/** YAML with the actions of Go templates between. @param pointer where the object stands in the one of `changes` */
export function printed(object: unknown, pointer: string, changes: Changes, indent = 0): string {
  const tokens: ((indent: number) => string)[] = [];
  const token = (text: (indent: number) => string) => `__${tokens.push(text) - 1}__`;
  const plain = stringify(node(object, pointer), { lineWidth: 0, aliasDuplicateObjects: false });
  // What the objects themselves say in braces is no action.
  const text = plain.replaceAll('{{', '{{ "{{" }}').replaceAll(/^(?=.)/gm, ' '.repeat(indent));
  return text.replaceAll(/^( *)(.*?)__(\d+)__(?:: null)?$/gm, (_, space: string, before: string, index: string) => {
    const action = tokens[Number(index)]?.(space.length) ?? '';
    if (action.startsWith('{{-')) return action;
    return `${space}${action.startsWith('\n') ? before.trimEnd() : before}${action}`;
  });

  function node(value: unknown, at: string): unknown {
    const bound = changes.bound.get(at);
    if (bound?.place.as === 'in-place') return new Scalar(token((indent) => inPlace(value, bound.source, indent)));
    if (Array.isArray(value)) {
      const list = new YAMLSeq();
      for (const [i, item] of value.entries()) into(list, contents(`${at}/${i}`, item), () => `${at}/${i}`);
      into(list, changes.added.get(at) ?? [], () => `${at}/-`);
      amongThese(list, at);
      return list;
    }
    if (typeof value === 'object' && value !== null) {
      const map = new YAMLMap();
      for (const [key, inner] of Object.entries(value)) {
        into(
          map,
          contents(`${at}/${escaped(key)}`, inner).map((one) => ({ ...one, key })),
          (name) => `${at}/${escaped(name)}`,
        );
      }
      into(map, changes.added.get(at) ?? [], (name) => `${at}/${escaped(name)}`);
      amongThese(map, at);
      return map;
    }
    return isOurNamespace(at, value) ? new Scalar(token(() => '{{ .Release.Namespace | quote }}')) : ours(at, value);
  }

  function isOurNamespace(at: string, value: unknown): boolean {
    if (value !== 'etcd-ratchet') return false;
    if (at.endsWith('/namespace') || changes.namespaceAt.includes(at)) return true;
    return at === '/metadata/name' && valueAt(object, '/kind') === 'Namespace';
  }

  function ours(at: string, value: unknown): unknown {
    if (!at.endsWith('/image') || value !== image.name) return value;
    return new Scalar(token(() => '{{ include "etcd-ratchet.image" . | quote }}'));
  }

  function contents(at: string, value: unknown): readonly Content[] {
    return changes.instead.get(at) ?? [{ value }];
  }

  function into(
    collection: YAMLMap | YAMLSeq,
    all: readonly (Content & { readonly key?: string })[],
    pointerOf: (key: string) => string,
  ): void {
    for (const { key = '', value, guard } of all) {
      const inner = pointerOf(key);
      const bound = changes.bound.get(inner);
      if (guard !== undefined) line(collection, () => `{{- if ${guard} }}`);
      const sources = changes.among.get(inner);
      if (sources && value === undefined) line(collection, (indent) => newMap(key, sources, indent));
      else if (bound?.place.as === 'where-set') line(collection, (indent) => whereSet(key, bound, indent));
      else if (collection instanceof YAMLMap) collection.items.push(new Pair(new Scalar(key), node(value, inner)));
      else collection.items.push(node(value, inner));
      if (guard !== undefined) line(collection, () => '{{- end }}');
    }
  }

  function amongThese(collection: YAMLMap | YAMLSeq, at: string): void {
    const sources = changes.among.get(at);
    if (sources) line(collection, (indent) => `{{- with ${together(sources)} }}\n${listed(indent)}\n{{- end }}`);
  }

  function line(collection: YAMLMap | YAMLSeq, action: (indent: number) => string): void {
    const name = new Scalar(token(action));
    if (collection instanceof YAMLMap) collection.items.push(new Pair(name, new Scalar(null)));
    else collection.items.push(name);
  }
}

function inPlace(value: unknown, source: string, indent: number): string {
  if (typeof value === 'number') return `{{ int ${source} }}`;
  if (typeof value !== 'object') return `{{ ${source} | quote }}`;
  return `\n${' '.repeat(indent + 2)}{{- toYaml ${source} | nindent ${indent + 2} }}`;
}

function whereSet(
  key: string,
  { source, isText }: { readonly source: string; readonly isText: boolean },
  indent: number,
): string {
  const space = ' '.repeat(indent);
  const value = isText ? ' {{ . }}' : `\n${space}  {{- toYaml . | nindent ${indent + 2} }}`;
  return `{{- with ${source} }}\n${space}${key}:${value}\n{{- end }}`;
}

function newMap(key: string, sources: readonly string[], indent: number): string {
  const space = ' '.repeat(indent);
  return `{{- with ${together(sources)} }}\n${space}${key}:\n${listed(indent + 2)}\n{{- end }}`;
}

function listed(indent: number): string {
  return `${' '.repeat(indent)}{{- toYaml . | nindent ${indent} }}`;
}

/** Of a key in several, the first counts: the value that stands later in the table is the narrower one. */
function together(sources: readonly string[]): string {
  return sources.length === 1 ? (sources[0] ?? '') : `merge (dict) ${sources.join(' ')}`;
}

function add(changes: Changes, at: string, content: Content & { readonly key?: string }): void {
  changes.added.set(at, [...(changes.added.get(at) ?? []), content]);
}
