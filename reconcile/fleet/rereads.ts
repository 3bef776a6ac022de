import { dotted } from '../../manifests/api/problem.ts';
import { isRecord } from '../../manifests/json.ts';
import type { FleetObject } from './objects.ts';
import type { DesiredSpec, Reread } from './reading.ts';

/**
 * A word that is live as an earlier version read it, and would change though no one changed the document: `0440` was
 * 440, and is 288 as for kubectl. Nothing of the document is applied until a commit says which of the two is meant.
 */
export function firstReread(spec: DesiredSpec, live: FleetObject) {
  const changed = spec.rereads?.find(({ path, isKey, was, now }) => {
    const found = valuesAt(live, path);
    const values = isKey ? found.flatMap((one) => (isRecord(one) ? Object.keys(one) : [])) : found;
    return values.includes(was) && !values.includes(now);
  });
  return changed && { place: { line: changed.line, column: changed.column }, message: sentence(changed) };
}

/** Of a list, those of each element: their order in the object may be another. */
function valuesAt(value: unknown, [step, ...rest]: Reread['path']): readonly unknown[] {
  if (step === undefined) return [value];
  if (typeof step === 'number') return Array.isArray(value) ? value.flatMap((one) => valuesAt(one, rest)) : [];
  return isRecord(value) && step in value ? valuesAt(value[step], rest) : [];
}

function sentence({ path, isKey, text, was, now }: Reread): string {
  const meant = JSON.stringify(now);
  return `${dotted(path)}: ${isKey ? 'the key ' : ''}${text} is ${meant}, as kubectl reads it; an earlier version read ${JSON.stringify(was)}, which is live: write ${meant} to change it, ${JSON.stringify(was)} to keep it`;
}
