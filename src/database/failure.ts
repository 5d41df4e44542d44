import { errorText, HubError } from '../core/errors.ts';

/** The five-character SQLSTATE of a database's own error, e.g. `23505` for a unique violation. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // EPIPE and its like are upper-case and may be five characters long too; no SQLSTATE class in use begins with E.
  return typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : undefined;
}

/** Class 08 (connection exception), the server is going down or not up yet, or it has no connection to spare. */
export function isConnectionState(state: string): boolean {
  return state.startsWith('08') || state.startsWith('57P') || state === '53300';
}

/**
 * HubError `misconfigured` for what does not pass by itself: something in `DB_URL` is wrong, or PostgreSQL does not let
 * its user do what the hub needs. Undefined for everything else that keeps a database from being opened.
 */
export function refusedForGood(error: unknown): HubError | undefined {
  if (error instanceof HubError) return error.code === 'misconfigured' ? error : undefined;
  const text = errorText(error);
  const remedy = /client password must be a/.test(text) ? remedies.noPassword : remedies[sqlState(error) ?? ''];
  if (remedy === undefined) return undefined;
  return new HubError('misconfigured', `Cannot use the database of DB_URL: ${text}. ${remedy}`, { cause: error });
}

/** By SQLSTATE, and for the driver's own error when the server wants a password. */
const remedies: Readonly<Record<string, string>> = {
  noPassword: 'The server wants a password; write one into DB_URL (postgres://user:password@host/database).',
  '28P01': 'Correct the user or the password in DB_URL.',
  '28000': 'Correct the user in DB_URL, or have the server let it in (pg_hba.conf).',
  '3D000': 'Create that database, or correct its name in DB_URL.',
  '42501': 'Give the user of DB_URL that right, or name a database that it owns.',
};

/** What a caller gets when the database cannot be reached. */
export function unreachable(cause: unknown): HubError {
  return new HubError('not_ready', 'The database cannot be reached right now. Try again in a moment.', {
    cause,
    retryAfterMs: 1_000,
  });
}

/** The reason behind an error of ours, for the log: the public text of `unreachable` does not contain it. */
export function reasonOf(error: unknown): string {
  if (error instanceof HubError && error.cause !== undefined) return reasonOf(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return errorText(error);
}
