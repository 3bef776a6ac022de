import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readCommit } from '../../../gitops/git/commit.ts';
import { git } from '../../support/git/git.ts';
import { startGitServer } from '../../support/git/server.ts';
import { specText } from '../../unit/gitops/specs.ts';
import { fetched, rootOf, source, specsOf } from './scene.ts';

/** Commits and trees that other tools wrote, and Git reads. */

const server = await startGitServer();
after(() => server.stop());
const repository = await server.createRepository('r');
const parent = await repository.commit({ 'a.yaml': 'x: 1\n' });
const tree = await repository.git('rev-parse', 'main^{tree}');
const ada = 'Ada <ada@example.com> 1700000000 +0000';

function commitText(author: string, committer = ada, more = ''): string {
  return `tree ${tree}\nparent ${parent}\nauthor ${author}\ncommitter ${committer}\n${more}\nA message\n`;
}

const both = (who: string) => commitText(who, who);

for (const [what, text] of [
  ['no name (amazon-eks-ami)', both('<ada@example.com> 1700000001 +0000')],
  ['an empty name', both(' <ada@example.com> 1700000001 +0000')],
  ['no space before the address (LibreOffice)', both('Ada<ada@example.com> 1700000001 +0200')],
  ['an address in the name', both('Ada<a <Ada<a@example.com>> 1700000001 +0200')],
  ['no address', both('Ada <> 1700000001 +0000')],
  ['no date', both('Ada <ada@example.com>')],
  ['two authors (FreeSWITCH)', commitText(`${ada}\nauthor ${ada}`)],
  ['a zone of six digits (rails)', both('Ada <a@x> 1700000001 +051800')],
  ['a zone with a colon', both('Ada <a@x> 1700000001 +00:00')],
  ['a zone of one digit', both('Ada <a@x> 1700000001 -7')],
  ['a zone in letters', both('Ada <a@x> 1700000001 UTC')],
  ['no zone', both('Ada <a@x> 1700000001')],
  ['letters of another encoding', both('Ad\u00e9 <a@x> 1700000001 +0000')],
  ['a signature', commitText(ada, ada, 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----\n')],
  ['no message', `tree ${tree}\nparent ${parent}\nauthor ${ada}\ncommitter ${ada}\n`],
  ['no end of line', `tree ${tree}\nparent ${parent}\nauthor ${ada}\ncommitter ${ada}`],
  ['two parents', `tree ${tree}\nparent ${parent}\nparent ${parent}\nauthor ${ada}\ncommitter ${ada}\n\nm\n`],
  ['a parent in its message', `tree ${tree}\nauthor ${ada}\ncommitter ${ada}\n\nparent ${parent}\n`],
] as const) {
  test(`a commit with ${what} is read as Git reads it`, async () => {
    const bytes = Buffer.from(text, 'latin1');
    const sha = await git(repository.directory, ['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], bytes);
    await repository.git('update-ref', 'refs/heads/main', sha);
    assert.deepEqual(await rootOf(await fetched(source(repository.url))), ['a.yaml']);
    const [theirTree, parents = ''] = (await repository.git('log', '-1', '--format=%T%n%P', sha)).split('\n');
    const ours = readCommit(bytes);
    assert.deepEqual([ours.tree, ours.parents.join(' ')], [theirTree, parents]);
    const [time] = (await repository.git('rev-list', '-1', '--timestamp', sha)).split(' ');
    // Where this version of Git gives up on the time, it has 0: newer ones read more.
    assert.ok(time === '0' || ours.at === Number(time), `${ours.at}, and ${time} for Git`);
    assert.equal(ours.at, Number(/170000000\d/.exec(text)?.[0] ?? 0));
  });
}

test('names of files that are no UTF-8 stay apart, and their documents are read', async () => {
  const blobs = await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      git(repository.directory, ['hash-object', '-w', '--stdin'], Buffer.from(specText(name))),
    ),
  );
  const names = [
    Buffer.from('caf\u00e9.yaml', 'latin1'),
    Buffer.from('caf\u00e8.yaml', 'latin1'),
    Buffer.from('café.yaml'),
  ];
  const lines = names.flatMap((name, n) => [Buffer.from(`100644 blob ${blobs[n]}\t`), name, Buffer.from('\0')]);
  const odd = await git(repository.directory, ['mktree', '-z'], Buffer.concat(lines));
  const text = commitText(ada).replace(tree, odd);
  const sha = await git(repository.directory, ['hash-object', '-t', 'commit', '-w', '--stdin'], Buffer.from(text));
  await repository.git('update-ref', 'refs/heads/main', sha);
  const { specs, problems } = await specsOf(source(repository.url));
  assert.deepEqual(problems, []);
  assert.deepEqual(
    specs.map(({ name, file }) => [name, file]),
    [
      ['a', 'caf\\351.yaml'],
      ['b', 'caf\\350.yaml'],
      ['c', 'café.yaml'],
    ],
  );
});
