import type { ApprovalAsked } from '../../manifests/api/approval.ts';
import { type Html, markup } from './markup.ts';
import { card } from './parts.ts';

interface Asking {
  readonly metadata: { readonly namespace?: string; readonly name: string };
  readonly status?: { readonly approvals?: readonly ApprovalAsked[] | undefined };
}

/** What a person is asked to approve, what is lost with it, and the command; nothing is approved from a page. */
export function approvalsCard({ metadata, status }: Asking, kind: 'cluster' | 'fleet'): Html {
  const asked = status?.approvals ?? [];
  if (asked.length === 0) return markup``;
  const command = `kubectl ratchet -n ${metadata.namespace ?? 'default'} approve ${kind === 'fleet' ? '--fleet ' : ''}${metadata.name}`;
  const rows = asked.map(
    ({ reason, approves, loses }) =>
      markup`<p><strong>${reason}</strong>: <bdi>${approves}</bdi></p><p>Lost with it: <bdi>${loses}</bdi></p>`,
  );
  return card('Asks for your approval', rows, markup`<p>To approve: <code>${command}</code></p>`);
}
