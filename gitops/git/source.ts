/** How to authenticate, and whom to trust. Comes from a Secret; never printed. */
export interface GitCredentials {
  readonly username?: string;
  readonly password?: string;
  /** Sent as the password of HTTP basic authentication, which is what most forges accept for Git. */
  readonly token?: string;
  /** Of a token without `username`: as whose password, or otherwise; absent: as that of any user. */
  readonly tokenAs?: { readonly user: string } | 'Bearer';
  /** PEM; trusted in addition to the public authorities. */
  readonly caBundle?: string;
}

/** Where desired state comes from. */
export interface GitSource {
  readonly url: string;
  /** A branch, a tag, a full ref name (`refs/…`) or a commit's 40 hexadecimal digits. */
  readonly ref: string;
  /** A folder (or one file) inside the repository; empty, `.` or `/`-less. */
  readonly path: string;
  readonly credentials?: GitCredentials;
}

/** Equal for sources at the same address with the same credentials, which it holds. */
export function accessOf({ url, credentials = {} }: Pick<GitSource, 'url' | 'credentials'>): string {
  const { username, password, token, tokenAs, caBundle } = credentials;
  return JSON.stringify([url.replace(/\/+$/, ''), username, password, token, tokenAs, caBundle]);
}

/** Everything that is wrong with a source, each as a sentence for a person; empty if it can be used. */
export function validateSource(source: Pick<GitSource, 'url' | 'ref' | 'path'>): string[] {
  return [...urlProblems(source.url), ...refProblems(source.ref), ...pathProblems(source.path)];
}

function urlProblems(text: string): string[] {
  const useHttps = 'use an HTTPS URL such as https://git.example.com/team/repository.git';
  if (text.trim() === '') return [`url is empty: ${useHttps}`];

  const scheme = /^(?<scheme>[a-z][a-z0-9+.-]*):\/\//i.exec(text)?.groups?.scheme?.toLowerCase();
  // git's scp-like form, `user@host:path` or `host:path`: a colon before the first slash.
  if (!scheme && /^[^/]+:/.test(text)) return [`url: SSH is not supported: ${useHttps}`];
  if (scheme === 'ssh' || scheme === 'git+ssh' || scheme === 'ssh+git')
    return [`url: SSH is not supported: ${useHttps}`];
  if (scheme !== 'http' && scheme !== 'https') {
    return [`url: ${scheme ? `${scheme}:// is not supported` : 'it has no scheme'}: ${useHttps}`];
  }

  if (!URL.canParse(text)) return [`url cannot be parsed: ${useHttps}`];
  const url = new URL(text);
  const problems: string[] = [];
  if (url.username !== '' || url.password !== '') {
    problems.push(
      'url holds credentials, which would be readable in the resource and in logs: put them into a Secret and name it in secretName',
    );
  }
  if (url.search !== '' || url.hash !== '') problems.push('url must not have a query or a fragment');
  return problems;
}

/** The part of `git check-ref-format` that keeps a ref from being anything but a name. */
function refProblems(ref: string): string[] {
  if (ref.trim() === '') return ['ref is empty: name a branch, a tag or a commit'];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is refused here
  const forbidden = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^[/-]|[/.]$|\.lock(\/|$)|(^|\/)\./;
  return forbidden.test(ref) ? [`ref ${JSON.stringify(ref)} is not a valid ref name (see git check-ref-format)`] : [];
}

function pathProblems(path: string): string[] {
  if (path.startsWith('/'))
    return [`path ${JSON.stringify(path)} is absolute: it is relative to the repository's root`];
  if (path.includes('\\')) return [`path ${JSON.stringify(path)} contains a backslash: folders are separated by /`];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is refused here
  if (/[\u0000-\u001f\u007f]/.test(path)) return [`path ${JSON.stringify(path)} contains a control character`];
  if (path.split('/').includes('..'))
    return [`path ${JSON.stringify(path)} leads out of the repository: it must not contain ..`];
  return [];
}

/** The path as names from the root down: `./a//b/` is `['a', 'b']`. */
export function pathSegments(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
