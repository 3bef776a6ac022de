/** Label and field selectors as the API server reads them, as far as this project uses them. */

import type { KubeObject } from '../../../reconcile/interfaces/kube.ts';

/** `a=b,c!=d,e in (f,g),h notin (i),j,!k` */
export function matchesLabels(object: KubeObject, selector: string | undefined): boolean {
  if (selector === undefined || selector.trim() === '') return true;
  const labels = object.metadata.labels ?? {};
  return selector
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .every((term) => matchesTerm(labels, term));
}

/** `metadata.name=x,status.phase!=Running`: any path, where the API server knows only some. */
export function matchesFields(object: KubeObject, selector: string | undefined): boolean {
  if (selector === undefined || selector.trim() === '') return true;
  return selector.split(',').every((term) => {
    const match = /^\s*([\w.]+)\s*(!=|==?)\s*(.*?)\s*$/.exec(term);
    if (match === null) throw new TypeError(`unreadable field selector ${JSON.stringify(term)}`);
    const [, path = '', operator, wanted] = match;
    const found = path.split('.').reduce<unknown>((value, key) => Reflect.get(Object(value), key), object);
    return (String(found ?? '') === wanted) === (operator !== '!=');
  });
}

function matchesTerm(labels: Readonly<Record<string, string>>, term: string): boolean {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term);
  if (set !== null) {
    const [, key = '', operator, values = ''] = set;
    const listed = values.split(',').some((value) => value.trim() === labels[key]);
    return listed === (operator === 'in');
  }
  const pair = /^(\S+?)\s*(!=|==?)\s*(\S*)$/.exec(term);
  if (pair !== null) {
    const [, key = '', operator, value] = pair;
    return (labels[key] === value) === (operator !== '!=');
  }
  if (term.startsWith('!')) return labels[term.slice(1)] === undefined;
  if (/^\S+$/.test(term)) return labels[term] !== undefined;
  throw new TypeError(`unreadable label selector ${JSON.stringify(term)}`);
}
