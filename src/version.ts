import { readFileSync } from 'node:fs';
import { shipped } from './core/shipped.ts';

/** The version in package.json, the only place it is written. */
export const version = (JSON.parse(readFileSync(shipped('package.json'), 'utf8')) as { version: string }).version;
