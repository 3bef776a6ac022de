import { git } from './git.ts';
import { kinds, nameOf, packEntry, packOf } from './pack.ts';
import type { Repository } from './repository.ts';
import { type Sign, withSignature } from './signed-objects.ts';

interface Chain {
  /** The commit that the chain begins on. */
  readonly from: string;
  readonly count: number;
  /** Absent for a commit that is not signed. @param index from 0 */
  readonly sign: (index: number) => Sign | undefined;
}

/** So many commits on one another, with the files of the first, in one pack: a process for each would take minutes. */
export async function pushChain(repository: Repository, { from, count, sign }: Chain): Promise<readonly string[]> {
  const tree = await repository.git('rev-parse', `${from}^{tree}`);
  const entries: Buffer[] = [];
  const names: string[] = [];
  for (let index = 0; index < count; index++) {
    const who = `Ada <ada@example.com> ${1_700_000_000 + index} +0000`;
    const plain = Buffer.from(
      `tree ${tree}\nparent ${names.at(-1) ?? from}\nauthor ${who}\ncommitter ${who}\n\nChange ${index}\n`,
    );
    const by = sign(index);
    const commit = by ? await withSignature(plain, by) : plain;
    entries.push(packEntry(kinds.commit, commit));
    names.push(nameOf('commit', commit).toString('hex'));
  }
  await git(repository.directory, ['index-pack', '--stdin'], packOf(...entries));
  await repository.git('update-ref', 'refs/heads/main', names.at(-1) ?? from);
  return names;
}
