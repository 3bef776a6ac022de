import { createHook } from 'node:async_hooks';

/**
 * Preloaded into the process of each unit test file. Node's runner follows every promise, so that it can name the test
 * of an uncaught error: a seventh of the processor time of tests that make millions of them. Without that, timers and
 * sockets are followed all the same; an error of a promise that no test awaits fails the file, and not its test.
 */
const untracked: object = createHook({ trackPromises: false });
const mark = Object.getOwnPropertySymbols(untracked).find((symbol) => Reflect.get(untracked, symbol) === true);
const prototype: unknown = Object.getPrototypeOf(untracked);
if (mark === undefined || !isHook(prototype))
  throw new Error('this Node tells by no mark that a hook follows promises');

const { enable } = prototype;
prototype.enable = function () {
  Object.assign(this, { [mark]: true });
  return enable.call(this);
};

interface Hook {
  enable(this: Hook): unknown;
}

function isHook(value: unknown): value is Hook {
  return typeof value === 'object' && value !== null && 'enable' in value && typeof value.enable === 'function';
}
