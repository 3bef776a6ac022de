import fc from 'fast-check';
import { refusalOf, strictEgress } from '../../../manifests/egress/egress.ts';
import { hostRefusal } from '../../../manifests/egress/host-refusal.ts';
import { hostsText, isListed, readHosts } from '../../../manifests/render/listed-hosts.ts';
import { mutated } from '../mutate.ts';
import { target } from '../target.ts';

/** Four bytes of an address that no Job and no fetch may ask. */
const forbidden = fc.oneof(
  fc.tuple(fc.constantFrom(0, 127), fc.nat(255), fc.nat(255), fc.nat(255)),
  fc.tuple(fc.constant(169), fc.constant(254), fc.nat(255), fc.nat(255)),
);

/** One number of an address, as C's `inet_aton` and browsers read it. */
const number = (value: number) =>
  fc.constantFrom(`${value}`, `0${value.toString(8)}`, `0x${value.toString(16)}`, `0X${value.toString(16)}`);

/** However an address may be spelt. */
const spelt = forbidden.chain(([a, b, c, d]) => {
  const [upper, lower] = [a * 256 + b, c * 256 + d].map((word) => word.toString(16));
  return fc.oneof(
    fc.tuple(number(a), number(b), number(c), number(d)).map((parts) => parts.join('.')),
    fc.tuple(number(a), number(b), number(c * 256 + d)).map((parts) => parts.join('.')),
    number(((a * 256 + b) * 256 + c) * 256 + d),
    fc
      .constantFrom('::ffff:', '64:ff9b::', '64:ff9b:1::', '0:0:0:0:0:ffff:')
      .map((prefix) => `[${prefix}${upper}:${lower}]`),
    fc.constant(`[2002:${upper}:${lower}::]`),
    fc.constant(`[::ffff:${a}.${b}.${c}.${d}]`),
  );
});

const settings = mutated(fc.constantFrom('git.example.com, *.forge.example:8443\n[2001:db8::1] 10.0.0.7'), [
  '*.',
  ':',
  '[',
  ',',
]);
const endings = fc.constantFrom('', '.', ':443', ':80', '/a', '?a', '#a');

export const hostTarget = target<{
  readonly host: string;
  readonly scheme: string;
  readonly end: string;
  readonly listed: Uint8Array;
}>({
  name: 'hosts',
  inputs: fc.record({ host: spelt, scheme: fc.constantFrom('http', 'https', 'HTTPS'), end: endings, listed: settings }),
  try: async ({ host, scheme, end, listed }) => {
    const written = `${scheme}://${host}${end}`;
    const url = URL.parse(written);
    if (url && refusalOf(url, false, strictEgress)?.reason !== 'HostRefused') throw new Error(`${written} is asked`);
    if (hostRefusal(written) === undefined) throw new Error(`a Job is made for ${written}`);
    const { patterns } = readHosts(Buffer.from(listed).toString());
    const again = readHosts(hostsText(patterns)).patterns;
    if (JSON.stringify(again) !== JSON.stringify(patterns)) throw new Error(`a Job reads other hosts: ${listed}`);
    if (url && isListed(patterns, url) !== isListed(again, url))
      throw new Error(`${written} is listed for one of them`);
  },
});
