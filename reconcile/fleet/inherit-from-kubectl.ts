import { group } from '../../manifests/api/group.ts';
import { annotations } from '../../manifests/render/names.ts';
import { type Fields, fieldsOf, isAppliedBy, unionOf } from '../objects/fields.ts';
import type { ManagedFields } from '../objects/hands.ts';

/** Owners of fields. */
export interface Ownership {
  readonly entries: readonly ManagedFields[];
  /** Names of kubectl whose fields become the fleet's. */
  readonly from: readonly string[];
}

/** How kubectl calls itself where a person tells it no other name. */
const kubectls = new Set([
  'kubectl',
  'kubectl-client-side-apply',
  'kubectl-create',
  'kubectl-edit',
  'kubectl-patch',
  'kubectl-replace',
]);

/**
 * The entries with what kubectl wrote under our name. Otherwise what a commit removes, or never listed, stays live.
 * `undefined`: kubectl wrote nothing of it. Only what a document may say is taken, and nothing of other controllers.
 */
export function inheritFromKubectl(entries: readonly ManagedFields[], manager: string): Ownership | undefined {
  const parts = entries.filter(isKubectls).map((entry) => ({ entry, ...split(fieldsOf(entry)) }));
  const taken = parts.filter(({ ours }) => !isEmpty(ours));
  const [first] = taken;
  if (!first) return undefined;
  const fields = taken.map(({ ours }) => ours);
  const before = entries.find((entry) => isAppliedBy(entry, manager));
  const others = entries.flatMap((entry): readonly ManagedFields[] => {
    const part = taken.find((one) => one.entry === entry);
    if (!part) return entry === before ? [] : [entry];
    return isEmpty(part.theirs) ? [] : [{ ...entry, fieldsV1: part.theirs }];
  });
  const fieldsV1 = unionOf(before ? [fieldsOf(before), ...fields] : fields);
  return {
    entries: [...others, { ...(before ?? first.entry), manager, operation: 'Apply', fieldsV1 }],
    from: [...new Set(taken.map(({ entry }) => entry.manager ?? ''))].sort(),
  };
}

function isKubectls({ manager = '', operation, subresource }: ManagedFields): boolean {
  if (subresource) return false;
  return operation === 'Apply' ? manager === 'kubectl' : kubectls.has(manager);
}

/**
 * Finalizers and owners are in no document; marks of our group are a person's on the live object, as `paused` is, but
 * for the one that documents have.
 */
function split(fields: Fields): { readonly ours: Fields; readonly theirs: Fields } {
  const marks = new Set(['f:labels', 'f:annotations']);
  const { 'f:spec': spec, 'f:metadata': metadata = {}, ...others } = fields;
  const ours: Record<string, Fields> = {};
  const theirs: Record<string, unknown> = {};
  for (const [element, held] of Object.entries(metadata as Fields)) {
    if (!marks.has(element)) {
      theirs[element] = held;
      continue;
    }
    const keys = Object.entries(held as Fields).filter(([key]) => key !== '.');
    const [some, rest] = [keys.filter(([key]) => !isOfOurGroup(key)), keys.filter(([key]) => isOfOurGroup(key))];
    if (some.length > 0) ours[element] = Object.fromEntries(some);
    if (rest.length > 0) theirs[element] = Object.fromEntries(rest);
  }
  return {
    ours: { ...(spec !== undefined && { 'f:spec': spec }), ...(!isEmpty(ours) && { 'f:metadata': ours }) },
    theirs: { ...others, ...(!isEmpty(theirs) && { 'f:metadata': theirs }) },
  };
}

function isOfOurGroup(element: string): boolean {
  const [domain = ''] = element.slice('f:'.length).split('/');
  if (element === `f:${annotations.prune}`) return false;
  return domain === group || domain.endsWith(`.${group}`);
}

function isEmpty(fields: Fields): boolean {
  return Object.keys(fields).length === 0;
}
