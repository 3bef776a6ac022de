import { Document, isMap, type Pair, Scalar, YAMLMap } from 'yaml';
import { type Part, valueAt } from './compose.ts';
import { image } from './image.ts';
import type { Value } from './values/value.ts';

/** A value with what it is when it is not set. */
export interface Settled extends Value {
  readonly default: unknown;
}

/** @throws where a value has no default, or no place in the installation */
export function settled(values: readonly Value[], parts: readonly Part[]): readonly Settled[] {
  return values.map((value) => {
    if (value.path === 'image.repository') return { ...value, default: image.repository };
    const found = (value.places ?? []).map(({ kind, name, at, as }) => {
      if (kind === '*') return undefined;
      const part = parts.find(({ object }) => object.kind === kind && object.metadata.name === name);
      if (!part) throw new Error(`${value.path}: there is no ${kind} ${name}`);
      if (as === 'among') return undefined;
      const there = valueAt(part.object, at) ?? addedAt(part, at);
      if ((there === undefined) !== (as === 'where-set')) {
        throw new Error(`${value.path}: ${kind} ${name} has ${there === undefined ? 'nothing' : 'something'} at ${at}`);
      }
      return there;
    });
    const fallback = value.default ?? found.find((one) => one !== undefined);
    if (fallback === undefined) throw new Error(`${value.path} has no default`);
    return { ...value, default: fallback };
  });
}

/** values.yaml: each value with what it is for. */
export function valuesFile(values: readonly Settled[]): string {
  const document = new Document(new YAMLMap());
  for (const { path, about, default: fallback } of values) {
    const keys = path.split('.');
    for (const i of keys.keys()) {
      const here = keys.slice(0, i);
      const map = here.length === 0 ? document.contents : document.getIn(here, true);
      if (!isMap(map)) throw new Error(`${path}: ${here.join('.')} is a value itself`);
      const key = keys[i] ?? '';
      const leaf = i === keys.length - 1;
      if (!map.has(key)) map.items.push(entry(document, key, leaf ? fallback : {}, leaf ? about : undefined));
      else if (leaf) throw new Error(`${path} is there twice`);
    }
  }
  return document.toString({ lineWidth: 0 });
}

function entry(document: Document, key: string, value: unknown, comment: string | undefined): Pair {
  const name = new Scalar(key);
  if (comment !== undefined) name.commentBefore = folded(comment);
  return document.createPair(name, value);
}

/** values.schema.json, draft 7: what is not known is refused by name. */
export function valuesSchema(values: readonly Settled[]): object {
  const root = objectSchema();
  for (const { path, about, schema, default: fallback } of values) {
    const keys = path.split('.');
    let at = root;
    for (const key of keys.slice(0, -1)) {
      const inner = (at.properties[key] as ObjectSchema | undefined) ?? objectSchema();
      at.properties[key] = inner;
      at = inner;
    }
    at.properties[keys.at(-1) ?? ''] = { description: about, ...schema, default: fallback };
  }
  // What a chart that has this one among others says to all of them.
  root.properties.global = { type: 'object' };
  return { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Values of etcd-ratchet', ...root };
}

interface ObjectSchema {
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly properties: Record<string, object>;
}

function objectSchema(): ObjectSchema {
  return { type: 'object', additionalProperties: false, properties: {} };
}

function addedAt({ edits }: Part, at: string): unknown {
  return edits.flatMap(({ operations }) => operations).find(({ op, path }) => op === 'add' && path === at)?.value;
}

function folded(text: string): string {
  return text.replaceAll(/(?=.{100})(.{1,99}) /g, '$1\n').replaceAll(/^/gm, ' ');
}
