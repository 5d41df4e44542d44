import { coreLimits } from '../../core/limits.ts';
import { problemTable, problemText } from '../../core/problems.ts';

/**
 * A server as `mcpServers` of the settings file holds it: what may be read of it here, unknown members kept. The
 * settings module has the schema that decides whether it is valid.
 */
export interface ServerEntry {
  [key: string]: unknown;
  type?: 'stdio' | 'streamable-http' | 'sse' | 'openapi';
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  url?: string;
  headers?: Record<string, string>;
  enabled?: boolean;
  description?: string;
}

/**
 * What is wrong with a name for a server, as the end of a sentence, or undefined. Names end up in URLs, file names and
 * tool names.
 */
export function serverNameProblem(name: string): string | undefined {
  if (name === '') return problemTable.no_text;
  if (name.length > coreLimits.serverNameChars) return problemText('longer', { most: `${coreLimits.serverNameChars}` });
  if (!/^[A-Za-z0-9._-]+$/.test(name)) return problemTable.server_name_letters;
  if (name.startsWith('.') || name.includes('..')) return problemTable.server_name_dots;
  // They would be found on every object.
  if (['__proto__', 'constructor', 'prototype'].includes(name)) return problemTable.reserved_word;
  return undefined;
}

/**
 * The closest name that is allowed; `server` when nothing is left of it. Of a path (`io.github.owner/name`,
 * `@scope/name`) the last part.
 */
export function serverNameFrom(text: string): string {
  const last = text.split('/').findLast((part) => /[A-Za-z0-9]/.test(part)) ?? '';
  const name = last
    .normalize('NFKD')
    .replace(/\p{Mark}+/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[-._]+|[-._]+$/g, '')
    .slice(0, 64);
  return serverNameProblem(name) === undefined ? name : 'server';
}
