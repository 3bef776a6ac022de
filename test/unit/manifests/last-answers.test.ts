import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastAnswers } from '../../../manifests/last-answers.ts';

test('what was asked last is asked once; what was asked for longest ago goes first', () => {
  const asked: string[] = [];
  const answers = lastAnswers<string | undefined>(2);
  const ask = (key: string) =>
    answers(key, () => {
      asked.push(key);
      return key === 'nothing' ? undefined : `of ${key}`;
    });
  assert.deepEqual(['a', 'nothing', 'a', 'nothing', 'a'].map(ask), ['of a', undefined, 'of a', undefined, 'of a']);
  assert.deepEqual(asked, ['a', 'nothing']);
  assert.deepEqual(['b', 'a', 'nothing', 'a'].map(ask), ['of b', 'of a', undefined, 'of a']);
  assert.deepEqual(asked, ['a', 'nothing', 'b', 'nothing']);
});

test('what can not be answered is asked again', () => {
  const answers = lastAnswers<string>(2);
  assert.throws(() => answers('a', () => assert.fail('not now')), /not now/);
  assert.equal(
    answers('a', () => 'now'),
    'now',
  );
});
