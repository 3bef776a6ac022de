import { matching } from './rule.ts';

/** What the API server takes for keys and values of labels. */

const valuePattern = '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$';

export const labelValue = matching(
  valuePattern,
  'must be the value of a label: letters, digits, "-", "_" and ".", or empty',
);
/** By the API server: a prefix of at most 253 characters, and a name of at most 63. */
const labelKey =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$';
export function celOfLabelKey(key: string): string {
  return `${key}.matches('${labelKey}') && ${key}.indexOf('/') <= 253`;
}

export function isLabelKey(key: string): boolean {
  return key.length <= 317 && new RegExp(labelKey).test(key) && key.indexOf('/') <= 253;
}

export function isLabelValue(value: string): boolean {
  return value.length <= 63 && new RegExp(valuePattern).test(value);
}
