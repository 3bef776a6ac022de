import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { openFleetForge } from '../../../functions/pass/fleet-forge.ts';
import { connectFleetGit } from '../../../functions/pass/fleet-git.ts';
import { fleetSecretLabels } from '../../../functions/pass/secret.ts';
import { resolveRef } from '../../../gitops/git/resolve.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { selfSigned } from '../../support/git/certificate.ts';
import { startProxy } from '../../support/git/proxy.ts';
import { replyJson, startRecorder } from '../../support/git/recorder.ts';
import { startGitServer } from '../../support/git/server.ts';
import { inTime, kinds, secret, status } from '../gitops/forges/kinds.ts';

const pem = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

/** An API server that holds this Secret, and a fleet that names it. */
function scene(
  spec: Partial<EtcdFleet['spec']>,
  data?: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> = fleetSecretLabels,
) {
  const kube = createFakeKube({});
  const encoded = Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  if (data) {
    kube.seed(resources.secrets, {
      metadata: { namespace: 'platform', name: 'forge', labels },
      ...{ data: Object.fromEntries(encoded) },
    });
  }
  const fleet = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { namespace: 'platform', name: 'production' },
    spec: { git: { url: 'https://git.example.com/o/r.git', ref: 'main' }, ...spec },
  } as const satisfies EtcdFleet;
  return { fleet, kube };
}

for (const kind of kinds) {
  test(`a fleet that names ${kind.type} tells it, with what its Secret holds`, async () => {
    const tls = selfSigned();
    await using server = await startRecorder((_, response) => replyJson(response, {}, 201), tls);
    const { credentials } = kind;
    const data =
      credentials?.kind === 'basic'
        ? { username: credentials.username, password: credentials.password }
        : { token: `${secret}\n` };
    const { fleet, kube } = scene(
      {
        git: { url: `${server.url}${kind.clone}`, ref: 'main' },
        forge: {
          type: kind.type,
          secretName: 'forge',
          ...(kind.needsApiUrl ? { apiURL: `${server.url}${kind.apiPath}` } : {}),
        },
      },
      { ...data, 'ca.crt': tls.cert },
    );
    const opened = await openFleetForge(fleet, { kube, ...inTime() });
    assert.equal(opened?.kind, 'open');
    if (opened?.kind !== 'open') return;
    await opened.forge.post(status, inTime());
    assert.equal(server.requests[0]?.path, `${kind.apiPath}${kind.statusPath}`);
    assert.equal(server.requests[0]?.headers.authorization, kind.authorization);
  });
}

test('a fleet without a forge has none, and no Secret is read for it', async () => {
  const { fleet, kube } = scene({});
  assert.equal(await openFleetForge(fleet, { kube, ...inTime() }), undefined);
  assert.deepEqual(kube.journal(), []);
});

const gitHub = { type: 'GitHub', secretName: 'forge' } as const;

for (const [name, spec, data, reason, words] of [
  [
    'no Secret',
    { forge: gitHub },
    undefined,
    'InvalidCredentials',
    /no Secret platform\/forge.*spec\.forge\.secretName/,
  ],
  ['an empty Secret', { forge: gitHub }, {}, 'InvalidCredentials', /takes: token, or appId/],
  [
    'an App where none is known',
    { forge: { type: 'GitLab', secretName: 'forge' } },
    { appId: '1', installationId: '2', privateKey: pem },
    'InvalidCredentials',
    /takes: token$/,
  ],
  [
    'an API that is none',
    { forge: { ...gitHub, apiURL: 'https://user:hunter2@x/' } },
    { token: 'hunter2' },
    'InvalidForge',
    /holds credentials/,
  ],
  [
    'a repository that is none of that forge’s',
    { forge: { type: 'AzureDevOps', secretName: 'forge' } },
    { token: 'hunter2' },
    'InvalidForge',
    /must end in \/<project>\/_git\/<repository>/,
  ],
] as const) {
  test(`a fleet with ${name} says so, and nothing is thrown`, async () => {
    const { fleet, kube } = scene(spec, data);
    const opened = await openFleetForge(fleet, { kube, ...inTime() });
    assert.equal(opened?.kind, 'failed');
    if (opened?.kind !== 'failed') return;
    assert.equal(opened.reason, reason);
    assert.match(opened.message, words);
    assert.doesNotMatch(opened.message, /hunter2|PRIVATE/);
  });
}

test('a GitHub App reads the repository by a token for that alone', async () => {
  await using git = await startGitServer({ auth: { token: 'ghs_read' }, needs: ['direct'] });
  const repository = await git.createRepository('platform/etcd');
  const sha = await repository.commit({ a: 'a' });
  await using api = await startRecorder((_, response) =>
    replyJson(response, { token: 'ghs_read', expires_at: new Date(Date.now() + 3_600_000).toISOString() }, 201),
  );
  const spec = {
    git: { url: repository.url, ref: 'main', secretName: 'forge' },
    forge: { ...gitHub, apiURL: api.url },
  };
  const app = { appId: '1', installationId: '42', privateKey: pem };
  const { fleet, kube } = scene(spec, app);
  using connection = await connectFleetGit(fleet, { kube, ...inTime() });
  assert.equal((await resolveRef(connection, inTime().signal)).sha, sha);
  assert.deepEqual(
    api.requests.map(({ path, body }) => [path, body]),
    [['/app/installations/42/access_tokens', { repositories: ['etcd'], permissions: { contents: 'read' } }]],
  );

  api.answerWith((_, response) => replyJson(response, { message: 'Integration not found' }, 404));
  await assert.rejects(connectFleetGit(fleet, { kube, ...inTime() }), { reason: 'RepositoryNotFound' });
  api.answerWith((_, response) => replyJson(response, { message: 'no' }, 401));
  await assert.rejects(connectFleetGit(fleet, { kube, ...inTime() }), {
    reason: 'AuthenticationFailed',
    message: /Secret that git\.secretName names/,
  });
  const half = scene(spec, { appId: '1', privateKey: pem });
  await assert.rejects(connectFleetGit(half.fleet, { kube: half.kube, ...inTime() }), {
    reason: 'InvalidCredentials',
    message: /installationId is missing/,
  });
});

test('the environment names the proxy, for Git and for the forge', async (t) => {
  await using git = await startGitServer();
  const repository = await git.createRepository('r');
  const sha = await repository.commit({ a: 'a' });
  await using api = await startRecorder((_, response) => replyJson(response, {}, 201));
  await using toGit = await startProxy({ leadsTo: git.url });
  await using toApi = await startProxy({ leadsTo: api.url });
  const before = { ...process.env };
  t.after(() => {
    process.env = before;
  });
  const { fleet, kube } = scene(
    { git: { url: 'http://git.invalid/o/r.git', ref: 'main' }, forge: { ...gitHub, type: 'Gitea' } },
    { token: secret },
  );

  // The installation says so: beyond the proxy, the token goes in the open.
  process.env = { ...before, HTTP_PROXY: toApi.url, RATCHET_PLAIN_HTTP_HOSTS: 'git.invalid' };
  const opened = await openFleetForge(fleet, { kube, ...inTime() });
  assert.equal(opened?.kind, 'open');
  if (opened?.kind !== 'open') return;
  await opened.forge.post(status, inTime());
  assert.equal(
    toApi.asked[0],
    `POST http://git.invalid/api/v1${kinds.find(({ type }) => type === 'Gitea')?.statusPath.replace('platform/etcd', 'o/r')}`,
  );

  process.env = { ...before, http_proxy: toGit.url };
  const there = { ...fleet, spec: { ...fleet.spec, git: { ...fleet.spec.git, url: 'http://git.invalid/r.git' } } };
  using connection = await connectFleetGit(there, { kube, ...inTime() });
  assert.equal((await resolveRef(connection, inTime().signal)).sha, sha);
  assert.match(toGit.asked[0] ?? '', /^GET http:\/\/git\.invalid\/r\.git\//);
});

for (const labels of [{}, { 'etcd.ratchet.dev/fleet-secret': 'false' }, { 'etcd.ratchet.dev/fleet': 'true' }]) {
  test(`a Secret with labels ${JSON.stringify(labels)} is sent nowhere, and the cure is named`, async () => {
    await using server = await startRecorder((_, a) => replyJson(a, {}));
    const git = { url: `${server.url}/o/r.git`, ref: 'main', secretName: 'forge' };
    const spec = { git, forge: { type: 'GitHub', apiURL: server.url, secretName: 'forge' } } as const;
    const { fleet, kube } = scene(spec, { token: 'hunter2' }, labels);
    const cure = 'kubectl -n platform label --overwrite secret forge etcd.ratchet.dev/fleet-secret=true';
    const opened = await openFleetForge(fleet, { kube, ...inTime() });
    assert.ok(opened?.kind === 'failed' && opened.reason === 'SecretNotShared');
    assert.ok(opened.message.includes(cure) && opened.message.includes('spec.forge.secretName'), opened.message);
    await assert.rejects(connectFleetGit(fleet, { kube, ...inTime() }), (error: Error) => {
      assert.ok(error.message.includes(cure) && error.message.includes('spec.git.secretName'), error.message);
      return !error.message.includes('hunter2');
    });
    assert.deepEqual(server.requests, []);
  });
}

test('a service account’s token is never sent, whichever fleet names it', async () => {
  await using server = await startRecorder((_, a) => replyJson(a, {}));
  const git = { url: `${server.url}/o/r.git`, ref: 'main', secretName: 'forge' };
  const { fleet, kube } = scene({ git, forge: { type: 'GitHub', apiURL: server.url, secretName: 'forge' } });
  kube.seed(resources.secrets, {
    metadata: { namespace: 'platform', name: 'forge', labels: fleetSecretLabels },
    ...{ type: 'kubernetes.io/service-account-token', data: { token: Buffer.from('mighty').toString('base64') } },
  });
  const signal = AbortSignal.timeout(5_000);
  const opened = await openFleetForge(fleet, { kube, signal });
  assert.ok(opened?.kind === 'failed' && /platform\/forge holds the token of a service account/.test(opened.message));
  await assert.rejects(connectFleetGit(fleet, { kube, signal }), /spec\.git\.secretName/);
  assert.deepEqual(server.requests, []);
});

test('over plain HTTP the Secret is not even read, for Git or for the forge, unless it is said', async (t) => {
  const before = { ...process.env };
  t.after(() => {
    process.env = before;
  });
  const { RATCHET_PLAIN_HTTP_HOSTS: _, ...strict } = before;
  process.env = strict;
  const { fleet, kube } = scene(
    {
      git: { url: 'http://git.example.com/o/r.git', ref: 'main', secretName: 'any' },
      forge: { ...gitHub, type: 'Gitea' },
    },
    { token: secret },
  );
  const unread = {
    ...kube,
    get: async () => {
      throw new Error('the Secret is read');
    },
  };
  const opened = await openFleetForge(fleet, { kube: unread, ...inTime() });
  assert.ok(opened?.kind === 'failed' && opened.reason === 'PlainHttpRefused', JSON.stringify(opened));
  await assert.rejects(connectFleetGit(fleet, { kube: unread, ...inTime() }), { reason: 'PlainHttpRefused' });
});
