import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { HubError } from '../core/errors.ts';

/** Its name in a backup. */
export const manifestName = 'manifest.json';
/** Folders of a backup, and the settings document beside them. */
export const dataFolder = 'data/';
export const tableFolder = 'tables/';
export const settingsName = 'settings.json';

const name = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/);

const manifestShape = z.strictObject({
  /** Of this form of a backup. A later one that an older hub cannot read has a higher number. */
  format: z.literal(1),
  /** Of the hub that made it. */
  version: z.string().regex(/^\d+\.\d+\.\d+/),
  createdAt: z.iso.datetime(),
  database: z.enum(['embedded', 'postgres', 'off']),
  /** Migrations that its tables have. */
  migrations: z.array(z.int().positive()).max(10_000),
  /** By what a restore finds out whether `JWT_SECRET` is another one. The secret is not in it. */
  jwtSecret: z.strictObject({
    from: z.enum(['environment', 'data folder']),
    salt: z.string().regex(/^[0-9a-f]{32}$/),
    check: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  counts: z.record(z.string(), z.int().nonnegative()),
  /** Rows by table. */
  tables: z.record(name, z.int().nonnegative()),
  files: z.record(
    z.string(),
    z.strictObject({
      bytes: z.int().nonnegative(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      /** The file may be run. */
      isProgram: z.literal(true).optional(),
    }),
  ),
  /** Files that went while the backup was made. */
  gone: z.array(z.string()),
  /** Folders of the data folder that no backup has. */
  leftOut: z.array(z.string()).optional(),
});

/** What is in a backup, as it says itself. */
export type Manifest = z.output<typeof manifestShape>;

/** Throws HubError `misconfigured` for a backup of a newer hub, and for what is none. */
export function parseManifest(text: string, own: { readonly version: string; readonly migration: number }): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw broken(`its ${manifestName} is no JSON`, error);
  }
  const told = z.looseObject({ format: z.number(), version: z.string() }).safeParse(value).data;
  if (told && (told.format > 1 || isNewer(told.version, own.version))) throw newer(told.version, own.version);
  const found = manifestShape.safeParse(value);
  if (!found.success) {
    const [issue] = found.error.issues;
    throw broken(`its ${manifestName} is damaged: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
  }
  const last = Math.max(0, ...found.data.migrations);
  if (last > own.migration) throw newer(found.data.version, own.version);
  return found.data;
}

function newer(theirs: string, ours: string): HubError {
  const version = /^[\w.+-]{1,40}$/.test(theirs) ? theirs : 'of another form';
  return new HubError(
    'misconfigured',
    `Cannot restore: a newer Tool Hub (${version}) made this backup, and this is ${ours}. Install that version or a later one, and restore with it. Nothing was changed.`,
  );
}

/** HubError `misconfigured`. `why` ends the sentence. */
export function broken(why: string, cause?: unknown): HubError {
  return new HubError('misconfigured', `Cannot use the backup: ${why}. Nothing was changed. Use another backup.`, {
    cause,
  });
}

function isNewer(theirs: string, ours: string): boolean {
  const [a, b] = [theirs, ours].map((text) => text.split(/[.+-]/, 3).map(Number));
  const at = [0, 1, 2].find((i) => a?.[i] !== b?.[i]);
  return at !== undefined && (a?.[at] ?? 0) > (b?.[at] ?? 0);
}

/** A text from which the secret cannot be found out, and by which it is known again. */
export function secretCheck(secret: string, salt = randomBytes(16).toString('hex')) {
  return { salt, check: scryptSync(secret, salt, 32).toString('hex') };
}

export function isSameSecret(secret: string, { salt, check }: Manifest['jwtSecret']): boolean {
  return timingSafeEqual(Buffer.from(check, 'hex'), scryptSync(secret, salt, 32));
}
