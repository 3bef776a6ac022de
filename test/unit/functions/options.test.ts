import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseOptions } from '../../../functions/tick/options.ts';
import { version } from '../../../manifests/release.ts';

function parse(...args: string[]) {
  let out = '';
  let err = '';
  const parsed = parseOptions(args, {
    version: '1.2.3',
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { parsed, out, err };
}

function options(...args: string[]) {
  const { parsed } = parse(...args);
  assert.equal(parsed.kind, 'options');
  return parsed.kind === 'options' ? parsed.options : assert.fail();
}

for (const [args, says] of [
  [['--bogus'], /unknown option '--bogus'/],
  [['extra'], /too many arguments/],
  [['--fleet', 'production'], /<namespace>\/<name>/],
  [['--cluster', 'a/b/c'], /<namespace>\/<name>/],
  [['--cluster', 'A/b'], /<namespace>\/<name>/],
  [['--output', 'yaml'], /text, json/],
  [['--timeout', '0'], /from 1 to 3600/],
  [['--timeout', '1.5'], /whole number/],
  [['--wait', '-1'], /from 0 to 3600/],
  [['--follow-up=x'], /<chain>\.<number>/],
  [['--fleet', 'a/b', '--cluster', 'a/c'], /exclude each other/],
  [['--shard', '4/4'], /<index>\/<of>, from 0\/1 to 255\/256/],
  [['--shard', '0/257'], /<index>\/<of>/],
  [['--shard', '-1/4'], /<index>\/<of>/],
  [['--shard', '1'], /<index>\/<of>/],
  [['--shard', '0/4', '--cluster', 'a/b'], /--shard excludes --fleet, --cluster/],
  [['--follow-up', '--dry-run'], /exclude each other/],
  [['--plan', '--dry-run'], /--plan and --dry-run exclude each other/],
  [['--plan', '--follow-up'], /--plan and --follow-up exclude each other/],
  [['--check', 'main'], /number of a request, or a commit/],
  [['--check', 'abc1234'], /40 hexadecimal digits/],
  [['--check', '1', '--plan'], /--check excludes --plan/],
  [['--check', '1', '--cluster', 'a/b'], /--check excludes/],
  [['--namespace', 'x', '--cluster', 'a/c'], /a\/c is not in --namespace x/],
] as const) {
  test(`wrong usage is exit code 2, and says what: ${args.join(' ')}`, () => {
    const { parsed, err } = parse(...args);
    assert.deepEqual(parsed, { kind: 'exit', code: 2 });
    assert.match(err, says);
  });
}

test('a request is named as people say it, a commit in any case', () => {
  assert.deepEqual(
    ['17', '#17', 'A'.repeat(40)].map((text) => options('--check', text).check),
    ['17', '17', 'a'.repeat(40)],
  );
});

test('help tells the exit codes and the environment', () => {
  const { parsed, out } = parse('--help');
  assert.deepEqual(parsed, { kind: 'exit', code: 0 });
  for (const word of ['Exit codes', '--detailed-exitcode', 'KUBECONFIG', 'CRONJOB_NAME'])
    assert.ok(out.includes(word), word);
});

test('the version is that of the package', () => {
  assert.equal(parse('--version').out, '1.2.3\n');
  assert.equal(version, JSON.parse(readFileSync('package.json', 'utf8')).version);
});

test('without arguments it is a tick that waits for nothing', () => {
  assert.partialDeepStrictEqual(options(), { clusters: [], dryRun: false, output: 'text', wait: 0, timeout: 50 });
  assert.equal(options().followUp, undefined);
});

test('a follow-up waits, but leaves time to act', () => {
  assert.partialDeepStrictEqual(options('--follow-up=abc.3'), { followUp: { chain: 'abc', number: 3 }, wait: 45 });
  assert.equal(options('--follow-up', '--timeout', '20').wait, 15);
  assert.deepEqual(options('--follow-up').followUp, {});
});

test('clusters are repeatable', () => {
  assert.deepEqual(options('--cluster', 'a/b', '--cluster', 'c/d').clusters, [
    { namespace: 'a', name: 'b' },
    { namespace: 'c', name: 'd' },
  ]);
});
