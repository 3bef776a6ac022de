import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openForge } from '../../../../gitops/forges/forges.ts';
import { forkLabel } from '../../../../manifests/api/etcd-fleet.ts';
import { tools } from '../../../support/cluster/tools.ts';
import { startGitea } from '../../../support/forge/gitea.ts';
import { localNetwork } from '../../../support/network.ts';
import { inTime } from './kinds.ts';

const pair = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

test('a real Gitea takes the label from a stranger: it counts once a maintainer has set it', async (t) => {
  const binary = await tools.gitea.provide();
  if ('missing' in binary) return t.diagnostic(`no Gitea: ${binary.missing}`);
  await using gitea = await startGitea(binary, { host: '127.0.0.1', port: 0 });
  const ask = async (who: string, method: string, path: string, body?: object) => {
    const headers = { authorization: who, 'content-type': 'application/json' };
    const sent = { method, headers, signal: AbortSignal.timeout(30_000), ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(`${gitea.apiUrl}${path}`, sent);
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as { readonly id?: number; readonly number?: number });
  };
  const ada = pair('ada', gitea.password ?? assert.fail());
  const mallory = pair('mallory', 'mallory-mallory-1');
  const account = { username: 'mallory', email: 'm@example.com', password: 'mallory-mallory-1' };
  await ask(ada, 'POST', '/admin/users', { ...account, must_change_password: false });
  await ask(ada, 'POST', '/user/repos', { name: 'open', auto_init: true, default_branch: 'main' });
  const { id: label } = await ask(ada, 'POST', '/repos/ada/open/labels', { name: forkLabel, color: '#00aabb' });
  await ask(mallory, 'POST', '/repos/ada/open/forks', {});
  const file = { content: Buffer.from('mine').toString('base64'), message: 'Add a file', new_branch: 'mine' };
  await ask(mallory, 'POST', '/repos/mallory/open/contents/mine.yaml', file);
  const asked = { head: 'mallory:mine', base: 'main', title: 'mine', labels: [label] };
  const { number } = await ask(mallory, 'POST', '/repos/ada/open/pulls', asked);

  const forge = openForge('Gitea', {
    gitUrl: `${new URL(gitea.gitUrl).origin}/ada/open.git`,
    apiURL: gitea.apiUrl,
    credentials: { kind: 'token', token: gitea.token },
    network: localNetwork,
  });
  const { labelProof } = forge;
  assert.ok(typeof labelProof === 'object');
  const look = async () => {
    const [request] = (await forge.openRequests('main', inTime())).requests;
    assert.ok(request?.fork);
    return [request.labelled, await labelProof.asks(request, inTime())];
  };
  assert.deepEqual(await look(), [true, false]);
  await ask(ada, 'DELETE', `/repos/ada/open/issues/${number}/labels/${label}`);
  assert.deepEqual(await look(), [false, false]);
  await ask(ada, 'POST', `/repos/ada/open/issues/${number}/labels`, { labels: [label] });
  assert.deepEqual(await look(), [true, true]);
  await ask(mallory, 'DELETE', '/repos/mallory/open');
  assert.deepEqual(await forge.openRequests('main', inTime()), { requests: [] }, 'Gitea closes what has no fork');
});
