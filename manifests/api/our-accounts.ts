import { type Rule, rule } from './rule.ts';

/** Service accounts of an installation: this name, and those that begin with it and a dash. */
const ours = 'etcd-ratchet';

export function isOurAccount(name: string): boolean {
  return name === ours || name.startsWith(`${ours}-`);
}

export const notOurAccount: Rule = rule<string>({
  message: `must not be an account of etcd-ratchet itself (${ours}, ${ours}-…)`,
  cel: `self != '${ours}' && !self.startsWith('${ours}-')`,
  holds: (value) => !isOurAccount(value),
});
