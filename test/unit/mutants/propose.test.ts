import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mutated } from '../../mutants/mutant.ts';
import { parseOptions } from '../../mutants/options.ts';
import { guardsIn, proposed, type RoomName, rooms } from '../../mutants/propose.ts';

const source = `function f(a: boolean, b: boolean): number {
  // if (a) return 0;
  if (a) return 1;
  const both = a && b;
  if (both) throw new Error('both');
  if (a) return 1;
  return 2;
}
`;

test('guards are found line by line, and each is the only one of its text', () => {
  const found = guardsIn(source);
  assert.deepEqual(
    found.map(({ without }) => without),
    [
      'proposed, left out: if (a) return 1;',
      'proposed, && as ||: const both = a && b;',
      "proposed, left out: if (both) throw new Error('both');",
      'proposed, left out: if (a) return 1;',
    ],
  );
  for (const guard of found) assert.notEqual(mutated(source, guard), source);
  assert.match(mutated(source, found[1] ?? assert.fail()), /const both = a \|\| b;/);
});

for (const name of Object.keys(rooms) as RoomName[]) {
  test(`the room ${name} has guards to propose, and tests to miss them`, () => {
    const all = proposed(name, []);
    assert.ok(all.length > 3, String(all.length));
    const [known] = all;
    if (known) assert.ok(proposed(name, [known]).length < all.length);
  });
}

test('a room that is not there is refused by name', () => {
  assert.throws(() => parseOptions(['--propose', 'attic']), /must be one of adoption, rollback/);
});
