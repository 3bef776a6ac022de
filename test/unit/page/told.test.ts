import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { told, wayOn } from '../../../functions/page/told.ts';
import { withCure } from '../../../reconcile/reasons/cure.ts';
import { cluster, condition, member, orders, production, sessions } from '../../support/page/scene.ts';
import { pages } from '../../support/page/server.ts';
import { commandOf, textOf } from '../../support/page/words.ts';

const quorumLost = 'a quorum is lost for good';
const recover =
  'kubectl -n web annotate --overwrite etcdcluster sessions etcd.ratchet.dev/recover-quorum=cdf818194e3a8c32/5d0c1f2ab9';

describe('a command in a cure is a block of its own', () => {
  const patch = `kubectl -n shop patch etcdclusters.etcd.ratchet.dev orders --type merge -p '{"spec":{"backup": {}}}'`;
  const approve = `kubectl -n shop annotate --overwrite etcdclusters.etcd.ratchet.dev orders etcd.ratchet.dev/approver="$(kubectl auth whoami -o jsonpath={.status.userInfo.username})" etcd.ratchet.dev/recover-quorum=a/b`;
  for (const [cure, ...expected] of [
    [`approve it: ${approve}`, approve],
    ['correct that, then kubectl -n shop delete job a: it is recreated', 'kubectl -n shop delete job a'],
    [
      'let it go: kubectl -n a delete pvc b; or kubectl -n a get pods, and wait',
      'kubectl -n a delete pvc b',
      'kubectl -n a get pods',
    ],
    ['create it again (kubectl -n shop delete pvc orders-0), as it was', 'kubectl -n shop delete pvc orders-0'],
    [`or let the deletion go on (${patch})`, patch.replaceAll('"', '&quot;').replaceAll("'", '&#39;')],
    ['as kubectl reads it, and kubectl wrote it: ask for 8Gi or more'],
    // A part of a command may do something else than the whole: none is offered.
    ['approve it: kubectl -n a delete pvc b`reboot`'],
    ['approve it: kubectl -n a annotate pvc b c="$(reboot)"'],
    ['approve it: kubectl -n a delete pvc b | tee c'],
  ] as const) {
    test(cure.slice(0, 80), () => {
      const shown = told(withCure('it is so', cure)).toString();
      assert.equal(shown.match(/<pre/g)?.length ?? 0, expected.length);
      for (const command of expected) {
        const raw = command.replaceAll('&quot;', '"').replaceAll('&#39;', "'");
        assert.ok(textOf(shown).includes(`\n${raw}\n`), shown);
      }
    });
  }

  test('what a message quotes of others never becomes one', () => {
    for (const message of [
      'its log says: kubectl -n shop delete pvc orders-0',
      withCure(withCure('its log says', 'run: kubectl -n shop delete pvc orders-0'), 'restart it'),
    ])
      assert.doesNotMatch(told(message).toString(), /<pre/);
  });
});

test('a stalled cluster says what is wrong once, with the command to go on', async () => {
  const { get } = pages({ fleets: [production], clusters: [sessions], plan: async () => refused });
  const body = await (await get('/clusters/web/sessions')).text();
  assert.equal(body.split(quorumLost).length - 1, 1);
  assert.match(body, commandOf(recover));
  assert.equal(body.split('What to do').length - 1, 1);
  const text = textOf(body);
  assert.match(text, /Then a person is needed: QuorumLost, as above/);
  assert.match(text, /Stalled\s+True\s.*?QuorumLost\s+as above/s);
});

const { reason = '', message = '' } = sessions.status?.conditions?.[1] ?? {};
const [what = '', cure = ''] = message.replace(/ \(runbook: \S+\)/, '').split('. To go on: ');
const refused = {
  kind: 'planned',
  planned: { summary: 'a person is needed', steps: [], end: { kind: 'refused', reason, message: what, cure } },
} as const;

test('a plan that ends with another problem says that problem in full', async () => {
  const { get } = pages({ clusters: [orders], plan: async () => refused });
  const body = await (await get('/clusters/payments/orders')).text();
  assert.equal(body.split(quorumLost).length - 1, 1);
  assert.match(body, commandOf(recover));
});

test('the first page has a message once: above, and in the table its reason', async () => {
  const { get } = pages({ fleets: [production], clusters: [sessions] });
  const body = await (await get('/')).text();
  assert.equal(body.split(quorumLost).length - 1, 1);
  assert.match(textOf(body), /Stalled\s*QuorumLost/);
});

test('a fleet says its only problem once', async () => {
  const { status } = production;
  const alone = { ...production, status: { ...status, checks: [], observedGeneration: 1 } };
  const { get } = pages({ fleets: [alone] });
  const one = textOf(await (await get('/fleets/etcd-ratchet/production')).text());
  assert.equal(one.split('spec.replicas must be at most 9').length - 1, 1);
  const more = { ...alone, status: { ...alone.status, problemCount: 7 } };
  const several = textOf(await (await pages({ fleets: [more] }).get('/fleets/etcd-ratchet/production')).text());
  assert.match(several, /Problems in documents.*and 6 more/s);
});

test('what is to be approved has its command in a block', async () => {
  const value = 'cdf8/5d0c';
  const asked = { reason: 'QuorumLost', annotation: 'etcd.ratchet.dev/recover-quorum', value } as const;
  const asking = cluster('web/sessions', { approvals: [{ ...asked, approves: 'to go on', loses: 'the rest' }] });
  const body = await (await pages({ clusters: [asking] }).get('/clusters/web/sessions')).text();
  assert.match(body, commandOf('kubectl ratchet -n web approve sessions'));
});

test('a database is told against its quota, and stands out from 80 % of it on', async () => {
  const quota = 4 * 1024 ** 3;
  const sizes = [0.1, 0.79, 0.8, 0.9].map((share, n) => member(`q-${n}`, { dbBytes: Math.ceil(quota * share) }));
  const full = cluster('payments/q', { members: sizes }, { etcd: { quotaBackendBytes: '4Gi' } });
  const shown = async (one: typeof full) => (await pages({ clusters: [one] }).get('/clusters/payments/q')).text();
  const body = await shown(full);
  assert.match(textOf(body), /410 MiB of 4\.0 GiB, 10%\s+268 MiB in use/);
  assert.deepEqual(
    [...body.matchAll(/badge (\w+)">3\.\d GiB of 4\.0 GiB, (\d+)%/g)].map(([, tone, share]) => [tone, share]),
    [
      ['busy', '80'],
      ['bad', '90'],
    ],
  );
  const refusals = [{ reason: 'QuotaRefused', message: 'no room', field: 'spec.etcd.quotaBackendBytes' }];
  const refused = { ...full, status: { observedGeneration: 1, ...full.status, refusals } };
  assert.doesNotMatch(textOf(await shown(refused)), /of 4\.0 GiB/);
});

test('times are absolute as well, wherever they are told', async () => {
  const { get } = pages({ fleets: [production], clusters: [orders] });
  const text = textOf(await (await get('/clusters/payments/orders')).text());
  for (const told of [
    /begun 1 min ago 2026-11-21 17:02 UTC/,
    /since 2 min ago 2026-11-21 17:01 UTC/,
    /5 min ago 2026-11-21 16:58 UTC\s+failed/,
    /42 min ago 2026-11-21 16:21 UTC/,
    /in 71 days 2027-01-31 17:03 UTC/,
  ])
    assert.match(text, told);
  assert.match(textOf(await (await get('/')).text()), /last pass 1 min ago 2026-11-21 17:02 UTC/);
});

test('a condition that says what no other does keeps its words', async () => {
  const conditions = [
    condition('Ready', 'False', 'UpgradingMember', 'restarting orders-2'),
    condition('Reconciling', 'True', 'UpgradingMember', 'restarting orders-2'),
    condition('Available', 'False', 'NoQuorum', 'no quorum answers'),
  ];
  const body = await (await pages({ clusters: [cluster('a/b', { conditions })] }).get('/clusters/a/b')).text();
  assert.equal(textOf(body).split('restarting orders-2').length - 1, 1);
  assert.match(textOf(body), /NoQuorum\s+no quorum answers/);
});

test('no cure goes on with a verb right behind a command: the block would have that, too', () => {
  const checkout = join(import.meta.dirname, '../../..');
  const files = globSync('{reconcile,functions,gitops}/**/*.ts', { cwd: checkout });
  const swallowed = files.filter((file) =>
    /kubectl(?:\([^`]*`[^`]*`\)\}| (?:ratchet )?-n [^`;:,()]*\}) (?:and|has|is|names|says|sets|shows|to)\b/.test(
      readFileSync(join(checkout, file), 'utf8'),
    ),
  );
  assert.deepEqual(swallowed, []);
});

test('each of several ways on has a paragraph and its own command', () => {
  const html = String(wayOn('approve it: kubectl -n web get pods; or restore: kubectl -n web get pvc'));
  assert.match(
    html,
    /^<p>To go on: <bdi>approve it:<\/bdi><\/p><pre .*get.*pods.*<p>Or: <bdi>restore:<\/bdi><\/p><pre .*pvc/s,
  );
});
