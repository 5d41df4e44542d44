import { z } from 'zod';
import { errorTable, HubError } from '../../core/errors.ts';
import type { Credential } from './credential-file.ts';
import { type ApiAnswer, type HubConnection, refusalText } from './hub-connection.ts';

const loggedIn = z.object({ token: z.string().regex(/^[\x21-\x7e]+$/) });
const factorAsked = z.object({
  error: z.literal('second_factor_required'),
  challenge: z.string(),
  methods: z.array(z.string()),
});

/** Logs in with a password, and with `code` where the user has a second factor; undefined: none can be asked for. */
export async function logInByPassword(
  hub: HubConnection,
  { username, password }: { readonly username: string; readonly password: string },
  code: () => Promise<string | undefined>,
): Promise<Credential> {
  let answer = await post(hub, { username, password });
  const asked = factorAsked.safeParse(answer.body).data;
  if (asked !== undefined) answer = await withCode(hub, asked, code);
  const token = loggedIn.safeParse(answer.body).data?.token;
  if (answer.status === 200 && token !== undefined)
    return { version: 1, kind: 'password', hub: hub.url, access: token, username };
  const refused = answer.status === errorTable.unauthenticated.status;
  throw new HubError(
    refused ? 'unauthenticated' : 'upstream_failed',
    `Cannot log in at ${hub.url}: ${refusalText(answer)}`,
  );
}

async function withCode(
  hub: HubConnection,
  { challenge, methods }: z.output<typeof factorAsked>,
  code: () => Promise<string | undefined>,
): Promise<ApiAnswer> {
  const takesCodes = methods.includes('totp') || methods.includes('recovery');
  const given = takesCodes ? await code() : undefined;
  if (given !== undefined) return post(hub, { challenge, code: given });
  throw new HubError(
    'misconfigured',
    `Cannot log in at ${hub.url}: this user has a second factor. ${takesCodes ? 'Give its code on a second line after the password, or log in by browser.' : 'Log in by browser.'}`,
  );
}

function post(hub: HubConnection, body: unknown): Promise<ApiAnswer> {
  return hub.api('/auth/login', { method: 'POST', body });
}
