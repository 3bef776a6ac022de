import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Block } from '../../support/docs/blocks.ts';
import { known, readings, surroundings } from '../../support/docs/pages.ts';
import { type Call, callsOf } from '../../support/docs/typed.ts';
import { at, typedBlocks } from '../../support/docs/typed-blocks.ts';
import { shareApiServer } from '../shared-api-server.ts';

/** What kubectl itself and a real API server say to every kubectl command of the documentation that no test types. */
const api = await shareApiServer();
after(() => api[Symbol.asyncDispose]());

/** They change nothing, so they are run: kinds and JSONPath are then known to be right. */
const reading = ['describe', 'get'];

/** Kinds of other projects, which this API server does not serve. */
const foreign = /\.knative\.dev|cert-manager\.io|certificaterequest|kustomizations/;

const isTyped = (block: Block) => typedBlocks.has(at(block));
const asked = [...readings].filter(([, blocks]) => !blocks.every(isTyped));

for (const [page, blocks] of asked)
  test(`kubectl knows every command in ${page}`, async () => {
    const calls = await callsOf(blocks, known, surroundings);
    const own = calls.filter(
      ({ block, program, args }) => program === 'kubectl' && !others.includes(args[0] ?? '') && !isTyped(block),
    );
    const problems: string[] = [];
    // A loop asks the same again and again.
    const once = new Map(own.map((call) => [JSON.stringify(call.args), call]));
    for (const call of once.values()) {
      const problem = await problemOf(call);
      if (problem) problems.push(`${call.block.page}:${call.block.line}: kubectl ${call.args.join(' ')}: ${problem}`);
    }
    assert.deepEqual(problems, []);
  });

/** Plugins: ours is asked by a unit test. */
const others = ['krew', 'ratchet'];

for (const [what, args, problem] of [
  ['a subcommand', ['anotate', 'pod', 'x', 'a=b'], /unknown command/],
  ['a flag', ['get', 'pods', '--selectr=a'], /unknown flag/],
  ['a kind', ['-n', 'payments', 'get', 'etcdbackings.etcd.ratchet.dev'], /resource type/],
  ['a JSONPath', ['get', 'pods', '-o', 'jsonpath={.items[}'], /jsonpath|array|unterminated/i],
] as const)
  test(`${what} that is misspelt is found`, async () => {
    const block = { page: 'p.md', line: 1, kind: 'sh', text: '' };
    assert.match((await problemOf({ block, program: 'kubectl', args })) ?? '', problem);
  });

async function problemOf({ args }: Call): Promise<string | undefined> {
  // Everything after `--` is another program's.
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  const help = await said([...own, '--help']);
  const verb =
    own.find((arg, index) => !arg.startsWith('-') && !['-n', '--namespace'].includes(own[index - 1] ?? '')) ?? '';
  if (help.error) return help.error;
  if (!help.text.includes(`kubectl ${verb}`)) return `unknown command ${verb}`;
  if (!reading.includes(verb) || own.includes('-w') || foreign.test(args.join(' '))) return undefined;
  const { error } = await said(args.filter((arg) => arg !== ''));
  return error && !/NotFound|not found|No resources found/.test(error) ? error : undefined;
}

function said(args: readonly string[]): Promise<{ readonly text: string; readonly error?: string }> {
  return api.kubectl(args).then(
    (text) => ({ text }),
    (error: Error) => ({ text: '', error: error.message.replaceAll('\n', ' ') }),
  );
}
