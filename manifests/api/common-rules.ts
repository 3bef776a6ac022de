import { durationPattern, isDuration, parseDuration } from './duration.ts';
import { sha256Pattern } from './identifiers.ts';
import { isQuantity, parseQuantity, type Quantity } from './quantity.ts';
import { matching, type Rule, rule } from './rule.ts';

export const dnsLabel = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
export const dnsSubdomain = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';

/** The name of a Secret, a storage class, a service account, … */
export const objectName: Rule = matching(
  dnsSubdomain,
  'must be the name of an object: lower-case letters, digits, "-" and "."',
  { hidesValue: true },
);

const quantityMessage = 'must be a quantity like 8Gi';

/**
 * Kubernetes 1.33 counts a number-or-text as 3 MiB whatever its maxLength, and refuses a CRD with a costly rule: this
 * one is as cheap as possible, in maps of at most 8.
 */
export const anyQuantity: Rule = rule<Quantity>({
  message: `${quantityMessage}, not negative`,
  cel: "type(self) == int ? self >= 0 : isQuantity(self) && !self.startsWith('-')",
  holds: (value) => isQuantity(value) && !String(value).startsWith('-'),
});

/** `least` and `most` are quantities, both included. */
export function quantityBetween(least: string, most: string, why = ''): Rule {
  return rule<Quantity>({
    message: `${quantityMessage}, from ${least} to ${most}${why}`,
    cel: `isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('${least}')) >= 0 && quantity(string(self)).compareTo(quantity('${most}')) <= 0`,
    holds: (value) =>
      isQuantity(value) && parseQuantity(value) >= parseQuantity(least) && parseQuantity(value) <= parseQuantity(most),
  });
}

/** `least` and `most` are durations, both included. */
export function durationBetween(least: string, most: string): Rule {
  return rule<string>({
    message: `must be a duration like 100ms, 2m or 1h30m, from ${least} to ${most}`,
    cel: `self.matches('${durationPattern}') && duration(self) >= duration('${least}') && duration(self) <= duration('${most}')`,
    holds: (value) =>
      isDuration(value) && parseDuration(value) >= parseDuration(least) && parseDuration(value) <= parseDuration(most),
  });
}

export const sha256Digest: Rule = matching(sha256Pattern, 'must be a sha256 in 64 lower-case hexadecimal digits');

/** etcd takes these in whole milliseconds. */
export const wholeMilliseconds: Rule = matching(
  '^([0-9]+(ms|s|m))+$',
  'must be in whole milliseconds, like 100ms or 1s',
);

/**
 * A client URL of etcd: a name or an address, and a port. Refuse characters that URL parsers read differently: the host
 * that we check must be the host that we connect to.
 */
export const etcdEndpointPattern = '^https?://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?$';

/** Without `user@`: credentials in a URL would end up in logs and statuses. */
export const httpUrl: Rule = matching(
  '^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[!-"$->@-~]*)?$',
  'must be an http(s):// URL without credentials, query or fragment; credentials go into the Secret',
  { hidesValue: true },
);
