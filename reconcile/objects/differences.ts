import { isRecord } from '../../manifests/json.ts';

/** Enough to see what was done. */
const most = 4;

/**
 * Where two specs differ, as paths like `spec.template.spec.containers[etcd].image`, the first few. Paths only: values
 * of an environment or of arguments may be secret.
 */
export function differences(found: unknown, wanted: unknown, path: string): readonly string[] {
  return [...between(found, wanted, path)].slice(0, most);
}

function* between(found: unknown, wanted: unknown, path: string): Generator<string> {
  if (Array.isArray(found) && Array.isArray(wanted)) return yield* betweenLists(found, wanted, path);
  if (isRecord(found) && isRecord(wanted)) {
    for (const key of new Set([...Object.keys(wanted), ...Object.keys(found)]))
      yield* between(found[key], wanted[key], `${path}.${key}`);
    return;
  }
  if (!Object.is(found ?? null, wanted ?? null)) yield path;
}

/** Entries with names are told by them: an entry that was added is one difference. */
function* betweenLists(found: readonly unknown[], wanted: readonly unknown[], path: string): Generator<string> {
  const names = [...new Set([...wanted, ...found].map(nameOf))];
  if (names.some((name) => name === undefined) || !isUnique(found) || !isUnique(wanted)) {
    if (found.length !== wanted.length || found.some((item, index) => !isSame(item, wanted[index]))) yield path;
    return;
  }
  for (const name of names) {
    const [one, other] = [found, wanted].map((list) => list.find((item) => nameOf(item) === name));
    if (one === undefined || other === undefined) yield `${path}[${name}]`;
    else yield* between(one, other, `${path}[${name}]`);
  }
  if (found.length === wanted.length && found.some((item, index) => nameOf(item) !== nameOf(wanted[index]))) yield path;
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
