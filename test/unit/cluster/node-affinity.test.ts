import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { NodeSelectorTerm } from '../../../manifests/kube-types.ts';
import { isHomeOf } from '../../../reconcile/cluster/know/volumes/node-affinity.ts';

const home = { name: 'node-1', labels: { 'kubernetes.io/hostname': 'host-1', disks: '4', zone: 'a', plain: 'x4' } };

const matches = (...nodeSelectorTerms: readonly NodeSelectorTerm[]) =>
  isHomeOf({ spec: { nodeAffinity: { required: { nodeSelectorTerms } } } }, home);
const expression = (key: string, operator: string, ...values: readonly string[]) =>
  matches({ matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }] });
const field = (operator: string, value: string, key = 'metadata.name') =>
  matches({ matchFields: [{ key, operator, values: [value] }] });

const a = { key: 'zone', operator: 'In', values: ['a'] };
const b = { key: 'zone', operator: 'In', values: ['b'] };

for (const [what, found, expected] of [
  ['no affinity', isHomeOf({ spec: {} }, home), true],
  ['no spec that was read', isHomeOf({}, home), true],
  ['an affinity without a required one', isHomeOf({ spec: { nodeAffinity: {} } }, home), true],
  ['no term', matches(), false],
  ['an empty term', matches({}), false],
  ['a term of empty lists', matches({ matchExpressions: [], matchFields: [] }), false],
  ['an empty term beside one that matches', matches({}, { matchExpressions: [a] }), true],
  ['its host', expression('kubernetes.io/hostname', 'In', 'host-0', 'host-1'), true],
  ['other hosts', expression('kubernetes.io/hostname', 'In', 'host-0', 'host-2'), false],
  ['one of a label that it lacks', expression('rack', 'In', ''), false],
  ['not in another zone', expression('zone', 'NotIn', 'b'), true],
  ['not in its zone', expression('zone', 'NotIn', 'b', 'a'), false],
  ['not in, of a label that it lacks', expression('rack', 'NotIn', 'b'), true],
  ['a label that is there', expression('zone', 'Exists'), true],
  ['a label that is not there', expression('rack', 'Exists'), false],
  ['no label that is there', expression('zone', 'DoesNotExist'), false],
  ['no label that is not there', expression('rack', 'DoesNotExist'), true],
  ['more disks than it has', expression('disks', 'Gt', '4'), false],
  ['fewer disks than it has', expression('disks', 'Gt', '3'), true],
  ['a number below', expression('disks', 'Lt', '10'), true],
  ['a number above', expression('disks', 'Lt', '-1'), false],
  ['a number, where the label is none', expression('plain', 'Gt', '1'), false],
  ['a number, where there is no label', expression('rack', 'Lt', '1'), false],
  ['its name', field('In', 'node-1'), true],
  ['another name', field('In', 'node-2'), false],
  ['any but another name', field('NotIn', 'node-2'), true],
  ['any but its name', field('NotIn', 'node-1'), false],
  ['two terms, of which one matches', matches({ matchExpressions: [b] }, { matchExpressions: [a] }), true],
  ['two terms, of which none matches', matches({ matchExpressions: [b] }, { matchExpressions: [b] }), false],
  ['two expressions, of which one matches', matches({ matchExpressions: [a, b] }), false],
  [
    'an expression that matches and a field that does not',
    matches({ matchExpressions: [a], matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }] }),
    false,
  ],
  // Never homeless on a guess.
  ['an operator that we do not know', expression('zone', 'StartsWith', 'b'), true],
  ['a field that we do not know', field('In', 'b', 'spec.zone'), true],
  ['a limit that is no number', expression('disks', 'Gt', '4Gi'), true],
] as const) {
  test(`${expected ? 'a node matches' : 'no node matches'}: ${what}`, () => assert.equal(found, expected));
}

test('terms are ORed, and expressions are ANDed, whatever they are', () => {
  const key = fc.constantFrom('zone', 'rack', 'disks');
  const requirement = fc.record({
    key,
    operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
    values: fc.array(fc.constantFrom('a', 'b', '3', '5'), { minLength: 1, maxLength: 2 }),
  });
  const term = fc.record({ matchExpressions: fc.array(requirement, { maxLength: 3 }) });
  fc.assert(
    fc.property(fc.array(term, { maxLength: 3 }), (terms) => {
      assert.equal(
        matches(...terms),
        terms.some(
          ({ matchExpressions }) =>
            matchExpressions.length > 0 && matchExpressions.every((one) => matches({ matchExpressions: [one] })),
        ),
      );
    }),
  );
});
