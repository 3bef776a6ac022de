import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardsIn } from '../../mutants/guards.ts';
import { mutated } from '../../mutants/mutant.ts';
import { parseOptions } from '../../mutants/options.ts';
import { proposed, type RoomName, rooms } from '../../mutants/propose.ts';
import { rowsIn } from '../../mutants/rows.ts';

const source = `function f(a: boolean, b: boolean, list: string[]): unknown {
  // if (a) return 0;
  if (a) return 1;
  if (a) {
    return 2;
  } else throw new Error(\`\${a ? 'a' : 'b'}\`);
  const both = a && b && list.length > 0;
  const words = a ? 'it is so' : 'it is not';
  return a || b ? list.filter((one) => one !== '') : { ...(a && { a }) };
}
`;

test('guards are found by what they are, and words and fields are none', () => {
  const found = guardsIn(source);
  assert.deepEqual(
    found.map(({ without }) => without.replace('proposed, ', '')),
    [
      'left out: if (a) return 1;',
      `left out: if (a) { return 2; } else throw new Error(\`\${a ? 'a' : 'b'}\`);`,
      'without its last part: a && b && list.length > 0',
      'without its last part: a && b',
      'without its first part: a && b',
      "as if it were so: a || b ? list.filter((one) => one !== '') : { ...(a && { a }) }",
      "as if it were not so: a || b ? list.filter((one) => one !== '') : { ...(a && { a }) }",
      'without its last part: a || b',
      'without its first part: a || b',
      "not filtered: list.filter((one) => one !== '')",
    ],
  );
  const results = found.map((guard) => mutated(source, guard));
  assert.equal(new Set([source, ...results]).size, found.length + 1, 'each changes the file, and in its own way');
  assert.match(results[3] ?? '', /const both = a && list\.length > 0;/);
  assert.match(results[9] ?? '', /return a \|\| b \? list : /);
});

const table = `const one = { a: 'yes', b: 'no', c: 'yes', d: 'no', e: 'yes' } as const satisfies object;
export const two: ReadonlySet<string> = new Set(['x', 'y']);
export const three = { p: 'a sentence of words', ...one };
const lonely = [1];
const made = f({ a: 1, b: 2 });
`;

test('an object that an arrow returns stays one where it is returned always', () => {
  const [always] = guardsIn('const f = (a: boolean) => (a ? { a } : undefined);\n');
  assert.equal(
    always && mutated('const f = (a: boolean) => (a ? { a } : undefined);\n', always),
    'const f = (a: boolean) => (({ a }));\n',
  );
});

test('each row of a table is found, and one of a few words gets the next of them', () => {
  const found = rowsIn(table);
  const results = found.map((row) => mutated(table, row));
  assert.equal(new Set([table, ...results]).size, found.length + 1);
  const first = (line: number) => results.map((text) => text.split('\n')[line] ?? '');
  assert.deepEqual(
    [found.length, first(0)[0], first(0)[1]],
    [
      9,
      "const one = { a: 'no', b: 'no', c: 'yes', d: 'no', e: 'yes' } as const satisfies object;",
      "const one = { a: 'yes', b: 'yes', c: 'yes', d: 'no', e: 'yes' } as const satisfies object;",
    ],
  );
  assert.match(first(1)[5] ?? '', /new Set\(\[ 'y'\]\)/);
  assert.match(first(2)[8] ?? '', /\{ p: 'a sentence of words',\s+\}/);
});

test('what a table takes out in the same way is not proposed again', () => {
  const [first] = proposed('sleep', []);
  assert.ok(first);
  const others = proposed('sleep', [{ ...first, to: `${first.to}\n`, without: 'in words' }]);
  assert.ok(!others.some(({ without }) => without === first.without));
});

for (const name of Object.keys(rooms) as RoomName[]) {
  test(`the room ${name} has guards to propose, and tests to miss them`, () => {
    const all = proposed(name, []);
    assert.ok(all.length > 3, String(all.length));
  });
}

test('a room that is not there is refused by name', () => {
  assert.throws(() => parseOptions(['--propose', 'attic']), /must be one of adoption, rollback/);
});
