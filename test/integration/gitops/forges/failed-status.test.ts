import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ForgeError } from '../../../../gitops/forges/error.ts';
import { openForge } from '../../../../gitops/forges/forges.ts';
import { tools } from '../../../support/cluster/tools.ts';
import { askAt } from '../../../support/forge/client.ts';
import { startGitea } from '../../../support/forge/gitea.ts';
import { replyJson, startRecorder } from '../../../support/git/recorder.ts';
import { localNetwork } from '../../../support/network.ts';
import { inTime, kindOf, kinds, open, type SampleStatus, sha } from './kinds.ts';

const others: readonly SampleStatus[] = [
  { context: 'etcd-ratchet/production', state: 'failure' },
  { context: 'ci/build', state: 'success' },
];

for (const kind of kinds) {
  const failed = async (samples: readonly SampleStatus[], contexts: readonly string[]) => {
    await using server = await startRecorder((asked, response) => {
      const told = kind.statuses(samples, asked);
      if (asked.path.endsWith('/repos/etcd')) replyJson(response, { id: 1 });
      else if (told === undefined) replyJson(response, { errors: [{ message: 'no such build' }] }, 404);
      else replyJson(response, told);
    });
    return await open(kind, server.url).failedStatus(sha, contexts, inTime());
  };

  test(`${kind.type}: a status that is asked for is failed when it says so, or ended in an error`, async () => {
    const of = (state: SampleStatus['state']) => failed([...others, { context: 'ci/smoke', state }], ['ci/smoke']);
    assert.deepEqual(await Promise.all((['success', 'pending', 'failure', 'error'] as const).map(of)), [
      undefined,
      undefined,
      'ci/smoke',
      'ci/smoke',
    ]);
  });

  test(`${kind.type}: of several the first that failed is told, and one that is not there is none`, async () => {
    const samples = [...others, { context: 'b', state: 'failure' }, { context: 'c', state: 'failure' }] as const;
    assert.equal(await failed(samples, ['a', 'b', 'c']), 'b');
    assert.equal(await failed(samples, ['a', 'ci/build']), undefined);
    assert.equal(await failed([], ['a']), undefined);
  });

  test(`${kind.type}: any answer is one of the contexts, or none, or a clear error`, async () => {
    await using server = await startRecorder();
    const odd = fc.oneof(fc.jsonValue(), fc.constantFrom('__proto__', 'smoke', 'failure', 'FAILED'));
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 9 }),
        odd,
        fc.constantFrom(200, 200, 404, 500),
        async (at, by, code) => {
          server.answerWith((asked, response) => {
            const told = JSON.stringify(kind.statuses([{ context: 'smoke', state: 'failure' }], asked) ?? null);
            const parts = told.split(/(?<=[:,[{])/);
            const body = parts.map((part, index) => (index === at ? JSON.stringify(by) : part)).join('');
            response.writeHead(code, { 'content-type': 'application/json' }).end(at === 0 ? JSON.stringify(by) : body);
          });
          try {
            assert.ok(
              [undefined, 'smoke'].includes(await open(kind, server.url).failedStatus(sha, ['smoke'], inTime())),
            );
          } catch (error) {
            if (!(error instanceof ForgeError)) throw error;
            assert.doesNotMatch(error.message, /[\p{Cc}]/u);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
}

test('GitLab: of the jobs of a name, the newest counts', async () => {
  const kind = kindOf('GitLab');
  const jobs = (count: number, state: SampleStatus['state']) => Array(count).fill({ context: 'smoke', state });
  const samples: readonly SampleStatus[] = [...jobs(150, 'failure'), ...jobs(1, 'success')];
  await using server = await startRecorder((asked, response) => replyJson(response, kind.statuses(samples, asked)));
  assert.equal(await open(kind, server.url).failedStatus(sha, ['smoke'], inTime()), undefined);
});

test('a commit of more statuses than a thousand is read to no more than that, and told', async () => {
  const [kind] = kinds;
  const page = Array.from({ length: 100 }, (_, index) => ({ context: `ci/${index}`, state: 'success' }) as const);
  let pages = 0;
  await using server = await startRecorder((asked, response) => {
    pages += 1;
    replyJson(response, kind?.statuses(page, asked));
  });
  await assert.rejects(
    async () => kind && open(kind, server.url).failedStatus(sha, ['smoke'], inTime()),
    (error) => error instanceof ForgeError && /more statuses on the commit than we read/.test(error.message),
  );
  assert.equal(pages, 10);
});

test('a real Gitea tells the newest state of each context, of any sender', async (t) => {
  const binary = await tools.gitea.provide();
  if ('missing' in binary) return t.diagnostic(`no Gitea: ${binary.missing}`);
  await using gitea = await startGitea(binary, { host: '127.0.0.1', port: 0 });
  const ask = askAt(gitea.apiUrl, `token ${gitea.token}`);
  const file = { content: Buffer.from('x').toString('base64'), message: 'Begin', branch: 'main' };
  const made = await ask('POST', '/repos/platform/etcd/contents/x.yaml', file);
  const { sha: at } = (made as { readonly commit: { readonly sha: string } }).commit;
  const { gitUrl, apiUrl: apiURL, token } = gitea;
  const forge = openForge('Gitea', { gitUrl, apiURL, credentials: { kind: 'token', token }, network: localNetwork });
  const set = (context: string, state: string) =>
    ask('POST', `/repos/platform/etcd/statuses/${at}`, { context, state, description: 'by others' });
  const failed = () => forge.failedStatus(at, ['ci/smoke', 'ci/load'], inTime());
  assert.equal(await failed(), undefined);
  for (let n = 0; n < 60; n += 1) await set(`ci/${n}`, 'failure');
  assert.equal(await failed(), undefined);
  await set('ci/load', 'error');
  assert.equal(await failed(), 'ci/load');
  await set('ci/smoke', 'failure');
  assert.equal(await failed(), 'ci/smoke');
  for (const context of ['ci/smoke', 'ci/load']) await set(context, 'success');
  assert.equal(await failed(), undefined);
});
