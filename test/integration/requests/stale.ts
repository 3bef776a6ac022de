import type { Contract } from './contract.ts';
import type { Doing } from './doing.ts';

/** Of what is written over exactly what was read: whatever others did to it meanwhile, it stays as they left it. */
export function whenStale(
  { object, name }: Pick<Doing, 'object' | 'name'>,
  contract: Pick<Contract, 'start' | 'tls' | 'asks'>,
  refused: NonNullable<Contract['refused']> = 'precondition WorldMoved',
): readonly Contract[] {
  return (['writes to', 'deletes', 'makes anew'] as const).map((does) => ({
    ...contract,
    when: `another one ${words[does]} since it was read`,
    others: [{ does, object, name }],
    refused,
  }));
}

const words = { 'writes to': 'wrote to it', deletes: 'deleted it', 'makes anew': 'made it anew' } as const;
