import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runPlugin } from '../../../functions/plugin/run.ts';
import { parseOptions } from '../../../functions/tick/options.ts';
import { type Block, blocksOf } from '../../support/docs/blocks.ts';
import { known, readings, surroundings } from '../../support/docs/pages.ts';
import { type Call, callsOf } from '../../support/docs/typed.ts';
import { documents, read } from './pages.ts';

const kinds = {
  sh: 'commands: this file, or a test that types the page',
  yaml: 'documents: yaml.test.ts, and the API server',
  text: 'what a command prints, and pictures',
  mermaid: 'pictures',
} as const;

const scripts = (directory: string) =>
  (JSON.parse(read(`${directory}package.json`)) as { readonly scripts: Readonly<Record<string, string>> }).scripts;

test('every block says what it holds, so that a test knows what to make of it', () => {
  const blocks = documents.flatMap((page) => blocksOf(page, read(page)));
  assert.ok(blocks.length > 100);
  assert.deepEqual(
    blocks.filter(({ kind }) => !(kind in kinds)).map(({ page, line, kind }) => `${page}:${line}: "${kind}"`),
    [],
  );
});

test('no command hides in a block that no test reads', () => {
  const told = documents.flatMap((page) => blocksOf(page, read(page))).filter(({ kind }) => kind === 'text');
  assert.deepEqual(told.filter(hidesCommand).map(at), []);
  assert.ok(hidesCommand({ page: 'a', line: 1, kind: 'text', text: 'NAME\n$ kubectl get pods\n' }));
  assert.ok(hidesCommand({ page: 'a', line: 1, kind: 'text', text: 'kubectl get pods\n' }));
});

for (const [page, blocks] of readings)
  test(`every command in ${page} has a form that its program knows`, async () => {
    const calls = await callsOf(blocks, known, surroundings);
    const problems = await Promise.all(
      calls.map(async (call) => {
        const problem = await problemOf(call);
        return problem && `${at(call.block)}: ${call.program} ${call.args.join(' ')}: ${problem}`;
      }),
    );
    assert.deepEqual(problems.filter(Boolean), []);
  });

describe('a mistake is found', () => {
  for (const [what, text, problem] of [
    ['an npm script that is not there', 'npm run nothing', /no such script/],
    ['an option that the program has not', 'node dist/tick.js --nothing', /unknown option/],
    ['a command that kubectl ratchet has not', 'kubectl ratchet nothing', /unknown command/],
    ['a wrong option of kubectl ratchet', 'kubectl ratchet why orders --nothing', /unknown option/],
    ['a program that no test knows', 'kubeclt get pods', /no test knows/],
  ] as const)
    test(what, async () => {
      const [call] = await callsOf([block(text)], known);
      assert.match((await problemOf(call ?? assert.fail('no call'))) ?? '', problem);
    });

  for (const [what, text, problem] of [
    ['a placeholder that the shell takes for a file', 'kubectl get <name>', /p\.md: .*syntax error/],
    ['a variable that the page never sets', 'kubectl get "$NAME"', /p\.md: .*unbound/],
    ['a quote that does not end', "kubectl get 'a", /p\.md: .*unexpected EOF/],
    ['a loop that does not end', 'while :; do :; done', /p\.md: .*does not end/],
  ] as const)
    test(what, async () => {
      await assert.rejects(callsOf([block(text)], known, {}, 1000), problem);
    });
});

/** `undefined`: it is well formed, as far as can be told without a cluster; an integration test asks kubectl itself. */
async function problemOf({ block: { kind }, program, args }: Call): Promise<string | undefined> {
  if (!known.includes(program)) return 'no test knows this program: see test/support/docs/pages.ts';
  if (program === 'npm') return ofNpm(args);
  if (program === 'node') return ofNode(args);
  if (program === 'kubectl' && args[0] === 'ratchet') {
    const problem = await ofPlugin(args.slice(1));
    // A sentence may name a command without the cluster that it is asked about.
    return kind === 'inline' && /missing required argument|argument missing/.test(problem ?? '') ? undefined : problem;
  }
  return undefined;
}

function ofNpm(args: readonly string[]): string | undefined {
  const [first, ...others] = args.filter((arg) => !arg.startsWith('-'));
  if (first !== 'run') return ['ci', 'test', 'link', 'install'].includes(first ?? '') ? undefined : 'an odd command';
  const prefix = args.includes('--prefix') ? `${others.shift()}/` : '';
  return others[0] !== undefined && others[0] in scripts(prefix) ? undefined : 'no such script';
}

function ofNode([file, ...args]: readonly string[]): string | undefined {
  if (file !== 'dist/tick.js') return 'a program that is not built';
  let said = '';
  const told = parseOptions(args, {
    version: '0',
    out: () => {},
    err: (text) => {
      said += text;
    },
  });
  return told.kind === 'exit' && told.code !== 0 ? said.trim() : undefined;
}

async function ofPlugin(args: readonly string[]): Promise<string | undefined> {
  const wellFormed = new Error('it would ask the cluster now');
  let said = '';
  const terminal = {
    out: () => {},
    err: (text: string) => {
      said += text;
    },
    colours: false,
    now: () => new Date(0),
    stop: AbortSignal.abort(),
  };
  try {
    const code = await runPlugin(args, terminal, () => Promise.reject(wellFormed));
    return code === 0 ? undefined : said.trim();
  } catch (error) {
    if (error !== wellFormed) throw error;
    return undefined;
  }
}

/** `git push: …` is a heading of the demo's. */
function hidesCommand({ text }: Block): boolean {
  return /^\s*(\$ |(kubectl|npm|node|git|helm|docker|etcdctl) [a-z-]+(?![a-z:-]))/m.test(text);
}

function at({ page, line }: Block): string {
  return `${page}:${line}`;
}

function block(text: string): Block {
  return { page: 'p.md', line: 1, kind: 'sh', text: `${text}\n` };
}
