import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import type { Answer, MergeTask, Task } from '../../../functions/read/task.ts';
import { createWorkshop } from '../../../functions/read/work.ts';
import type { GitCredentials } from '../../../gitops/git/source.ts';
import { termsIn } from '../../../gitops/git/terms.ts';
import { countingReceived } from '../../bench/received.ts';
import { startGitServer } from '../../support/git/server.ts';
import { specText } from '../../unit/gitops/specs.ts';
import { fleet } from '../../unit/serve/installation.ts';

/** A thread fetches only what is new since what it has fetched before, and comes to the same as one that begins. */

const server = await startGitServer({ needs: ['filter', 'direct'] });
after(() => server.stop());

const kib = 1024;
const path = 'clusters';
/** What a fetch that begins anew brings, and one that does not. */
const heavy = Object.fromEntries(
  Array.from({ length: 300 }, (_, n) => [`media/part-${n}/file.bin`, randomBytes(kib).toString('base64')]),
);

/** As git's own server says it. */
const capabilitiesOf = (filter: boolean) => [
  'multi_ack_detailed',
  'side-band-64k',
  'ofs-delta',
  'shallow',
  ...(filter ? ['filter'] : []),
];

type Work = ReturnType<typeof createWorkshop>;

async function repositoryOf(name: string, filter: boolean) {
  const repository = await server.createRepository(name);
  await repository.git('config', 'uploadpack.allowFilter', String(filter));
  const first = await repository.commit({
    ...heavy,
    'clusters/a.yaml': specText('a'),
    'clusters/b.yaml': specText('b'),
  });
  return { repository, first };
}

const about = {
  metadata: fleet('production').metadata,
  spec: { ...fleet('production').spec, git: { url: 'x', ref: 'main', path } },
};
const signal = () => AbortSignal.timeout(30_000);
const done = (work: Work, task: Task) => work(task, { signal: signal(), onFile: () => undefined });

function read(work: Work, url: string, sha: string, filter: boolean, credentials?: GitCredentials): Promise<Answer> {
  const source = { url, ref: 'main', path, ...(credentials && { credentials }) };
  return done(work, {
    kind: 'read',
    source,
    fleet: about,
    revision: { ref: 'main', sha },
    terms: termsIn(url, { version: 0, capabilities: capabilitiesOf(filter) }),
  });
}

function merge(work: Work, url: string, commits: Pick<MergeTask, 'head' | 'target'>): Promise<Answer> {
  return done(work, {
    kind: 'merge',
    source: { url, ref: 'main', path },
    fleet: about,
    targetBranch: 'main',
    ...commits,
  });
}

function namesIn(answer: Answer): readonly string[] {
  assert.equal(answer.kind, 'read', JSON.stringify(answer));
  const { tree } = answer as Extract<Answer, { kind: 'read' }>;
  return tree.specs.map(({ name, file }) => `${file} ${name}`);
}

for (const [what, filter] of [
  ['that can leave files out', true],
  ['that can not', false],
] as const) {
  describe(`from a server ${what}`, () => {
    const name = (rest: string) => `${rest}-${filter}`;

    test('one more commit brings what it changed, and no more', async () => {
      const { repository, first } = await repositoryOf(name('one'), filter);
      using received = await countingReceived(repository.url);
      const work = createWorkshop();
      const whole = await received.during(async (url) => {
        assert.deepEqual(namesIn(await read(work, url, first, filter)), ['clusters/a.yaml a', 'clusters/b.yaml b']);
      });
      const second = await repository.commit({ 'clusters/b.yaml': specText('c') }, { keep: true });
      const more = await received.during(async (url) => {
        assert.deepEqual(namesIn(await read(work, url, second, filter)), ['clusters/a.yaml a', 'clusters/b.yaml c']);
      });
      assert.ok(more < 4 * kib && whole > 5 * more, `${whole} bytes, then ${more}`);
      const again = await received.during(async (url) => {
        assert.deepEqual(namesIn(await read(work, url, first, filter)), ['clusters/a.yaml a', 'clusters/b.yaml b']);
      });
      assert.ok(again < 4 * kib, `back to the commit before: ${again} bytes`);
    });

    test('a history that was written anew is read as it is', async () => {
      const { repository, first } = await repositoryOf(name('anew'), filter);
      const work = createWorkshop();
      await read(work, repository.url, first, filter);
      const other = await repository.commit({ 'clusters/z.yaml': specText('z') }, { orphan: true });
      await repository.git('gc', '--prune=now', '--quiet');
      assert.deepEqual(namesIn(await read(work, repository.url, other, filter)), ['clusters/z.yaml z']);
    });

    test('requests of a branch are each compared with what the one before has brought', async () => {
      const { repository } = await repositoryOf(name('requests'), filter);
      for (let n = 0; n < 30; n++) await repository.commit({ 'notes.md': `${n}` }, { keep: true });
      const target = await repository.git('rev-parse', 'main');
      const heads: string[] = [];
      for (let n = 0; n < 4; n++) {
        await repository.git('branch', `ask-${n}`, 'main');
        heads.push(
          await repository.commit(
            { [`clusters/new-${n}.yaml`]: specText(`n-${n}`) },
            { branch: `ask-${n}`, keep: true },
          ),
        );
      }
      using received = await countingReceived(repository.url);
      const work = createWorkshop();
      const bytes: number[] = [];
      for (const [n, head] of heads.entries()) {
        const afresh = await merge(createWorkshop(), repository.url, { head, target });
        bytes.push(
          await received.during(async (url) => {
            const answer = await merge(work, url, { head, target });
            assert.deepEqual(answer, afresh, `request ${n}`);
            assert.ok(answer.kind === 'merge' && answer.trees?.kind === 'trees');
            assert.ok(answer.trees.after.specs.some((spec) => spec.name === `n-${n}`));
          }),
        );
      }
      const [whole = 0, ...later] = bytes;
      for (const one of later) assert.ok(one < 6 * kib && whole > 5 * one, bytes.join());
    });
  });
}

test('nothing is kept of what lacks something: the next one begins anew', async () => {
  const { repository, first } = await repositoryOf('lacking', true);
  const work = createWorkshop();
  const missing = await read(work, repository.url, 'f'.repeat(40), true);
  assert.equal(missing.kind, 'failed');
  assert.equal(namesIn(await read(work, repository.url, first, true)).length, 2);
});

test('what one Secret opened is not given to who shows another', async () => {
  const { repository, first } = await repositoryOf('apart', false);
  using received = await countingReceived(repository.url);
  const work = createWorkshop();
  const asked = (token: string) =>
    received.during(async (url) => void namesIn(await read(work, url, first, false, { token })));
  const [own, others] = [await asked('a'), await asked('b')];
  assert.ok(others > own / 2, `${own} bytes, then ${others}`);
});
