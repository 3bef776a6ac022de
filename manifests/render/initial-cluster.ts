/** etcd's `--initial-cluster`: `name=url,name=url`, one URL a member. */

interface InitialMember {
  readonly name: string;
  readonly url: string;
}

export type InitialCluster = readonly InitialMember[];

export function formatInitialCluster(members: InitialCluster): string {
  return members.map(({ name, url }) => `${name}=${url}`).join(',');
}

/**
 * Strict on purpose: this text decides which member may start on an empty disk. Anything that {@link
 * formatInitialCluster} would not have written is refused rather than repaired.
 */
export function parseInitialCluster(text: string): { members: InitialCluster } | { problem: string } {
  const members: InitialMember[] = [];
  for (const entry of text.split(',')) {
    const [, name, url] = /^([^=,\s]+)=(https?:\/\/[^\s/,=@?#]+:\d{1,5})$/.exec(entry) ?? [];
    if (name === undefined || url === undefined) {
      return { problem: `"${clip(entry)}" is not name=scheme://host:port` };
    }
    if (members.some((other) => other.name === name)) return { problem: `member ${name} is listed twice` };
    if (members.some((other) => other.url === url)) return { problem: `peer URL ${url} is listed twice` };
    members.push({ name, url });
  }
  return { members };
}

/** Annotations may hold 256 KiB; a message should not. */
function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
