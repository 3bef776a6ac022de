import type { NetworkSource } from '../../../manifests/api/network-policy.ts';

/** Sources of a network policy at the edge of what the API server takes. */

const prefix = (length: number) => `${'a.'.repeat((length - 1) / 2)}a`;
const label = (length: number) => 'k'.repeat(length);
const labelled = (key: string): NetworkSource => ({ podSelector: { matchLabels: { [key]: 'x' } } });
const expressed = (key: string): NetworkSource => ({
  namespaceSelector: { matchExpressions: [{ key, operator: 'Exists' }] },
});
const without = (cidr: string, ...except: readonly string[]): NetworkSource => ({ ipBlock: { cidr, except } });

const goodKeys = [label(63), `${prefix(253)}/${label(63)}`, 'a-b.c/A_b.C-9', `${label(100)}.example.com/x`, '9/9'];
const badKeys = [
  '',
  'a b',
  '-a',
  'a-',
  '/a',
  'a/',
  'a/b/c',
  'A.example.com/a',
  'a..b/c',
  'a.-b/c',
  'a-.b/c',
  '.a/c',
  'a./c',
  'a\n',
  'é',
  label(64),
  `example.com/${label(64)}`,
  `${prefix(255)}/a`,
];

export const takenSources: readonly NetworkSource[] = [
  ...goodKeys.flatMap((key) => [labelled(key), expressed(key)]),
  { podSelector: { matchLabels: { a: label(63) } } },
  without('0.0.0.0/0', '0.0.0.0/1', '255.255.255.255/32', '10.128.0.0/9'),
  without('10.0.0.0/8', '10.255.0.0/16', '10.1.2.3/32'),
  without('::/0', '::/1', 'fd00::/8', '::1.2.3.4/128'),
  without('FD00::/8', 'fd12:3456::/32', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128'),
];

const notAKey = 'must be the key of a label';
const badKeysSaid = 'must have keys of labels';
const outside = 'must lie inside of cidr';
/** Of these, the API server has refused the policy since Kubernetes 1.36. */
export const beyond = 'must have no bits set beyond its prefix';

/** Each with part of what is said, and the path below the source. */
export const refusedSources: readonly (readonly [NetworkSource, says: string, path: readonly (string | number)[]])[] = [
  ...badKeys.map((key) => [labelled(key), badKeysSaid, ['podSelector', 'matchLabels']] as const),
  ...badKeys
    .filter((key) => key.length <= 317)
    .map((key) => [expressed(key), notAKey, ['namespaceSelector', 'matchExpressions', 0, 'key']] as const),
  [labelled(label(318)), badKeysSaid, ['podSelector', 'matchLabels']],
  [expressed(label(318)), 'at most 317', ['namespaceSelector', 'matchExpressions', 0, 'key']],
  ...[
    without('10.0.0.0/8', '10.0.0.0/8'),
    without('10.0.0.0/8', '11.0.0.0/16'),
    without('10.0.0.0/8', '0.0.0.0/0'),
    without('10.0.0.0/8', '10.0.0.0/7'),
    without('10.0.0.0/8', '10.1.0.0/16', '9.255.0.0/16'),
    without('10.0.0.1/32', '10.0.0.1/32'),
    without('0.0.0.0/0', '::/1'),
    without('::/0', '10.0.0.0/8'),
    without('fd00::/8', 'FD00::/8'),
    without('fd00::/8', 'fc00::/7'),
    without('fd00::/8', 'fe00::/16'),
    without('::a00:0/104', '10.0.0.0/16'),
  ].map((source) => [source, outside, ['ipBlock', 'except']] as const),
  ...['10.0.0.1/8', '10.0.0.0/6', '0.0.0.1/0', 'fd00::1/8', '::1/127', '::1.2.3.4/96'].map(
    (cidr) => [{ ipBlock: { cidr } }, beyond, ['ipBlock', 'cidr']] as const,
  ),
  [without('10.0.0.0/8', '10.1.0.1/16'), beyond, ['ipBlock', 'except', 0]],
];
