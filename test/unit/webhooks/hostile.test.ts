import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isSameRepository } from '../../../gitops/forges/repository.ts';
import { MalformedDelivery } from '../../../gitops/webhooks/receiver.ts';
import { receiverOf } from '../../../gitops/webhooks/receivers.ts';
import { webhookTypes } from '../../../manifests/api/etcd-fleet.ts';
import { callers } from '../../support/webhooks/deliveries.ts';

/** A sender that has the secret may still send anything. */

const secrets = [Buffer.from('secret')];
const now = new Date();

const hostileBodies = [
  '',
  'null',
  '[]',
  '"push"',
  '1e999',
  '{',
  '{"ref": "refs/heads/main"',
  '{"ref": {"toString": 1}, "before": [], "after": null}',
  '{"__proto__": {"ref": "refs/heads/main", "before": "a", "after": "b"}}',
  '{"constructor": {"prototype": {"polluted": true}}}',
  '{"object_kind": "push", "ref": 7}',
  '{"push": {"changes": {"length": 3}}}',
  '{"push": {"changes": [null, 1, "x", {"new": {"name": {}}}]}}',
  '{"changes": "refs/heads/main", "repository": {"links": {"clone": [null, {"href": {}}]}}}',
  '{"eventType": "git.push", "resource": {"refUpdates": [[]]}}',
  '{"number": "17; DROP", "action": "opened", "pull_request": {"base": {"ref": "main"}}}',
  `{"ref": "${'x'.repeat(5000)}", "before": "a", "after": "b"}`,
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  '\ufeff{}',
  'payload=%7B%7D&payload=x',
];

for (const type of webhookTypes) {
  test(`${type}: what is signed and makes no sense is told as that, without quoting it`, () => {
    const { events } = callers[type];
    for (const body of hostileBodies) {
      for (const contentType of ['application/json', 'application/x-www-form-urlencoded']) {
        const headers: Record<string, string> = {
          'content-type': contentType,
          'x-github-event': events.push,
          'x-gitea-event': events.push,
          'x-event-key': events.push,
        };
        const delivery = { header: (name: string) => headers[name], body: Buffer.from(body) };
        try {
          for (const event of receiverOf(type).read(delivery)) assert.notEqual(event.kind, 'ping');
        } catch (error) {
          assert.ok(error instanceof MalformedDelivery, `${error} for ${body.slice(0, 60)}`);
          assert.ok(error.message.length < 120);
          assert.doesNotMatch(error.message, /DROP|xxxx/);
        }
      }
    }
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  test(`${type}: no headers and no body, however they come, are verified by chance or throw`, () => {
    const names = [...receiverOf(type).proofs, 'webhook-id', 'webhook-timestamp', 'content-type'];
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...names), fc.string({ unit: 'binary', maxLength: 200 })),
        fc.uint8Array({ maxLength: 500 }),
        (headers, body) => {
          const delivery = { header: (name: string) => headers[name], body };
          assert.equal(receiverOf(type).verify(delivery, secrets, now), false);
          try {
            receiverOf(type).read(delivery);
          } catch (error) {
            assert.ok(error instanceof MalformedDelivery, String(error));
          }
        },
      ),
      { numRuns: 300 },
    );
  });
}

for (const [a, b, isSame] of [
  ['https://git.example.com/platform/etcd.git', 'https://git.example.com/platform/etcd', true],
  ['https://git.example.com/Platform/Etcd', 'https://git.example.com/platform/etcd.git/', true],
  ['git@git.example.com:platform/etcd.git', 'https://git.example.com/platform/etcd', true],
  ['ssh://git@git.example.com:7999/plat/etcd.git', 'https://git.example.com/scm/PLAT/etcd.git', true],
  ['http://gitea.gitea.svc:3000/platform/etcd.git', 'https://example.com/git/platform/etcd', true],
  ['https://user@dev.azure.com/org/project/_git/etcd', 'https://dev.azure.com/org/project/_git/etcd', true],
  // Azure: a project's first repository has its name, and organisations have two addresses.
  ['https://dev.azure.com/org/_git/etcd', 'https://dev.azure.com/org/etcd/_git/etcd', true],
  ['https://org.visualstudio.com/_git/etcd', 'https://dev.azure.com/org/etcd/_git/etcd', true],
  ['https://org.visualstudio.com/DefaultCollection/p/_git/etcd', 'https://dev.azure.com/org/p/_git/etcd', true],
  ['https://org.visualstudio.com/DefaultCollection/_git/etcd', 'https://dev.azure.com/org/_git/etcd', true],
  ['https://dev.azure.com/org/_git/etcd', 'https://dev.azure.com/org/_git/other', false],
  ['https://dev.azure.com/org/_git/etcd', 'https://dev.azure.com/org/other/_git/etcd', false],
  ['https://git.example.com/gr%6Fup/etcd', 'https://git.example.com/group/etcd', true],
  ['platform/etcd', 'https://bitbucket.org/platform/etcd.git', true],
  ['https://git.example.com/platform/etcd', 'https://git.example.com/platform/etcd2', false],
  ['https://git.example.com/other/etcd', 'https://git.example.com/platform/etcd', false],
  ['https://git.example.com/etcd', 'https://git.example.com/platform/etcd', false],
  ['https://git.example.com/etcd.git', 'https://git.example.com/Etcd', true],
  ['https://git.example.com/etcd.git', 'https://other.example.com/etcd.git', false],
  ['https://git.example.com/etcd.git', 'https://git.example.com/', false],
  ['https://git.example.com', 'https://git.example.com', false],
  ['', 'https://git.example.com/platform/etcd', false],
  ['%', '%', false],
] as const) {
  test(`${a || 'nothing'} is ${isSame ? '' : 'not '}${b}`, () => {
    assert.equal(isSameRepository(a, b), isSame);
    assert.equal(isSameRepository(b, a), isSame);
  });
}
