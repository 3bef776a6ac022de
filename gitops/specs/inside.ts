import { isRecord } from '../../manifests/json.ts';
import { namesOurVersion, recognise } from './recognise.ts';

/** Something that names an object of ours, or may, inside a value that is no document of ours. */
export interface Inside {
  /** `resource`: the object itself. `text`: our apiVersion, in whatever words. `cipher`: what it is, is encrypted. */
  readonly kind: 'resource' | 'text' | 'cipher';
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

interface Place {
  readonly value: unknown;
  readonly key?: string | number;
  readonly parent?: Place;
}

/** Told of one document. */
const most = 20;

/** The first few of each kind. It goes through each value once, however many aliases lead to it. */
export function findInside(root: unknown): readonly Inside[] {
  const found: Inside[] = [];
  const counts = new Map<Inside['kind'], number>();
  const seen = new Set<unknown>();
  const open: Place[] = [{ value: root }];
  for (let place = open.pop(); place; place = open.pop()) {
    const { value } = place;
    if (typeof value === 'object' && value !== null) {
      if (seen.has(value)) continue;
      seen.add(value);
    }
    const kind = kindOf(value, place.parent === undefined);
    const count = kind ? (counts.get(kind) ?? 0) : 0;
    if (kind && count < most) {
      counts.set(kind, count + 1);
      found.push({ kind, path: pathTo(place), value });
    }
    // An object of ours is told as a whole.
    if (kind !== 'resource') for (const child of childrenOf(place)) open.push(child);
  }
  return found;
}

function kindOf(value: unknown, isRoot: boolean): Inside['kind'] | undefined {
  if (typeof value === 'string') return namesOurVersion(value) ? 'text' : undefined;
  if (value instanceof Uint8Array) return kindOf(Buffer.from(value).toString('latin1'), false);
  if (!isRecord(value)) return undefined;
  const { apiVersion, kind, metadata, spec, data, sops } = value;
  if (isCipher(apiVersion) || isCipher(kind) || (isCipher(data) && isRecord(sops))) return 'cipher';
  const isObject = !isRoot && (isRecord(metadata) || isRecord(spec));
  return isObject && recognise(value).kind !== 'foreign' ? 'resource' : undefined;
}

function isCipher(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('ENC[');
}

/** Of a map, keys too: one that is a map itself is read as the text of it. In reverse: the last is looked at first. */
function* childrenOf(parent: Place): Generator<Place> {
  const { value } = parent;
  if (Array.isArray(value)) for (let key = value.length - 1; key >= 0; key--) yield { value: value[key], key, parent };
  else if (value instanceof Map || value instanceof Set) yield { value: [...value.entries()], key: 0, parent };
  else if (isRecord(value) && !ArrayBuffer.isView(value)) {
    for (const key of Object.keys(value).reverse()) {
      yield { value: value[key], key, parent };
      yield { value: key, key, parent };
    }
  }
}

function pathTo(place: Place): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at: Place | undefined = place; at?.key !== undefined; at = at.parent) path.push(at.key);
  return path.reverse();
}
