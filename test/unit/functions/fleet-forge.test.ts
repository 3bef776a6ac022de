import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFleetForge } from '../../../functions/pass/fleet-forge.ts';
import { fleetSecretLabels } from '../../../functions/pass/secret.ts';
import type { EtcdFleet, ForgeType } from '../../../manifests/api/etcd-fleet.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';

/** Forges whose API is at another host than their repositories, in an installation that lists hosts. */

async function openedBy(hosts: string, type: ForgeType, gitUrl: string, apiURL?: string) {
  const kube = createFakeKube({});
  kube.seed(resources.secrets, {
    metadata: { namespace: 'platform', name: 'forge', labels: fleetSecretLabels },
    ...{ data: { token: Buffer.from('hunter2').toString('base64') } },
  });
  const fleet: EtcdFleet = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { namespace: 'platform', name: 'production' },
    spec: {
      git: { url: gitUrl, ref: 'main' },
      forge: { type, secretName: 'forge', ...(apiURL !== undefined && { apiURL }) },
    },
  };
  const before = process.env;
  process.env = { ...before, RATCHET_HOSTS: hosts };
  try {
    const opened = await openFleetForge(fleet, { kube, signal: AbortSignal.timeout(5000) });
    assert.ok(opened);
    return { opened, asked: kube.journal() };
  } finally {
    process.env = before;
  }
}

for (const [type, host, api] of [
  ['GitHub', 'github.com', 'api.github.com'],
  ['GitHub', 'acme.ghe.com', 'api.acme.ghe.com'],
  ['BitbucketCloud', 'bitbucket.org', 'api.bitbucket.org'],
] as const) {
  const url = `https://${host}/o/r.git`;
  test(`where only ${host} is listed, ${api} is refused by its name, and no Secret is read`, async () => {
    const { opened, asked } = await openedBy(host, type, url);
    assert.ok(opened.kind === 'failed' && opened.reason === 'HostRefused');
    const said = `the API of https://${host} is at https://${api}: https://${api} is not in RATCHET_HOSTS`;
    assert.ok(opened.message.startsWith(said), opened.message);
    assert.deepEqual(asked, []);
  });

  test(`where ${host} and ${api} are listed, the forge is opened`, async () => {
    assert.equal((await openedBy(`${host} ${api}`, type, url)).opened.kind, 'open');
  });
}

test('of a forge only the host of its API has to be listed for statuses', async () => {
  const { opened } = await openedBy('api.github.com', 'GitHub', 'https://github.com/o/r.git');
  assert.equal(opened.kind, 'open');
});

test('an apiURL that is not listed is refused by its name, and no Secret is read', async () => {
  const { opened, asked } = await openedBy(
    'git.example.com',
    'Gitea',
    'https://git.example.com/o/r',
    'https://evil.io/',
  );
  assert.ok(opened.kind === 'failed' && opened.reason === 'HostRefused');
  assert.match(opened.message, /^https:\/\/evil\.io is not in RATCHET_HOSTS/);
  assert.deepEqual(asked, []);
});
