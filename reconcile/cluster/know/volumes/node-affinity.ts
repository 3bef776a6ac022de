import type { NodeSelectorRequirement, NodeSelectorTerm, PersistentVolume } from '../../../../manifests/kube-types.ts';

/** A node, as far as a PersistentVolume's affinity looks at it. */
export interface Home {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Whether the PersistentVolume can be used on this node, as the scheduler judges it: terms are ORed, their expressions
 * ANDed, an empty term matches nothing, and without an affinity every node matches. A cordoned or a full node matches
 * all the same.
 *
 * What cannot be read (an operator of a later Kubernetes) counts as a match: no volume is given up on a guess.
 */
export function isHomeOf(pv: Pick<PersistentVolume, 'spec'>, home: Home): boolean {
  const terms = pv.spec?.nodeAffinity?.required?.nodeSelectorTerms;
  return terms === undefined || terms.some((term) => matches(term, home));
}

/** Whether it can only be used on some nodes: for the others no Node object need be read. */
export function isBoundToNodes(pv: Pick<PersistentVolume, 'spec'>): boolean {
  return pv.spec?.nodeAffinity?.required !== undefined;
}

function matches({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, { name, labels }: Home): boolean {
  return (
    matchExpressions.length + matchFields.length > 0 &&
    matchExpressions.every((expression) => holds(expression, labels[expression.key])) &&
    // Kubernetes has no other field here.
    matchFields.every((field) => field.key !== 'metadata.name' || holds(field, name))
  );
}

function holds({ operator, values = [] }: NodeSelectorRequirement, found: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return found !== undefined && values.includes(found);
    case 'NotIn':
      return found === undefined || !values.includes(found);
    case 'Exists':
      return found !== undefined;
    case 'DoesNotExist':
      return found === undefined;
    case 'Gt':
      return compare(found, values[0], (a, b) => a > b);
    case 'Lt':
      return compare(found, values[0], (a, b) => a < b);
    default:
      return true;
  }
}

/** Both are whole numbers to Kubernetes; another label, or none, matches nothing. */
function compare(found: string | undefined, limit: string | undefined, is: (a: bigint, b: bigint) => boolean): boolean {
  if (limit === undefined || !wholeNumber.test(limit)) return true;
  return found !== undefined && wholeNumber.test(found) && is(BigInt(found), BigInt(limit));
}

const wholeNumber = /^-?\d+$/;
