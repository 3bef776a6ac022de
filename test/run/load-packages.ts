import { registerHooks } from 'node:module';
import { packagesVariable } from './packages.ts';

/** Preloaded into the process of each test file, and so into what that forks (packages.ts). */
const urls = new Map(Object.entries(JSON.parse(process.env[packagesVariable] ?? '{}') as Record<string, string>));
registerHooks({
  resolve(specifier, context, next) {
    const url = urls.get(specifier);
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true };
  },
});
