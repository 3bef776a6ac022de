import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defineConfig } from 'vitepress';
import { landing, sidebarOf } from './contents.ts';

const docs = resolve(import.meta.dirname, '..');
const repository = 'https://github.com/etcd-ratchet/etcd-ratchet';
const { version } = JSON.parse(readFileSync(resolve(docs, '../package.json'), 'utf8')) as { readonly version: string };

/** What a page links to outside of the documentation is read in the repository. */
function intoRepository(href: string, page: string): string {
  if (/^[a-z]+:/.test(href) || href.startsWith('#') || href.startsWith('/')) return href;
  const [path = '', anchor] = href.split('#');
  const target = resolve(docs, page, '..', path);
  if (target.startsWith(`${docs}/`) && target.endsWith('.md')) return href;
  const inside = target.slice(resolve(docs, '..').length + 1);
  return `${repository}/blob/main/${inside}${anchor ? `#${anchor}` : ''}`;
}

export default defineConfig({
  title: 'etcd-ratchet',
  description: 'etcd clusters on Kubernetes, kept by pull request',
  lang: 'en',
  rewrites: (id) => id.replace(/(^|\/)README\.md$/, '$1index.md'),
  cleanUrls: true,
  // The page, on a reader's own machine.
  ignoreDeadLinks: 'localhostLinks',
  themeConfig: {
    nav: [
      { text: 'Tutorials', link: '/tutorials/first-cluster', activeMatch: '^/tutorials/' },
      { text: 'How to', link: '/how-to/install', activeMatch: '^/how-to/' },
      { text: 'Runbooks', link: '/runbooks/', activeMatch: '^/runbooks/' },
      { text: 'Reference', link: '/reference/what-it-says', activeMatch: '^/reference/' },
      {
        text: `v${version}`,
        items: [
          { text: 'Releases', link: '/releases/' },
          { text: 'Changes', link: `${repository}/blob/main/CHANGELOG.md` },
        ],
      },
    ],
    sidebar: sidebarOf(readFileSync(resolve(docs, 'README.md'), 'utf8')),
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path` },
  },
  transformPageData(page) {
    if (page.relativePath === 'index.md') Object.assign(page.frontmatter, landing);
  },
  buildEnd({ outDir }) {
    const home = readFileSync(join(outDir, 'index.html'), 'utf8');
    if (!home.includes(landing.hero.text)) throw new Error('docs: the home page does not say what this is');
    if (home.includes('{{'))
      throw new Error(
        "docs: the home page shows a template that nothing filled in, mostly the theme's: look at it in a browser",
      );
  },
  markdown: {
    config(md) {
      // Text like {{cluster}} is that of an object's name. Other delimiters would be those of the theme's own templates, too.
      md.renderer.rules.text = (tokens, at) =>
        md.utils.escapeHtml(tokens[at]?.content ?? '').replaceAll('{{', '{&#123;');
      const text =
        md.renderer.rules.link_open ?? ((tokens, at, options, _, self) => self.renderToken(tokens, at, options));
      md.renderer.rules.link_open = (tokens, at, options, env, self) => {
        const token = tokens[at];
        const href = token?.attrGet('href');
        if (token && href) token.attrSet('href', intoRepository(href, env.relativePath ?? ''));
        return text(tokens, at, options, env, self);
      };
    },
  },
});
