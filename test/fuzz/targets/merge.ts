import assert from 'node:assert/strict';
import fc from 'fast-check';
import { mergeText } from '../../../gitops/merge/merge-text.ts';
import { mutated, withOneByteChanged } from '../mutate.ts';
import { target } from '../target.ts';

const text = fc
  .array(fc.constantFrom('a', 'b', 'c: 1', '', 'd\r', '- x'), { maxLength: 60 })
  .map((lines) => lines.join('\n'));

export const mergeTarget = target({
  name: 'merge',
  inputs: text.chain((base) =>
    fc.tuple(fc.constant(Buffer.from(base)), mutated(fc.constant(base)), mutated(fc.constant(base))),
  ),
  variants: ([base, head, other]) =>
    withOneByteChanged(head).map((changed): [Buffer<ArrayBuffer>, Buffer, Buffer] => [base, changed, other]),
  try: async ([base, head, other]: readonly [Uint8Array, Uint8Array, Uint8Array]) => {
    mergeText(base, head, other);
    // What only one side changed is what that side made of it.
    for (const result of [mergeText(base, head, base), mergeText(base, base, head)])
      if (result.kind === 'merged') assert.deepEqual(Buffer.from(result.bytes), Buffer.from(head));
  },
});
