import { isRecord } from '../../manifests/json.ts';

/** Enough to see what was done. */
const most = 4;

/**
 * Where two specs differ, as paths like `spec.template.spec.containers[etcd].image`, the first few. Paths only: values
 * of an environment or of arguments may be secret.
 */
export function differences(found: unknown, wanted: unknown, path: string): readonly string[] {
  return [...between(found, wanted, path)].slice(0, most).map((one) => one.path);
}

export interface Difference {
  readonly path: string;
  readonly found?: unknown;
  readonly wanted?: unknown;
}

/** All of them, with both values: for documents that their readers have anyway. */
export function* between(found: unknown, wanted: unknown, path: string): Generator<Difference> {
  if (Array.isArray(found) && Array.isArray(wanted)) return yield* betweenLists(found, wanted, path);
  if (isRecord(found) && isRecord(wanted)) {
    for (const key of new Set([...Object.keys(wanted), ...Object.keys(found)]))
      yield* between(found[key], wanted[key], `${path}.${key}`);
    return;
  }
  if (!Object.is(found ?? null, wanted ?? null)) yield { path, found, wanted };
}

/** Entries with names are told by them: an entry that was added is one difference. */
function* betweenLists(found: readonly unknown[], wanted: readonly unknown[], path: string): Generator<Difference> {
  const names = [...new Set([...wanted, ...found].map(nameOf))];
  if (names.some((name) => name === undefined) || !isUnique(found) || !isUnique(wanted)) {
    if (found.length !== wanted.length || found.some((item, index) => !isSame(item, wanted[index])))
      yield { path, found, wanted };
    return;
  }
  for (const name of names) {
    const [one, other] = [found, wanted].map((list) => list.find((item) => nameOf(item) === name));
    if (one === undefined || other === undefined) yield { path: `${path}[${name}]`, found: one, wanted: other };
    else yield* between(one, other, `${path}[${name}]`);
  }
  if (found.length === wanted.length && found.some((item, index) => nameOf(item) !== nameOf(wanted[index])))
    yield { path, found, wanted };
}

function isSame(found: unknown, wanted: unknown): boolean {
  return between(found, wanted, '').next().done === true;
}

function isUnique(list: readonly unknown[]): boolean {
  return new Set(list.map(nameOf)).size === list.length;
}

function nameOf(item: unknown): string | undefined {
  return isRecord(item) && typeof item.name === 'string' ? item.name : undefined;
}
