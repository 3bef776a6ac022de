import Type, { type Static } from 'typebox';
import { approvals } from '../render/names.ts';
import { list, object, type ReadonlyDeep, text } from './schema.ts';
import { reasonWord } from './status-fields.ts';

/** Texts of an approval, in characters: a longer one is cut where it is reported. */
export const longestApprovalText = 2048;

const approvalFields = {
  annotation: Type.Enum(approvals, { description: 'The annotation of this object that gives it.' }),
  value: text(512, { description: 'The value of that annotation. It fits only what is asked here.' }),
  approves: text(longestApprovalText, { description: 'What it approves, in words.' }),
  loses: text(longestApprovalText, { description: "What is lost with it and can't be had back, in words." }),
} as const;

const approvalSchema = object(approvalFields);

/** Of few things at once: a recovery or a member that is given up, and a rollback. */
const askedSchema = object({ reason: reasonWord, ...approvalFields });

/** The same field in the status of all kinds that ask. */
export const approvalsAsked = Type.Optional(
  list(askedSchema, 8, {
    description:
      'What a person may approve, one entry for each; kubectl ratchet approve shows one, asks, and sets its annotation. Setting it takes the verb approve.',
  }),
);

/** What a person is asked to approve: the command in a message, the page and `kubectl ratchet` derive from this. */
export type Approval = ReadonlyDeep<Static<typeof approvalSchema>>;
/** As a status has it, with the reason of the refusal that it ends. */
export type ApprovalAsked = ReadonlyDeep<Static<typeof askedSchema>>;
