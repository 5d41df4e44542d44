import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../../disk/write-file-atomic.ts';
import type { UserEnv } from '../../env/user-env.ts';
import { userFolder } from '../remote/credential-file.ts';

const shape = z.object({
  version: z.literal(1),
  path: z.string(),
  /** Null: there was no file. */
  before: z.string().nullable(),
  /** Of the file as it was written. */
  after: z.string(),
  hub: z.string(),
  keyId: z.string().optional(),
});

/** What `toolhub connect` wrote, and what was there before: files of clients hold keys, so it is 0600. */
export type Connection = z.output<typeof shape>;

export interface Connections {
  /** Where the copy of the client's file is. */
  readonly path: string;
  read(): Promise<Connection | undefined>;
  write(connection: Omit<Connection, 'version'>): Promise<void>;
  remove(): Promise<void>;
}

export function connectionRecord(client: string, name: string, env: Pick<UserEnv, 'appFolder'>): Connections {
  const folder = join(userFolder(env), 'connections');
  const path = join(
    folder,
    `${client}-${name.replace(/[^\w-]+/g, '-').slice(0, 80)}-${digestOf(name).slice(0, 8)}.json`,
  );
  return {
    path,
    async read() {
      try {
        return shape.parse(JSON.parse(await readFile(path, 'utf8')));
      } catch {
        // It only makes the way back exact; without it the entry alone is taken out.
        return undefined;
      }
    },
    async write(connection) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await writeFileAtomic(path, `${JSON.stringify({ version: 1, ...connection }, null, 2)}\n`);
    },
    remove: () => rm(path, { force: true }),
  };
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
