import Type from 'typebox';
import { int64, text } from './schema.ts';

export const observedGeneration = int64({
  minimum: -1,
  description: 'The generation of the spec that this status is about.',
});

export const etcdId = text(16, { description: 'As etcd prints it: hexadecimal.' });

export const memberRole = Type.Enum(['Voter', 'Learner'], { description: 'A learner has no vote yet.' });

export const stepTarget = text(253, { description: 'To what.' });

export const reasonWord = text(128, { description: 'Why, in one word of docs/reference/reasons.md.' });

export const failureFields = {
  reason: text(128, { description: 'Why, in one word.' }),
  message: text(2048, { description: 'Why, in words, and what to do.' }),
} as const;
