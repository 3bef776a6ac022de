import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { until } from '../e2e/support/until.ts';
import { type Consumed, chaptersOf } from './chapters.ts';

/** A real program on a cluster of ours. Times are in milliseconds. */
export interface Consumer extends AsyncDisposable {
  readonly name: string;
  /** From now on it tells of this chapter. */
  begin(chapter: string): void;
  /** Whether it has been served since this was called: asked again and again. */
  served(): () => boolean | Promise<boolean>;
  told(): Told | Promise<Told>;
  /** What it says at its end. @throws {AssertionError} where it lost something */
  finish(): Promise<string>;
}

/** Of the chapter that it is in. */
export interface Told {
  /** The longest without an acknowledged write. */
  readonly gap: number;
  readonly words: string;
}

/** Seconds until each is served again after a chapter. */
const patience = 60;

/** All chapters, with these consumers beside each other. @param isShort of a gap */
export async function liveThrough(
  t: TestContext,
  consumed: Omit<Consumed, 'words'>,
  consumers: readonly Consumer[],
  isShort: (gap: number) => boolean,
): Promise<void> {
  let last = '';
  const look = async () => {
    const all = await Promise.all(consumers.map(async ({ name, told }) => `${name}: ${(await told()).words}`));
    last = all.join('\n');
  };
  for (const { what, happens } of chaptersOf({ ...consumed, words: () => last })) {
    for (const { begin } of consumers) begin(what);
    await happens();
    const goOn = consumers.map(({ served }) => served());
    const all = async () => {
      await look();
      return (await Promise.all(goOn.map((isServed) => isServed()))).every((isServed) => isServed);
    };
    await until(`${what}: each is served`, all, { within: patience, last: () => last });
    for (const { name, told } of consumers) {
      const { gap, words } = await told();
      t.diagnostic(`${what}: ${name}: ${words}`);
      assert.ok(isShort(gap), `${what}: ${name}: ${gap} ms without service`);
    }
  }
  for (const { name, finish } of consumers) t.diagnostic(`${name}: ${await finish()}`);
}
