import fc from 'fast-check';
import { GitError } from '../../../gitops/git/error.ts';
import { openPacks, treeOf as openTree } from '../../../gitops/git/tree.ts';
import { parseAdvertisement } from '../../../gitops/git/wire/advertisement.ts';
import { readPackAnswer } from '../../../gitops/git/wire/pack.ts';
import { encodePacket, packets } from '../../../gitops/git/wire/pktline.ts';
import { readDocuments } from '../../../gitops/specs/documents.ts';
import {
  commitOf,
  distance,
  kinds,
  nameOf,
  packBody,
  packEntry,
  size,
  summed,
  treeOf,
} from '../../support/git/pack.ts';
import { mutated, withOneByteChanged } from '../mutate.ts';
import { target } from '../target.ts';

const sha = 'a'.repeat(40);
const advertisement = [
  encodePacket('# service=git-upload-pack\n'),
  '0000',
  encodePacket(`${sha} HEAD\0multi_ack side-band-64k object-format=sha1\n`),
  encodePacket(`${sha} refs/heads/main\n`),
  encodePacket(`${sha} refs/tags/v1^{}\n`),
  '0000',
].join('');

export const packetTarget = target({
  name: 'pkt-lines and refs',
  inputs: mutated(fc.constantFrom(advertisement, encodePacket('NAK\n')), [
    '0000',
    '0001',
    '0004',
    'ffff',
    'ERR ',
    sha,
    '\0',
  ]),
  variants: (bytes: Buffer) => withOneByteChanged(bytes),
  try: async (bytes: Buffer) => {
    onlyGitErrors(() => Array.from(packets(bytes)));
    onlyGitErrors(() => parseAdvertisement(bytes));
    onlyGitErrors(() => readPackAnswer(bytes));
  },
});

function onlyGitErrors(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
  }
}

/**
 * Objects of a commit with a folder and two files of which one is a delta of the other: every kind of entry there is.
 */
const objects = (() => {
  const file = Buffer.from('apiVersion: etcd.ratchet.dev/v1alpha1\nkind: EtcdCluster\nmetadata: {name: a}\n'.repeat(3));
  const other = Buffer.concat([file, Buffer.from('x')]);
  const folder = treeOf([
    ['100644', 'a.yaml', nameOf('blob', file)],
    ['100644', 'b.yaml', nameOf('blob', other)],
  ]);
  const root = treeOf([
    ['40000', 'c', nameOf('tree', folder)],
    ['120000', 'l', nameOf('blob', file)],
  ]);
  const commit = commitOf(nameOf('tree', root));
  const delta = Buffer.from([
    ...size(file.length),
    ...size(other.length),
    0x80 | 0x10 | 0x20,
    file.length & 255,
    file.length >> 8,
    1,
    120,
  ]);
  return { file, folder, root, commit, delta, name: nameOf('commit', commit).toString('hex') };
})();

interface Cuts {
  readonly file: Uint8Array;
  readonly folder: Uint8Array;
  readonly root: Uint8Array;
  readonly commit: Uint8Array;
  readonly delta: Uint8Array;
}

const rarely = (good: Buffer) => fc.oneof({ weight: 3, arbitrary: fc.constant(good) }, mutated(fc.constant(good)));
const contents: fc.Arbitrary<Cuts> = fc.record({
  file: rarely(objects.file),
  folder: rarely(objects.folder),
  root: rarely(objects.root),
  commit: rarely(objects.commit),
  delta: rarely(objects.delta),
});
/**
 * Damage inside of the objects, with all lengths and sums right; or to the pack's own bytes, with the sum made anew.
 */
const packed = fc.tuple(contents, fc.boolean()).map(([cuts, byName]) => bodyOf(cuts, byName));
const packs = fc.oneof(packed, mutated(packed)).map(summed);

export const packTarget = target({
  name: 'packs',
  inputs: packs,
  variants: (pack: Buffer) => withOneByteChanged(pack.subarray(0, -20)).map(summed),
  try: async (pack: Buffer) => {
    const revision = { ref: 'main', sha: objects.name };
    const answer = Buffer.concat([framed(pack), Buffer.from('0000')]);
    try {
      const read = readPackAnswer(answer);
      if (read.kind === 'pack')
        await readDocuments(await openTree(await openPacks([read.pack], revision), revision), '.');
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
    }
  },
});

function bodyOf({ file, folder, root, commit, delta }: Cuts, byName: boolean): Buffer {
  const first = packEntry(kinds.blob, file);
  const change = byName
    ? packEntry(kinds.refDelta, delta, { base: nameOf('blob', file) })
    : packEntry(kinds.ofsDelta, delta, { base: distance(first.length) });
  const rest = [packEntry(kinds.tree, folder), packEntry(kinds.tree, root), packEntry(kinds.commit, commit)];
  return packBody(first, change, ...rest);
}

function framed(pack: Buffer): Buffer {
  const data = Buffer.concat([Buffer.from([1]), pack]);
  return Buffer.concat([Buffer.from((data.length + 4).toString(16).padStart(4, '0')), data]);
}
