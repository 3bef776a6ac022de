import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inUnits, parseQuantity } from '../../support/cluster/node/quantity.ts';

for (const [text, number] of [
  ['1', 1],
  ['500m', 0.5],
  ['8Gi', 8 * 2 ** 30],
  ['1.5G', 1.5e9],
  ['1e3', 1000],
  ['128Mi', 2 ** 27],
] as const) {
  test(`${text} is ${number}`, () => assert.equal(parseQuantity(text), number));
}

test('what is no quantity is refused', () => {
  for (const text of ['', 'Gi', '1 Gi', '1GB', 'one']) assert.throws(() => parseQuantity(text), RangeError);
});

for (const [quantity, divisor, units] of [
  ['2', undefined, '2'],
  ['500m', '1', '1'],
  ['500m', '1m', '500'],
  ['100m', '1m', '100'],
  ['256Mi', '1Mi', '256'],
  ['1Gi', '0', String(2 ** 30)],
] as const) {
  test(`${quantity} in units of ${divisor} is ${units}`, () => assert.equal(inUnits(quantity, divisor), units));
}
