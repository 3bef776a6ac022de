import { mostFields } from '../../manifests/api/check-report.ts';
import { between, type Difference } from '../../reconcile/objects/differences.ts';

/** Characters of a value: a certificate or a script is not read in a table. */
const longest = 60;

/** Changes of a document in its spec, a line for each field: `spec.version: 3.6.16 → 3.6.17`. */
export function changedFields(before: unknown, after: unknown): readonly string[] {
  const all = [...between(before, after, 'spec')];
  const told = all.slice(0, mostFields).map(line);
  const left = all.length - told.length;
  return left > 0 ? [...told, `and ${left} other${left === 1 ? '' : 's'}`] : told;
}

function line({ path, found, wanted }: Difference): string {
  return `${path}: ${said(found)} → ${said(wanted)}`;
}

function said(value: unknown): string {
  if (value === undefined || value === null) return 'not set';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const [first = '', ...more] = text.split('\n');
  return first.length > longest || more.length > 0 ? `${first.slice(0, longest)}…` : first;
}
