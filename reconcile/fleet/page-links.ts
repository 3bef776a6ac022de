/** Where people look at things, below the page's address: what commit statuses lead to. */
export interface PageLinks {
  fleet(namespace: string, name: string): string;
  cluster(namespace: string, name: string): string;
  check(sha: string): string;
}

/** @param base the page's public address, an http(s) URL; what a proxy in front of it adds to the path belongs to it */
export function pageLinks(base: string): PageLinks {
  const root = base.replace(/\/+$/, '');
  const below = (...segments: readonly string[]) => [root, ...segments.map(encodeURIComponent)].join('/');
  return {
    fleet: (namespace, name) => below('fleets', namespace, name),
    cluster: (namespace, name) => below('clusters', namespace, name),
    check: (sha) => below('checks', sha),
  };
}
