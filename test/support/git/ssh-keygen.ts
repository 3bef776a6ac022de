import { createPrivateKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { signerWith } from './ssh-signing.ts';

/** Stands in for `ssh-keygen -Y sign -n git -f <key> <file>`, as git starts it. The key is Ed25519, in PEM. */
const all = process.argv.slice(2);
const [keyFile = '', file = ''] = all.slice(all.indexOf('-f') + 1);
const signer = signerWith('ssh-ed25519', createPrivateKey(readFileSync(keyFile)));
writeFileSync(`${file}.sig`, signer.sign(readFileSync(file)));
