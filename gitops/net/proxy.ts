/** HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or in lower case, which wins. Only entry points read the environment. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

const proxies = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'] as const;
const exceptions = ['no_proxy', 'NO_PROXY'] as const;

/**
 * The variables as Node's agents want them. Node ignores what it does not understand, and asks the host directly. So an
 * address without a scheme gets one, as for curl and git, and every other misunderstanding is an error.
 * @throws Error with code ERR_PROXY_INVALID_CONFIG, without the value, which may hold a password
 */
export function usableProxy(env: ProxyEnvironment): Record<string, string> {
  const usable: Record<string, string> = {};
  for (const name of proxies) {
    const value = env[name]?.trim();
    if (value) usable[name] = withScheme(name, value);
  }
  for (const name of exceptions) {
    const value = env[name];
    if (value)
      usable[name] = value
        .split(/[\s,]+/)
        .map(understood)
        .join(',');
  }
  return usable;
}

/** Node takes an entry of NO_PROXY literally: elsewhere a domain means those below it too, and networks are known. */
function understood(entry: string): string {
  const [, a, b, c, d, length] = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(entry) ?? [];
  if (length !== undefined) return networkRange([a, b, c, d].map(Number), Number(length));
  const isDomain = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(entry) && !/^[\d.]+(-[\d.]+)?$/.test(entry);
  return isDomain ? `.${entry}` : entry;
}

/** `10.0.0.0/8` as Node writes it: `10.0.0.0-10.255.255.255`. */
function networkRange(bytes: readonly number[], length: number): string {
  const address = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  const size = 2 ** (32 - Math.min(length, 32));
  const first = Math.floor(address / size) * size;
  return `${dotted(first)}-${dotted(first + size - 1)}`;
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

function withScheme(name: string, value: string): string {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`);
  if (url && ['http:', 'https:'].includes(url.protocol) && url.hostname !== '') return url.href;
  const problem = `${name} is not the URL of an HTTP proxy, such as http://proxy.example.com:3128`;
  throw Object.assign(new Error(problem), { code: 'ERR_PROXY_INVALID_CONFIG' });
}
