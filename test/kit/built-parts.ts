import { resolve } from 'node:path';

/** What `parts.ts` names, for processes that a test starts. */
export const builtParts = resolve('.built/parts.js');
