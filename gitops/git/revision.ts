/** A commit, and the ref that named it. Resolved once per invocation and threaded through everything. */
export interface Revision {
  /** As the source spells it: a branch, a tag, a full ref name, or the SHA itself. */
  readonly ref: string;
  /** 40 lower-case hexadecimal digits. */
  readonly sha: string;
}

/** `<ref>@sha1:<40 hex>`, the form that Flux prints and people already know. */
export function formatRevision({ ref, sha }: Revision): string {
  return `${ref}@sha1:${sha}`;
}

/** The inverse of `formatRevision`, else `undefined`. A ref name may itself contain `@`: the last one counts. */
export function parseRevision(text: string): Revision | undefined {
  const match = /^(?<ref>.+)@sha1:(?<sha>[0-9a-f]{40})$/s.exec(text);
  const { ref, sha } = match?.groups ?? {};
  return ref !== undefined && sha !== undefined ? { ref, sha } : undefined;
}

export function isSha(text: string): boolean {
  return /^[0-9a-f]{40}$/i.test(text);
}
