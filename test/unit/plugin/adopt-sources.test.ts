import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { makers } from '../../../functions/plugin/adoption/makers.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { type Answering, clusterID, idOf, reaching } from '../../support/plugin/members.ts';
import { saidOn } from '../../support/plugin/said.ts';
import {
  aenix,
  bitnami,
  byHand,
  changed,
  cozystack,
  druid,
  etcdIoPods,
  etcdIoSet,
  improbable,
  kamaji,
  putInto,
  type Source,
} from '../../support/plugin/sources.ts';

const directory = mkdtempSync(join(tmpdir(), 'ratchet-sources-'));
after(() => rmSync(directory, { recursive: true }));
let files = 0;

interface Document {
  readonly existing?: object | undefined;
  readonly tls?: object;
  readonly version?: string;
}

function fileOf({ existing, tls = { mode: 'Disabled' }, version = '3.6.16' }: Document): string {
  const bootstrap = existing && { existing };
  const spec = { replicas: 3, version, storage: { size: '8Gi' }, tls, ...(bootstrap && { bootstrap }) };
  const metadata = { name: 'orders', namespace: 'payments' };
  const file = join(directory, `${files++}.yaml`);
  writeFileSync(file, stringify({ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdCluster', metadata, spec }));
  return file;
}

const documented = ({ podLabels, pods }: Source) => ({
  clusterID,
  memberIDs: pods.map((_, n) => idOf(n)),
  podLabels,
});

function adopt(source: Source, answering: Answering, ...args: readonly string[]) {
  return adoptBeside(source, [], answering, ...args);
}

/** @param others pods that are no members of it */
async function adoptBeside(source: Source, others: readonly Pod[], answering: Answering, ...args: readonly string[]) {
  const kube = createFakeKube();
  putInto(kube, source);
  kube.seed(resources.pods, ...others);
  const before = kube.journal().length;
  const said = await saidOn(kube, ['adopt', 'orders', '--plan', ...args], {}, { reach: reaching(source, answering) });
  const keys = kube
    .journal()
    .slice(before)
    .map(({ key }) => key);
  assert.deepEqual(
    keys.filter((key) => !/^(GET|LIST)/.test(key)),
    [],
    'nothing is written',
  );
  return said;
}

const renamed = ({ metadata, ...pod }: Pod, by: string, labels = metadata.labels): Pod => ({
  ...pod,
  metadata: { ...metadata, name: `${by}-${metadata.name}`, ...(labels && { labels }) },
});

const selecting = ({ podLabels }: Source) =>
  Object.entries(podLabels)
    .map(([key, value]) => `${key}=${value}`)
    .join();

describe('a cluster as it is made', () => {
  for (const [by, source, managedBy, operator] of [
    ['by hand', byHand(), 'StatefulSet legacy', undefined],
    [
      'by etcd-io, as a StatefulSet',
      etcdIoSet(),
      'StatefulSet legacy, of EtcdCluster legacy (operator.etcd.io/v1alpha1)',
      'etcd-io/etcd-operator',
    ],
    ['by etcd-io, as pods', etcdIoPods(), 'EtcdCluster legacy (operator.etcd.io/v1alpha1)', 'etcd-io/etcd-operator'],
    [
      'by cozystack',
      cozystack(),
      'EtcdMember legacy-7xq20 (etcd-operator.cozystack.io/v1alpha2)',
      'cozystack/etcd-operator',
    ],
    [
      'by improbable',
      improbable(),
      'ReplicaSet legacy-0, of EtcdPeer legacy-0 (etcd.improbable.io/v1alpha1)',
      'improbable-eng/etcd-cluster-operator',
    ],
    ['by druid', druid(), 'StatefulSet legacy, of Etcd legacy (druid.gardener.cloud/v1alpha1)', 'gardener/etcd-druid'],
    ['by bitnami', bitnami(), 'StatefulSet legacy', undefined],
    ['by kamaji', kamaji(), 'StatefulSet legacy', undefined],
  ] as const) {
    test(`${by} is found by its pods, and planned to its end without a restart`, async () => {
      const file = fileOf({});
      const { code, out, err } = await adopt(source, {}, '-f', file, '--pods', selecting(source));
      assert.equal(code, 0, err);
      assert.ok(out.includes(managedBy), out);
      assert.equal(out.includes('adds members again: stop it'), operator !== undefined, out);
      if (operator) assert.ok(out.includes(`! ${operator} manages them`), out);
      assert.match(out, /ed0 +leader +3\.6\.16/);
      assert.match(out, /→ Converged/);
      assert.doesNotMatch(out, /^ *\d+ .* restarts /m);
      const block = parse(/add to the spec of [^\n]*:\n(.*?)\n\ntakes over/s.exec(out)?.[1] ?? '');
      assert.deepEqual(block, { bootstrap: { existing: documented(source) } });
      const again = await adopt(source, {}, '-f', fileOf(block.bootstrap));
      assert.equal(again.code, 0, again.err);
      assert.ok(out.endsWith(again.out), `with the block that was found, the plan is the same: ${again.out}`);
    });
  }

  test('by aenix, with peers that make their certificates, is refused, and a snapshot is named', async () => {
    const source = aenix();
    const { out } = await adopt(source, {}, '-f', fileOf({}), '--pods', selecting(source));
    assert.match(out, /needs a person: ExistingNotFit: .*--peer-auto-tls.*no CA.*docs\/how-to\/migrate\.md/);
  });

  test('every maker that is known is in the table of what to stop first, with its group and labels', () => {
    const page = readFileSync('docs/how-to/adopt.md', 'utf8');
    const rows = (page.split('## What to stop first')[1] ?? '').split('\n').filter((line) => line.startsWith('| '));
    for (const { name, group, keys, lateKey = '' } of makers) {
      const row = rows.find((line) => line.startsWith(`| ${name}`)) ?? '';
      for (const word of [...(group ? [group] : []), ...keys, lateKey])
        assert.ok(row.includes(word), `${name}: ${word}`);
    }
  });
});

describe('without --pods and without a document', () => {
  for (const source of [etcdIoSet(), etcdIoPods(), cozystack(), aenix(), improbable(), druid(), bitnami(), kamaji()]) {
    const found = selecting(source);
    test(`the only cluster of a known maker is found by its labels: ${found}`, async () => {
      const strangers = byHand().pods.map((pod) => renamed(pod, 'by-hand'));
      const { code, out, err } = await adoptBeside(source, strangers, {});
      assert.equal(code, 0, err);
      assert.ok(out.startsWith('there is no EtcdCluster payments/orders yet\nfound 3 pods of '), out);
      const block = parse(out.split('for the spec:\n')[1] ?? '');
      assert.deepEqual(block.bootstrap.existing.podLabels, source.podLabels);
      assert.deepEqual(block.bootstrap.existing.memberIDs, documented(source).memberIDs);
    });
  }

  test('a document without the block gets it as well', async () => {
    const { code, out, err } = await adopt(bitnami(), {}, '-f', fileOf({}));
    assert.equal(code, 0, err);
    assert.match(out, /^found 3 pods of the chart bitnami\/etcd, by the labels [^\n]*\nadd to the spec of /);
    assert.match(out, /! a pod of the chart bitnami\/etcd takes its member off the list when it ends/);
  });

  test('pods of another job of the same chart are no members', async () => {
    const snapshotter = { 'app.kubernetes.io/component': 'snapshotter' };
    const cronJob = bitnami().pods.map((pod) => renamed(pod, 'job', { ...pod.metadata.labels, ...snapshotter }));
    const { code, out, err } = await adoptBeside(bitnami(), cronJob, {});
    assert.equal(code, 0, err);
    assert.match(out, /\nfound 3 pods of the chart bitnami/);
  });

  test('pods that have ended, bear empty labels or are of another chart are no members', async () => {
    const [pod = assert.fail()] = bitnami().pods;
    const ended = {
      ...renamed(pod, 'ended', { 'etcd.improbable.io/cluster-name': 'gone' }),
      status: { phase: 'Failed' },
    };
    const empty = renamed(pod, 'empty', { app: '', controller: '' });
    const theirs = { ...renamed(pod, 'theirs'), spec: { containers: [{ name: 'etcd', image: 'etcd' }] } };
    const { code, out, err } = await adoptBeside(kamaji(), [ended as Pod, empty, theirs], {});
    assert.equal(code, 0, err);
    assert.match(out, /\nfound 3 pods of the chart kamaji-etcd/);
  });

  test('a name that is not there is one that is not there, where the exit code counts', async () => {
    const { code, err } = await adopt(kamaji(), {}, '--exit-code');
    assert.equal(code, 1);
    // The fake has no Namespace either, which is looked at then.
    assert.match(err, /there is no (EtcdCluster|namespace) /);
  });

  test('of too many pods the choice is left to the person, and of many clusters ten are named', async () => {
    const [pod = assert.fail()] = kamaji().pods;
    const many = (count: number) =>
      Array.from({ length: count }, (_, n) => renamed(pod, `m${n}`, { 'etcd-operator.cozystack.io/cluster': `c${n}` }));
    const crowd = await adoptBeside(kamaji(), many(1000), {});
    assert.match(crowd.err, /has more than 1000 pods: name those of the etcd cluster by --pods/);
    const { err } = await adoptBeside(kamaji(), many(20), {});
    assert.match(err, / and 11 more/);
    assert.equal(err.split('--pods').length, 11);
  });

  test('several are refused, each with what names it, and none as well', async () => {
    const others = cozystack().pods.map((pod) => renamed(pod, 'other'));
    const { code, err } = await adoptBeside(kamaji(), others, {});
    assert.equal(code, 1);
    assert.match(err, /namespace payments has several etcd clusters of others; name one: --pods .*, or --pods /);
    for (const [source, by] of [
      [kamaji(), 'the chart kamaji-etcd'],
      [cozystack(), 'cozystack/etcd-operator'],
    ] as const)
      assert.ok(err.includes(`--pods ${selecting(source)} (3 pods of ${by})`), err);
    const none = await adopt(byHand(), {});
    assert.equal(none.code, 1);
    assert.match(
      none.err,
      /in namespace payments no pod has the labels of an etcd cluster that is known .*--pods KEY=VALUE/,
    );
  });
});

describe('what can not be taken over is refused by name, with a cure', () => {
  const source = byHand();
  for (const [what, answering, words, change, document] of [
    ['etcd authentication', { wantsUser: true }, /authentication is on.*auth disable/, {}, {}],
    ['hostNetwork', {}, /legacy-0 has hostNetwork.*docs\/how-to\/migrate/, { hostNetwork: true }, {}],
    ['a learner', { learner: 2 }, /legacy-2 \(ed2\) is a learner/, {}, {}],
    [
      'a version before all that are supported',
      { status: () => ({ version: '3.4.23' }) },
      /3\.4\.23.*supported are 3\.5/,
      {},
      {},
    ],
    ['a minor beyond them', { status: () => ({ version: '3.9.1' }) }, /3\.9\.1.*supported are 3\.5/, {}, {}],
    ['another minor than the spec', { status: () => ({ version: '3.5.30' }) }, /set spec\.version to a 3\.5/, {}, {}],
    ['a member that does not answer', { silent: [1] }, /ed1\) does not answer/, {}, {}],
    ['an alarm', { status: (n: number) => ({ errors: n === 1 ? ['alarm:NOSPACE'] : [] }) }, /NOSPACE/, {}, {}],
    ['certificates of a CA of ours', {}, /its CA is not the one/, {}, { tls: { mode: 'Managed' } }],
  ] as const satisfies readonly (readonly [string, Answering, RegExp, object, Document])[]) {
    test(`${what}`, async () => {
      const file = fileOf({ existing: documented(source), ...document });
      const { code, out, err } = await adopt(changed(source, change), answering, '-f', file, '--exit-code');
      assert.equal(code, 3, err);
      assert.match(out.split('→ needs a person: ')[1] ?? '', words, out);
      assert.match(out, /ExistingNotFit/);
    });
  }

  test('another client port: no pod answers, and clientPort is named', async () => {
    const file = fileOf({ existing: { ...documented(source), clientPort: 12_379 } });
    const { out } = await adopt(source, {}, '-f', file);
    assert.match(out, /! legacy-0 does not answer: http:\/\/10\.0\.0\.1:12379: connection refused/);
    assert.match(out, /ExistingUnreachable: .*clientPort/);
  });
});

describe('what is taken over with a warning, or without', () => {
  test('pods that keep nothing: the plan goes on, and says what to do as soon as they have left', async () => {
    const source = changed(byHand(), { volumes: [{ name: 'data', emptyDir: {} }] });
    const { out } = await adopt(source, {}, '-f', fileOf({ existing: documented(source) }));
    assert.match(
      out,
      /! legacy-0, legacy-1, legacy-2 keep nothing when they end \(no PVC\): scale their workload to 0/,
    );
    assert.match(out, /→ Converged/);
  });

  test('an even number of members: two voters leave as three do', async () => {
    const source = byHand();
    const two = { ...source, pods: source.pods.slice(0, 2) };
    const { out } = await adopt(two, {}, '-f', fileOf({ existing: documented(two) }));
    assert.match(out, /→ Converged/);
    assert.doesNotMatch(out, /^!/m);
  });
});

describe('a document that says another thing than the members', () => {
  const source = byHand();
  for (const [what, existing, words] of [
    [
      'another cluster',
      { ...documented(source), clusterID: 'beef' },
      /! spec\.bootstrap\.existing\.clusterID is beef, and pod legacy-0 belongs to cdf818194e3a8c32\n/,
    ],
    [
      'a member fewer',
      { ...documented(source), memberIDs: ['ed0', 'ed1'] },
      /! spec\.bootstrap\.existing\.memberIDs lacks ed2 \(legacy-2\), which is on the member list\n/,
    ],
    [
      'a member more',
      { ...documented(source), memberIDs: ['ed0', 'ed1', 'ed2', 'ffff'] },
      /! spec\.bootstrap\.existing\.memberIDs has ffff, which is not on the member list\n/,
    ],
  ] as const) {
    test(`${what}: the field is named, with what the members say, and the plan ends there`, async () => {
      const { code, out } = await adopt(source, {}, '-f', fileOf({ existing }), '--exit-code');
      assert.equal(code, 3, out);
      assert.match(out, words);
    });
  }
});

describe('--pods', () => {
  test('without a document tells what is there, and the block that a document needs', async () => {
    const source = cozystack();
    const { code, out } = await adopt(source, {}, '--pods', selecting(source));
    assert.equal(code, 0);
    assert.deepEqual(parse(out.split('for the spec:\n')[1] ?? ''), { bootstrap: { existing: documented(source) } });
    const { out: data } = await adopt(source, {}, '--pods', selecting(source), '-o', 'json');
    assert.deepEqual(JSON.parse(data).existing, documented(source));
  });

  test('draws nothing on the terminal by what members answer, and cuts what is long', async () => {
    const status = () => ({ version: `\u001b[2J${'9'.repeat(100_000)}` });
    const answering = { silent: [2], cause: 'no\u001b[2Jroute', status };
    const { out } = await adopt(byHand(), answering, '--pods', 'app=legacy');
    assert.ok(!out.includes('\u001b'), out.slice(0, 500));
    assert.match(out, /! legacy-2 does not answer: .*no\\u001b\[2Jroute/);
    assert.ok(out.length < 2000, `${out.length}`);
  });

  for (const [what, source, answering, args, words] of [
    ['that no pod has', byHand(), {}, ['--pods', 'app=other'], /no pod of others has these labels/],
    [
      'of pods that are silent',
      byHand(),
      { silent: [0, 1, 2] },
      ['--pods', 'app=legacy'],
      /none of the pods .*legacy-0: .*connection refused/,
    ],
    ['of pods that ask for a user', byHand(), { wantsUser: true }, ['--pods', 'app=legacy'], /authentication is on/],
    [
      'of two clusters',
      byHand(),
      { status: (n: number) => (n === 2 ? { clusterId: 'beef' } : {}) },
      ['--pods', 'app=legacy'],
      /pod legacy-0 belongs to etcd cluster cdf818194e3a8c32, and pod legacy-2 to beef/,
    ],
    [
      'beside a document that names a cluster',
      byHand(),
      {},
      ['--pods', 'app=legacy', '-f', fileOf({ existing: documented(byHand()) })],
      /leave --pods out/,
    ],
  ] as const satisfies readonly (readonly [string, Source, Answering, readonly string[], RegExp])[]) {
    test(`with labels ${what} is refused, and says what to do`, async () => {
      const { code, err } = await adopt(source, answering, ...args);
      assert.equal(code, 1);
      assert.match(err, words);
    });
  }

  for (const labels of [
    '',
    'app',
    'app=',
    '=x',
    'app=legacy,',
    'app!=x',
    'app=a,app=b',
    'app=a=b',
    'app=\u202ex',
    'a b=c',
    `app=${'x'.repeat(64)}`,
    Array.from({ length: 17 }, (_, n) => `k${n}=v`).join(),
    'x,'.repeat(100_000),
  ]) {
    test(`that is ${JSON.stringify(labels.slice(0, 30))} (${labels.length}) is not understood, and nothing is read`, async () => {
      const kube = createFakeKube();
      const { code, err } = await saidOn(kube, ['adopt', 'orders', '--plan', '--pods', labels]);
      assert.equal(code, 2);
      assert.match(err, /up to 16 labels like app=legacy/);
      assert.ok(err.length < 300_000);
      assert.deepEqual(kube.journal(), []);
    });
  }
});
