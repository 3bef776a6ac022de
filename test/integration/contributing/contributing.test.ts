/** CONTRIBUTING's table says what must be added: each of its rows is tried, with and without each piece. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type Adding, type Command, type Piece, textsWith } from './adding.ts';
import { startCompiler } from './compiler.ts';
import { copyWith } from './copy.ts';
import { addings } from './rows.ts';
import { isNamed, rowsOf } from './table.ts';

const checkout = join(import.meta.dirname, '../../..');
const compiler = await startCompiler(checkout);
after(() => compiler[Symbol.asyncDispose]());

function read(file: string): string | undefined {
  const path = join(checkout, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

test('a row of the table names every file that its toy needs', () => {
  const rows = rowsOf(read('CONTRIBUTING.md') ?? '');
  for (const { what, pieces } of addings) {
    for (const one of what) assert.ok(rows.has(one), `CONTRIBUTING has no row ${one}`);
    const places = what.flatMap((one) => rows.get(one) ?? []);
    const unnamed = pieces.filter(({ file, missedBy }) => missedBy !== 'toy' && !isNamed(file, places));
    assert.deepEqual(
      unnamed.map(({ file }) => file),
      [],
      what.join(' with '),
    );
  }
});

for (const adding of addings) {
  describe(adding.what.join(' with '), () => {
    test('the compiler has nothing to say when it is complete', async () => {
      compiler.overlay(textsWith(adding.pieces, read));
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
      read,
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
    read,
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
