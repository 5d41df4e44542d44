import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The installed packages that decide what is in a database folder. */
export interface EngineVersions {
  readonly pglite: string | null;
  readonly pgvector: string | null;
}

const installed = createRequire(import.meta.url);

/** Null for what is not installed. */
export function engineVersions(): EngineVersions {
  return { pglite: versionOf('@electric-sql/pglite'), pgvector: versionOf('@electric-sql/pglite-pgvector') };
}

/** The folder with the code of a package, `<package>/dist`. Throws when it is not installed. */
export function codeFolder(name: string): string {
  return dirname(installed.resolve(name));
}

function versionOf(name: string): string | null {
  try {
    const { version } = JSON.parse(readFileSync(join(codeFolder(name), '../package.json'), 'utf8')) as {
      version: string;
    };
    return version;
  } catch {
    return null;
  }
}
