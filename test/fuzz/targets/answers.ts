import assert from 'node:assert/strict';
import fc from 'fast-check';
import { GitError } from '../../../gitops/git/error.ts';
import { advertisementReader, parseAdvertisement } from '../../../gitops/git/wire/advertisement.ts';
import { packReader, readPackAnswer } from '../../../gitops/git/wire/pack.ts';
import { encodePacket } from '../../../gitops/git/wire/pktline.ts';
import { kinds, packEntry, packOf } from '../../support/git/pack.ts';
import { mutated, withOneByteChanged } from '../mutate.ts';
import { target } from '../target.ts';

const sha = 'a'.repeat(40);
const advertisement = Buffer.from(
  [
    encodePacket('# service=git-upload-pack\n'),
    '0000',
    encodePacket(`${sha} HEAD\0multi_ack side-band-64k filter object-format=sha1\n`),
    encodePacket(`${sha} refs/heads/main\n`),
    '0000',
  ].join(''),
);
const pack = packOf(packEntry(kinds.blob, Buffer.from('hello')), packEntry(kinds.tree, Buffer.alloc(0)));
const band = (kind: number, data: Uint8Array) => encodedBytes(Buffer.concat([Buffer.from([kind]), data]));
const answer = Buffer.concat([
  Buffer.from(encodePacket('shallow-info\n')),
  Buffer.from(encodePacket(`shallow ${sha}\n`)),
  Buffer.from(`0001${encodePacket('packfile\n')}`),
  band(2, Buffer.from('Counting\r')),
  band(1, pack.subarray(0, 20)),
  band(1, pack.subarray(20)),
  Buffer.from('0000'),
]);

function encodedBytes(data: Buffer): Buffer {
  return Buffer.concat([Buffer.from((data.length + 4).toString(16).padStart(4, '0')), data]);
}

interface Input {
  readonly bytes: Buffer;
  /** Where it is cut: answers arrive in pieces of any size. */
  readonly cuts: readonly number[];
}

const words = ['0000', '0001', '0002', '0003', '0004', 'ffff', 'ERR ', 'shallow ', sha];

export const answerTarget = target<Input>({
  name: 'Git answers in pieces',
  inputs: fc.record({
    bytes: mutated(fc.constantFrom(advertisement, answer), words),
    cuts: fc.array(fc.nat(400), { maxLength: 5 }),
  }),
  variants: ({ bytes, cuts }) => withOneByteChanged(bytes).map((changed) => ({ bytes: changed, cuts })),
  try: async ({ bytes, cuts }) => {
    const ends = [...cuts, bytes.length].toSorted((a, b) => a - b);
    const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
    const refs = () => {
      const reader = advertisementReader();
      for (const piece of pieces) reader.push(piece);
      reader.end();
      return reader.found;
    };
    const packs = () => {
      using reader = packReader();
      for (const piece of pieces) reader.push(piece);
      return reader.end();
    };
    assert.deepEqual(
      outcome(refs),
      outcome(() => parseAdvertisement(bytes)),
    );
    assert.deepEqual(
      outcome(packs),
      outcome(() => readPackAnswer(bytes)),
    );
  },
});

/** What comes of it, or why nothing does. */
function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof GitError) return error.message;
    throw error;
  }
}
