import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortNames } from '../../../manifests/api/group.ts';
import { publishedImage } from '../../../manifests/release.ts';
import { read } from './pages.ts';

/** What a newcomer sees in two minutes; test/e2e/readme types it. */
const readme = read('README.md');
const lineOf = (text: string) => readme.slice(0, readme.indexOf(text)).split('\n').length;

test('the transcript of the demo ends above the fold of a screen', () => {
  assert.ok(readme.includes('kept by pull request"\n```'));
  assert.ok(lineOf('kept by pull request"\n```') <= 25);
});

test('a reader who looks for adoption, or has no Git, is told above the first command', () => {
  for (const word of ['Adopt the etcd that you have', 'Git is optional'])
    assert.ok(readme.includes(word) && lineOf(word) < lineOf('## Try it'), word);
});

test('the short names are those of the kinds', () => {
  assert.ok(readme.includes('`ec` is short for `etcdclusters.etcd.ratchet.dev`, `ef` for fleets'));
  assert.ok(shortNames.EtcdCluster.includes('ec'));
  assert.ok(shortNames.EtcdFleet.includes('ef'));
});

test('the path with kind loads the image that is installed, and says that kind was not tried', () => {
  assert.ok(readme.includes(`kind load docker-image ${publishedImage}\n`));
  assert.ok(readme.includes('kind itself was not tried'));
});

test('the table of the documentation fits on a screen', () => {
  const [, table = ''] = readme.split('## Documentation\n');
  const rows = table.split('\n').filter((line) => line.startsWith('| '));
  assert.ok(rows.length >= 5 && rows.length <= 8);
  assert.ok(Math.max(...rows.map((row) => row.replaceAll(/\]\([^)]*\)/g, ']').length)) <= 120);
});

test('the plugin is installed by a command of Install, before another command uses it', () => {
  const commands = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(({ 1: text = '' }) => text).join('');
  const [before = ''] = commands.split('kubectl ratchet');
  assert.match(before, /^npm ci && npm run build && npm link$/m);
  assert.ok(lineOf('&& npm link') < lineOf('## First cluster'));
});
