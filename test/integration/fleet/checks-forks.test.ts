import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forkLabel } from '../../../manifests/api/etcd-fleet.ts';
import type { RequestCheck } from '../../../manifests/api/etcd-fleet-status.ts';
import type { OpenedRequest } from '../../support/git/forge.ts';
import { context, type Stage, setStage } from './checks-stage.ts';
import { clusterYaml } from './scene.ts';

/** Requests of strangers, newest first, each with a head of its own that the server does not have. */
function strangers(count: number, first: number, told: Partial<OpenedRequest> = {}): OpenedRequest[] {
  return Array.from({ length: count }, (_, index) => {
    const number = first + count - 1 - index;
    const headSha = `${number}`.padStart(40, '0');
    return { number, title: 'mine', headSha, fork: true, author: number, ...told };
  });
}

function verdictOf({ scene }: Stage): string {
  const { conditions = [] } = scene.fleet().status ?? {};
  const { status, reason, message } = conditions.find(({ type }) => type === 'RequestsChecked') ?? assert.fail();
  return `${status} ${reason}: ${message}`;
}

/** Of those that were checked. */
function numbers(checks: readonly RequestCheck[]): readonly number[] {
  const made = checks.filter(({ state }) => state !== 'withheld');
  return made.map(({ number }) => Number(number)).toSorted((a, b) => a - b);
}

test('a thousand newer requests of strangers hide no older one', async () => {
  await using stage = await setStage({ checks: { forks: 'Enabled' } });
  const head = await stage.open(1, { 'c/stock.yaml': clusterYaml('stock') });
  stage.forge.pulls.unshift(...strangers(990, 2));
  const { checks } = await stage.check();
  assert.equal(stage.forge.statusesOf(head).get(context)?.state, 'success');
  assert.equal(checks.length, 10);
  assert.match(verdictOf(stage), /^False ChecksWaiting: 981 open requests wait for the next pass$/);
});

test('two requests with one head have a comment each, and one status', async () => {
  await using stage = await setStage();
  const { forge } = stage;
  const head = await stage.open(1, { 'c/stock.yaml': clusterYaml('stock') });
  const comments = () => forge.comments.map(({ number }) => number).toSorted();
  await stage.check();
  forge.pulls.unshift({ number: 2, title: 'the same', headSha: head });
  await stage.check();
  assert.deepEqual(comments(), [1, 2]);
  assert.match(forge.comments[0]?.body ?? '', /#1 Change 1/);
  assert.match(forge.comments[1]?.body ?? '', /#2 the same/);
  assert.equal(stage.reports()[0]?.report.request?.number, '1', 'the report is that of the older one');
  const told = forge.requests.filter(({ method }) => method !== 'GET').length;
  const { checks } = await stage.check();
  assert.equal(checks.length, 1);
  assert.equal(forge.requests.filter(({ method }) => method !== 'GET').length, told, 'each is told once');

  forge.pulls.pop();
  await stage.open(3, { 'c/more.yaml': clusterYaml('more') });
  await stage.check();
  assert.deepEqual(comments(), [1, 2, 3], 'what is left of them needs no second comment');
});

test('a request of a stranger takes nothing from one of an own branch with the same head', async () => {
  await using stage = await setStage({ checks: { forks: 'Enabled' } });
  stage.forge.pulls.unshift({ number: 1, title: 'older', headSha: 'a'.repeat(40), fork: true });
  const headSha = await stage.open(2, { 'c/stock.yaml': clusterYaml('stock') });
  stage.forge.pulls.splice(1, 1, { number: 1, title: 'older', headSha, fork: true });
  await stage.check();
  assert.deepEqual(
    stage.reports().map(({ report: { request } }) => [request?.number, request?.fork]),
    [['2', false]],
  );
  assert.deepEqual(stage.forge.comments.map(({ number }) => number).toSorted(), [1, 2]);
});

test('a stranger’s request without the label takes no verdict from a head of an own branch', async () => {
  await using stage = await setStage();
  const { forge } = stage;
  const head = await stage.open(2, { 'c/stock.yaml': clusterYaml('stock') });
  forge.pulls.push({ number: 1, title: 'mine', headSha: head, fork: true });
  for (let pass = 0; pass < 3; pass += 1) await stage.check();
  const told = forge.statuses.filter(({ sha }) => sha === head).map(({ state }) => state);
  assert.deepEqual(told, ['pending', 'success']);
});

for (const [forks, labels, isChecked] of [
  ['Disabled', [forkLabel], false],
  ['Enabled', [], true],
  ['Labelled', [forkLabel], true],
  ['Labelled', [forkLabel.toUpperCase()], false],
  ['Labelled', [`${forkLabel} `, 'bug'], false],
  [undefined, [], false],
  [undefined, ['bug', forkLabel], true],
] as const) {
  const borne = labels.length === 0 ? 'without a label' : `with ${JSON.stringify(labels)}`;
  test(`forks: ${forks}: a request ${borne} ${isChecked ? 'gets' : 'gets no'} plan; own branches do`, async () => {
    await using stage = await setStage(forks && { checks: { forks } });
    const own = await stage.open(1, { 'c/own.yaml': clusterYaml('own') });
    const head = await stage.open(2, { 'c/stock.yaml': clusterYaml('stock') }, { fork: true, labels });
    const gone = await stage.open(3, { 'c/more.yaml': clusterYaml('more') }, { fork: 'gone', labels });
    const { checks } = await stage.check();
    assert.equal(stage.forge.statusesOf(own).get(context)?.state, 'success');
    for (const sha of [head, gone]) {
      assert.equal(stage.forge.statusesOf(sha).get(context)?.state === 'success', isChecked);
    }
    assert.deepEqual(numbers(checks), isChecked ? [1, 2, 3] : [1]);
    const said = verdictOf(stage);
    if (isChecked) assert.equal(said, 'True Checked: every open request has its verdict');
    else assert.match(said, /^True Checked: .*, but for 2 from forks: 2, 3 \(checks\.forks is (Disabled|Labelled)/);
    if (forks !== 'Disabled' && !isChecked) assert.match(said, /etcd-ratchet\/check/);
  });
}

test('a label that is set later counts, and one that is taken away takes the report with it', async () => {
  await using stage = await setStage();
  const files = { 'c/stock.yaml': clusterYaml('stock') };
  await stage.open(1, files, { fork: true });
  assert.deepEqual(numbers((await stage.check()).checks), []);
  const labelled = stage.forge.pulls.map((pull) => ({ ...pull, labels: [forkLabel] }));
  const bare = stage.forge.pulls.splice(0, 1, ...labelled);
  await stage.check();
  assert.equal(stage.reports().length, 1);
  stage.forge.pulls.splice(0, 1, ...bare);
  assert.deepEqual(numbers((await stage.check()).checks), []);
  assert.deepEqual(stage.reports(), []);
});

test('of one author of forks, three are checked in a pass, and all in turns', async () => {
  await using stage = await setStage({ checks: { forks: 'Enabled' } });
  stage.forge.pulls.unshift(...strangers(7, 1, { author: 5 }), ...strangers(2, 8));
  assert.deepEqual(numbers((await stage.check()).checks), [1, 2, 3, 8, 9]);
  assert.match(verdictOf(stage), /^False ChecksWaiting: 4 open requests wait/);
  const { checks } = await stage.check();
  assert.deepEqual(numbers(checks), [1, 2, 3, 4, 5, 6, 8, 9]);
});

test('an author is told once, on the head, what a request waits for, until there is a verdict', async () => {
  await using stage = await setStage();
  const { forge } = stage;
  const head = await stage.open(1, { 'c/stock.yaml': clusterYaml('stock') }, { fork: true });
  const said = () => forge.statuses.filter(({ sha }) => sha === head).map((one) => `${one.state} ${one.description}`);
  await stage.check();
  await stage.check();
  const waits = 'pending from a fork: checked once a maintainer sets the label etcd-ratchet/check';
  assert.deepEqual(said(), [waits]);
  assert.equal(forge.statusesOf(head).get(context)?.target_url, undefined);
  assert.match(verdictOf(stage), /^True Checked: /, 'it is no concern of the fleet');
  forge.pulls.splice(0, 1, ...forge.pulls.map((pull) => ({ ...pull, labels: [forkLabel] })));
  await stage.check();
  assert.match(said().slice(1).join(), /^success stock: new/);
});

test('strangers fill neither the status nor the time of a pass', async () => {
  await using stage = await setStage();
  const { forge, scene } = stage;
  forge.pulls.unshift(...strangers(600, 301, { author: 1 }), ...strangers(300, 1));
  const own = await stage.open(901, { 'c/stock.yaml': clusterYaml('stock') });
  forge.pulls.splice(5, 1);
  for (const told of [5, 10, 15, 20, 25, 30, 30]) {
    const { checks } = await stage.check();
    const waiting = checks.filter(({ state }) => state === 'withheld').map(({ number }) => Number(number));
    assert.deepEqual(
      waiting.toSorted((a, b) => a - b),
      Array.from({ length: told }, (_, index) => index + 1),
    );
    assert.deepEqual(numbers(checks), [901]);
  }
  assert.equal(forge.statusesOf(own).get(context)?.state, 'success');
  assert.match(verdictOf(stage), /but for 899 from forks: 1, 2, 3 and 896 more \(checks\.forks is Labelled/);
  const before = scene.fleet().status;
  const posted = forge.statuses.length;
  await stage.check();
  assert.deepEqual(scene.fleet().status, before, 'and nothing is written anew');
  assert.equal(forge.statuses.length, posted);
});

test('a list longer than one look is read in turns; what was not read is not taken for closed', async () => {
  await using stage = await setStage();
  const { forge, scene } = stage;
  const oldest = await stage.open(1, { 'c/stock.yaml': clusterYaml('stock') });
  await stage.check();
  assert.equal(stage.reports().length, 1);
  forge.pulls.unshift(...strangers(1000, 2, { author: 1 }));
  const newest = await stage.open(1002, { 'c/more.yaml': clusterYaml('more') });
  await stage.check();
  assert.match(verdictOf(stage), /^False TooManyRequests: the forge has more open requests than one pass reads/);
  assert.equal(scene.fleet().status?.requestsFrom, 21);
  assert.deepEqual(stage.reports().length, 2, 'that of the older one is kept');
  await stage.repository.commit({ 'c/late.yaml': clusterYaml('late') }, { keep: true });
  const target = await stage.repository.git('rev-parse', 'main');
  const { checks } = await stage.check();
  assert.equal(checks.find(({ head }) => head === oldest)?.target, target, 'it had its turn');
  assert.equal(scene.fleet().status?.requestsFrom, undefined);
  await stage.check();
  const again = scene.fleet().status?.checks ?? [];
  assert.equal(again.find(({ head }) => head === newest)?.target, target);
  forge.pulls.splice(1, 1000);
  await stage.check();
  const left = await stage.check();
  assert.deepEqual([numbers(left.checks), left.failure], [[1, 1002], undefined]);
});
