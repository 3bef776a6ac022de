import Type from 'typebox';
import { rule } from './rule.ts';
import { list, object, text } from './schema.ts';

/** The bounds leave room for an inventory in the same object. */
const personSchema = object({
  usernames: list(text(160, { minLength: 1 }), 3, {
    minItems: 1,
    description: 'What Kubernetes calls this person, as kubectl auth whoami says it: each account that may approve.',
  }),
  signers: Type.Optional(
    list(text(200, { minLength: 1 }), 2, {
      description: 'What the trusted keys call this person, as status.verification.signedBy says it.',
    }),
  ),
});

const notByAuthorSchema = object(
  {
    people: list(personSchema, 32, {
      minItems: 1,
      description: 'Who signs commits, and who may approve. An approval by a user who is not listed does not count.',
    }),
  },
  {
    description:
      'An approval counts only where another person gave it than the signer of the commit that is applied. Takes git.verify.',
  },
);

/** Of a fleet's spec. */
export const authorIsKnown = rule<{ readonly git: { readonly verify?: unknown }; readonly approvals?: object }>({
  message: 'approvals.notByAuthor takes git.verify: without a signature it is not known who the author is',
  cel: '!has(self.approvals) || !has(self.approvals.notByAuthor) || has(self.git.verify)',
  holds: ({ git, approvals = {} }) => !('notByAuthor' in approvals) || git.verify !== undefined,
  fieldPath: '.approvals.notByAuthor',
});

export const whoseApprovals = object(
  { notByAuthor: Type.Optional(notByAuthorSchema) },
  { description: 'Whose approvals count, of this fleet and of its clusters.' },
);
