import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { z } from 'zod';
import { HubError } from '../../core/errors.ts';
import { diskError, errnoOf } from '../../disk/disk-error.ts';
import { takeLock } from '../../disk/folder-lock.ts';
import { openToOthers } from '../../disk/permissions.ts';
import { writeFileAtomic } from '../../disk/write-file-atomic.ts';
import type { UserEnv } from '../../env/user-env.ts';
import { cliLimits } from '../limits.ts';

const token = z
  .string()
  .regex(/^[\x21-\x7e]+$/)
  .max(cliLimits.tokenChars);
const url = z.url({ protocol: /^https?$/ });
const common = { version: z.literal(1), hub: url, access: token };
const oauth = z.object({
  ...common,
  kind: z.literal('oauth'),
  clientId: z.string().min(1),
  refresh: token.optional(),
  /** Milliseconds since the epoch. */
  expiresAt: z.number(),
  scope: z.string(),
  tokenEndpoint: url,
  revocationEndpoint: url.optional(),
});
const password = z.object({ ...common, kind: z.literal('password'), username: z.string() });
const shape = z.discriminatedUnion('kind', [oauth, password]);

/** A login at one hub, as it is kept. */
export type Credential = z.output<typeof shape>;
export type OAuthCredential = z.output<typeof oauth>;

/** The login at one hub: a file of the user's alone (0600), whole or not there. */
export interface CredentialFile {
  readonly path: string;
  /** Undefined when there is none. Throws HubError `misconfigured` for one that cannot be used. */
  read(): Promise<Credential | undefined>;
  write(credential: Credential): Promise<void>;
  remove(): Promise<void>;
  /** Runs alone among all commands of this user for this hub. Throws HubError `conflict` after a long wait. */
  alone<T>(run: () => Promise<T>): Promise<T>;
}

/** The folder of what these commands keep for their user. */
export function userFolder({ appFolder }: Pick<UserEnv, 'appFolder'>): string {
  return join(appFolder, 'toolhub');
}

export function credentialFile(hub: string, env: Pick<UserEnv, 'appFolder'>): CredentialFile {
  const { host } = new URL(hub);
  const digest = createHash('sha256').update(hub).digest('hex').slice(0, 12);
  const folder = join(userFolder(env), 'logins');
  const path = join(folder, `${host.replace(/[^a-z0-9.]+/gi, '-')}-${digest}.json`);

  function prepare(): void {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // An older umask, or a copy from elsewhere.
      for (const each of [folder, path]) {
        const open = openToOthers(each);
        if (open?.isOurs === true) chmodSync(each, each === path ? 0o600 : 0o700);
      }
    } catch (error) {
      throw errnoOf(error) === undefined ? error : diskError(error, `Cannot keep the login in ${path}`, folder);
    }
  }

  return {
    path,
    async read() {
      let text: string;
      try {
        text = await readFile(path, 'utf8');
      } catch (error) {
        if (errnoOf(error) === 'ENOENT') return undefined;
        throw errnoOf(error) === undefined ? error : diskError(error, `Cannot read the login in ${path}`, path);
      }
      const parsed = shape.safeParse(jsonIn(text));
      if (parsed.success && parsed.data.hub === hub) return parsed.data;
      throw new HubError(
        'misconfigured',
        `${path} is no login that this version can use. Log in again: toolhub login ${hub}`,
      );
    },
    async write(credential) {
      prepare();
      try {
        await writeFileAtomic(path, `${JSON.stringify(credential, null, 2)}\n`);
      } catch (error) {
        throw errnoOf(error) === undefined
          ? error
          : diskError(error, `Cannot keep the login in ${path}`, dirname(path));
      }
    },
    remove: () => rm(path, { force: true }),
    async alone(run) {
      prepare();
      const lock = await waitForLock(path.replace(/\.json$/, '.lock'));
      try {
        return await run();
      } finally {
        lock.release();
      }
    },
  };
}

/** `takeLock` refuses at once where another process holds it; the other refreshes a token, which takes a moment. */
async function waitForLock(path: string) {
  const until = performance.now() + cliLimits.loginLockMs;
  for (;;) {
    try {
      return await takeLock({
        path,
        cannot: 'Cannot renew the login',
        instead: 'try again when it is done',
      });
    } catch (error) {
      if (!(error instanceof HubError) || error.code !== 'conflict') throw error;
      const text = `Another command renews this login and does not come to an end. If none runs, remove ${path}.`;
      if (performance.now() > until) throw new HubError('conflict', text, { cause: error });
    }
    await after(cliLimits.loginLockPollMs);
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
