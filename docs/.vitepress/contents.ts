/** A page, or a group of pages, of the site's sidebar. */
export interface Entry {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: readonly Entry[];
}

/**
 * The table of contents is docs/README.md, which a test holds to every page: a heading, a row for each page, and where
 * there are many, headings between them.
 */
export function sidebarOf(index: string): readonly Entry[] {
  return sectionsOf(index, '## ').map(({ text, body }, at) => {
    const groups = sectionsOf(body, '### ').map((group) => groupOf(group.text, group.body, true));
    const own = body.split(/^### /m)[0] ?? '';
    // The tutorials are open: a reader begins there.
    return { ...groupOf(text, own, at > 0), ...(groups.length > 0 && { items: groups }) };
  });
}

function sectionsOf(text: string, mark: string): readonly { readonly text: string; readonly body: string }[] {
  return text
    .split(new RegExp(`^${mark}`, 'm'))
    .slice(1)
    .map((body) => ({ text: body.split('\n', 1)[0] ?? '', body }));
}

function groupOf(text: string, body: string, collapsed: boolean): Entry {
  const last = [...body.matchAll(/^\|.*\| (\[.+\)) \|$/gm)].map(([, cell = '']) => cell);
  const rows = last.flatMap((cell) => [...cell.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)]);
  const pages = new Map(
    rows.flatMap(([, name = '', link = '']) => (link.startsWith('../') ? [] : [[pageOf(link), name] as const])),
  );
  return { text, collapsed, items: [...pages].map(([link, name]) => ({ text: name, link })) };
}

export function pageOf(link: string): string {
  return `/${link.replace(/\.md(#.*)?$/, '').replace(/(^|\/)README$/, '$1')}`;
}

/** What a visitor sees first, above the table of contents. */
export const landing = {
  layout: 'home',
  hero: {
    name: 'etcd-ratchet',
    text: 'etcd on Kubernetes, kept by pull request',
    tagline:
      'A pull request shows every step before it is taken. A commit says how far it is. No operator sits in memory waiting.',
    actions: [
      { theme: 'brand', text: 'First cluster', link: '/tutorials/first-cluster' },
      { theme: 'alt', text: 'Install', link: '/how-to/install' },
      { theme: 'alt', text: 'kubectl ratchet', link: '/how-to/kubectl-plugin' },
    ],
  },
  features: [
    {
      title: 'See it before',
      details: 'The plan of a merge, to its end, as a status and a report.',
      link: '/how-to/pull-requests',
    },
    {
      title: 'Lose nothing',
      details: 'A member whose disk came back empty or older can’t rejoin.',
      link: '/explanation/the-seal',
    },
    { title: 'Proven backups', details: 'A backup counts when it was restored and compared.', link: '/how-to/backups' },
    {
      title: 'Adopt what you have',
      details: 'Members of another etcd hand over to ours, without a pause.',
      link: '/how-to/adopt',
    },
    {
      title: 'TLS from the start',
      details: 'Certificates are made, renewed and rotated for you.',
      link: '/how-to/tls',
    },
    {
      title: 'At three in the morning',
      details: 'Each reason has a meaning, a cure and a runbook.',
      link: '/reference/what-it-says',
    },
  ],
} as const;
