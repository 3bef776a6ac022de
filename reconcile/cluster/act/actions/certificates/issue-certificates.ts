import { defineAction } from '../define.ts';
import { issueLeaves } from './issue-leaves.ts';

/** Each leaf is written with one request, whole. What a member mounts follows the Secret without a restart. */
export const issueCertificates = defineAction('issue-certificates', {
  target: ({ leaves }) => leaves.map(({ plan }) => plan.secretName).join(', '),
  parts: (action) => action.leaves.map((leaf) => ({ ...action, leaves: [leaf] })),
  *run({ leaves, validity }, cluster) {
    yield* issueLeaves(leaves, validity, cluster);
  },
});
