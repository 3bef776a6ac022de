/** Toys of the rows of CONTRIBUTING's table, with and without each of their pieces. */

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Adding, type Command, type Piece, textsWith } from './adding.ts';
import { inCheckout } from './checkout.ts';
import { startCompiler } from './compiler.ts';
import { copyWith } from './copy.ts';
import { addings } from './rows.ts';

await using starting = new AsyncDisposableStack();
const copy = starting.use(await copyWith(new Map()));
// It finds nothing in a folder that came after it.
await copy.makeFolders(addings.flatMap(({ pieces }) => pieces.map(({ file }) => file)));
const compiler = starting.use(await startCompiler(copy.directory));
const started = starting.move();
after(() => started.disposeAsync());

for (const adding of addings) {
  describe(adding.what.join(' with '), () => {
    test('the compiler has nothing to say when it is complete', async () => {
      compiler.overlay(textsWith(adding.pieces, inCheckout));
      const said = await Promise.all(watchedOf(adding).map((file) => compiler.complaintsOf(file)));
      assert.deepEqual(said.flat(), []);
    });
    for (const piece of adding.pieces) {
      if (piece.missedBy !== 'toy') test(`something is said without ${piece.file}`, () => tryWithout(piece, adding));
    }
  });
}

test('with all of them generated files are stale, and once they are made all checks pass', async () => {
  await using copy = await copyWith(
    textsWith(
      addings.flatMap(({ pieces }) => pieces),
      inCheckout,
    ),
  );
  const generators = ['manifests/install/generate.ts', 'docs/generate.ts'];
  const stale = await Promise.all(generators.map((file) => copy.run('node', file, '--check')));
  const told = stale.map(({ said }) => said).join('\n');
  for (const { generated } of addings) if (generated) assert.match(told, generated);
  const commands = new Set(addings.flatMap(({ pieces }) => pieces.flatMap(commandOf)));
  for (const [program, ...args] of [
    ...generators.map((file) => ['node', file] as const),
    ['tsc'] as const,
    ...[...commands].map(argumentsOf),
  ]) {
    const { code, said } = await copy.run(program, ...args);
    assert.equal(code, 0, said);
  }
});

async function tryWithout(piece: Piece, { pieces }: Adding): Promise<void> {
  const { missedBy } = piece;
  if (missedBy === 'toy') return;
  const texts = textsWith(
    pieces.filter((one) => one !== piece),
    inCheckout,
  );
  if ('in' in missedBy) {
    compiler.overlay(texts);
    assert.match((await compiler.complaintsOf(missedBy.in)).join('\n'), missedBy.says);
    return;
  }
  await using copy = await copyWith(texts);
  const { code, said } = await copy.run(...argumentsOf(missedBy.run));
  assert.notEqual(code, 0, `${missedBy.run} misses nothing`);
  assert.match(said, missedBy.says);
}

/** Files that the compiler is asked about: those of the pieces, and where it would miss one. */
function watchedOf({ pieces }: Adding): readonly string[] {
  const missing = pieces.flatMap(({ missedBy }) => (missedBy !== 'toy' && 'in' in missedBy ? [missedBy.in] : []));
  const own = pieces.flatMap(({ file }) => (file.endsWith('.ts') ? [file] : []));
  return [...new Set([...own, ...missing])];
}

function commandOf({ missedBy }: Piece): readonly Command[] {
  return missedBy !== 'toy' && 'run' in missedBy ? [missedBy.run] : [];
}

function argumentsOf(command: Command): readonly [string, ...string[]] {
  if (command === 'knip') return ['knip'];
  return command === 'generate' ? ['node', 'docs/generate.ts'] : ['node', '--test', command];
}
