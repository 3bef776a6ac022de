import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** No registry can be asked here: what the Dockerfile says is read, and a workflow of the release builds it. */

const checkout = join(import.meta.dirname, '../../..');
const dockerfile = readFileSync(join(checkout, 'Dockerfile'), 'utf8');

interface Stage {
  readonly base: string;
  readonly name: string | undefined;
  readonly lines: readonly string[];
}

const stages = dockerfile
  .split(/^(?=FROM )/m)
  .filter((text) => text.startsWith('FROM '))
  .map((text): Stage => {
    const [from = '', ...lines] = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const [, base = '', name] = /^FROM (\S+)(?: AS (\S+))?$/.exec(from) ?? [];
    return { base, name, lines };
  });

/** A stage, and those that it is made from. */
function madeFrom(stage: Stage | undefined): readonly Stage[] {
  return stage ? [stage, ...madeFrom(stages.find(({ name }) => name === stage.base))] : [];
}

const image = madeFrom(stages.at(-1));
const base = image.at(-1)?.base ?? '';
const inBase = stages.filter((stage) => madeFrom(stage).at(-1)?.base === base);

test('every base is named by its digest', () => {
  const names = stages.flatMap(({ name }) => name ?? []);
  const foreign = stages.filter(({ base: one }) => !names.includes(one));
  assert.equal(foreign.length, 2);
  for (const stage of foreign) assert.match(stage.base, /^[a-z0-9./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
});

test('the image has no shell: it is distroless, and nothing that is done in it needs one', () => {
  assert.match(base, /^gcr\.io\/distroless\/nodejs24-debian12:nonroot@/);
  const words = inBase
    .flatMap(({ lines }) => lines)
    .filter((line) => /^(RUN|CMD|ENTRYPOINT|SHELL|HEALTHCHECK) /.test(line));
  assert.ok(words.length >= 4);
  for (const line of words) assert.doesNotThrow(() => JSON.parse(line.replace(/^[A-Z]+ /, '')), line);
});

test('it runs as the user of pods, owns nothing, and finds the program that pods name', () => {
  const lines = image.flatMap((stage) => stage.lines);
  assert.deepEqual(
    lines.filter((line) => line.startsWith('USER ')),
    ['USER 65532:65532'],
  );
  for (const line of stages.at(-1)?.lines.filter((one) => one.startsWith('COPY --from')) ?? [])
    assert.match(line, /--chown=0:0 /);
  assert.ok(lines.some((line) => /^ENV (.* )?PATH=\/nodejs\/bin( |$)/.test(line)));
});

test('what is compiled ahead is compiled by the user that runs it: Node looks by its number', () => {
  for (const { lines } of inBase)
    assert.ok(lines.every((line) => !line.startsWith('USER ') || line === 'USER 65532:65532'));
  const compiles = stages.filter(({ lines }) => lines.some((line) => line.includes('/app/chunks/*.js')));
  assert.deepEqual(
    compiles.map((stage) => madeFrom(stage).at(-1)?.base),
    [base],
  );
});

test('packages are installed without their scripts', () => {
  const installs = dockerfile.split('\n').filter((line) => line.includes('npm ci'));
  assert.equal(installs.length, 1);
  assert.match(installs[0] ?? '', /--ignore-scripts/);
});

test('a release checks who signed the base before it builds on it', () => {
  const workflow = readFileSync(join(checkout, '.github/workflows/image.yml'), 'utf8');
  const [check, build] = ['cosign verify "$base"', 'docker buildx build'].map((words) => workflow.indexOf(words));
  assert.ok(check !== undefined && build !== undefined && check > 0 && check < build);
});
