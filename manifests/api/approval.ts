import Type, { type Static } from 'typebox';
import { approvals } from '../render/names.ts';
import { list, object, type ReadonlyDeep, text } from './schema.ts';
import { reasonWord } from './status-fields.ts';

/** Texts of an approval, in characters: a longer one is cut where it is reported. */
export const longestApprovalText = 2048;
/** Of a fleet, whose inventory needs the room. */
export const longestFleetApprovalText = 850;

function approvalFields(longest: number) {
  return {
    annotation: Type.Enum(approvals, { description: 'The annotation of this object that gives it.' }),
    value: text(512, { description: 'The value of that annotation. It fits only what is asked here.' }),
    approves: text(longest, { description: 'What it approves, in words.' }),
    loses: text(longest, { description: "What is lost with it and can't be had back, in words." }),
  } as const;
}

const approvalSchema = object(approvalFields(longestApprovalText));

function askedSchema(longest: number) {
  return object({
    reason: reasonWord,
    ...approvalFields(longest),
    refused: Type.Optional(
      text(longest, {
        description: "It was given and does not count, and why: its fleet's spec.approvals.notByAuthor.",
      }),
    ),
  });
}

/** The same field in the status of all kinds that ask. @param most at once */
export function approvalsAsked(most: number, longest = longestApprovalText) {
  return Type.Optional(
    list(askedSchema(longest), most, {
      description:
        'What a person may approve, one entry for each; kubectl ratchet approve shows one, asks, and sets its annotation. Setting it takes the verb approve.',
    }),
  );
}

/** What a person is asked to approve: the command in a message, the page and `kubectl ratchet` derive from this. */
export type Approval = ReadonlyDeep<Static<typeof approvalSchema>>;
/** As a status has it, with the reason of the refusal that it ends. */
export type ApprovalAsked = ReadonlyDeep<Static<ReturnType<typeof askedSchema>>>;
