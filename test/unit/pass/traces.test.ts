import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { digestOf, type LifeKind, lived, type PassTrace } from './lives.ts';

/**
 * Twenty lives, and what each of their passes asked, wrote and came to, in order. How passes are put together must not
 * change them. What rules decide may: `TRACES=keep` keeps what they are now. `TRACES=<directory>` writes them there in
 * full, with what was written and why: to be compared between two versions of the code.
 */

const lives: readonly (readonly [LifeKind, number, number])[] = [
  ...Array.from({ length: 10 }, (_, index) => ['plain', index + 1, 14] as const),
  ...Array.from({ length: 4 }, (_, index) => ['nodes', index + 1, 14] as const),
  ...Array.from({ length: 6 }, (_, index) => ['waiting', index + 1, 7] as const),
];
const fixture = join(import.meta.dirname, 'traces.json');
const kept: Readonly<Record<string, readonly string[]>> = JSON.parse(readFileSync(fixture, 'utf8'));
const { TRACES: mode } = process.env;
const now: Record<string, readonly string[]> = {};

// Modules that load on first use take turns of the event loop, which a trace would show.
before(async () => {
  for (const kind of ['plain', 'nodes', 'waiting'] as const) await lived(kind, 2, 14);
});

for (const [kind, seed, passes] of lives) {
  const life = `${kind} ${seed}`;
  test(`each pass of the life "${life}" asks, writes and answers what it did before`, async () => {
    const traces = await lived(kind, seed, passes);
    now[life] = traces.map(digestOfPass);
    if (mode === 'keep') writeFileSync(fixture, `${JSON.stringify({ ...kept, ...now }, undefined, 1)}\n`);
    else if (mode !== undefined) writeInFull(mode, life, traces);
    assert.deepEqual(now[life], mode === 'keep' ? now[life] : kept[life]);
  });
}

function digestOfPass({ after, lines }: PassTrace): string {
  return digestOf([after, ...lines.map(({ short }) => short)].join('\n'));
}

function writeInFull(directory: string, life: string, traces: readonly PassTrace[]): void {
  mkdirSync(directory, { recursive: true });
  const text = traces
    .map(({ after, lines }) => [`## ${after}`, ...lines.map(({ full }) => full), ''].join('\n'))
    .join('\n');
  writeFileSync(join(directory, life.replace(' ', '-')), text);
}
