import { randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { type Site, siteOf } from '../../auth/second-factor/passkeys.ts';
import { HubError } from '../../core/errors.ts';
import { parseInput } from '../../core/input.ts';
import { newPasskeyInput } from '../../settings/user/user-input.ts';
import { jsonBody } from '../frame/body.ts';
import type { ApiEnv } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';
import { changing, goOnAlone, removeFactor, type SecondFactorOptions } from './second-factor-routes.ts';

/** `/auth/second-factor/passkeys`: each of a user, made by a browser at the address where it has the hub open. */
export function passkeyRoutes(options: SecondFactorOptions): Hono<ApiEnv> {
  const { factors, newPasskeys, log } = options;
  const routes = new Hono<ApiEnv>();

  routes.post('/auth/second-factor/passkeys/options', async (c) => {
    const attempt = 'Cannot make a passkey';
    const user = await changing(c, factors, attempt);
    const site = siteHere(c, options, attempt);
    const nonce = randomBytes(32).toString('base64url');
    const { username, createdAt: since } = user;
    const challenge = newPasskeys.make({ username, since, nonce });
    return ok(c, { challenge, options: await factors.beginPasskey(user, site, nonce) });
  });

  routes.post('/auth/second-factor/passkeys', async (c) => {
    const attempt = 'Cannot keep the passkey';
    const user = await changing(c, factors, attempt);
    const { name, challenge, passkey: answer } = parseInput(newPasskeyInput, await jsonBody(c.req.raw), attempt);
    const begun = newPasskeys.read(challenge);
    const isOwn = begun?.username === user.username && begun.since === user.createdAt;
    const site = siteHere(c, options, attempt);
    const nonce = isOwn ? begun.nonce : undefined;
    const confirmed = await factors.addPasskey(user, name, { answer, nonce, site });
    if (!confirmed)
      throw new HubError(
        'invalid_input',
        `${attempt}: it took too long, or was made for another address. Begin again.`,
      );
    log.info('second factor set up', { user: user.username, kind: 'passkey', name, address: c.var.caller.address });
    const { recoveryCodes } = confirmed;
    return recoveryCodes ? goOnAlone(c, user, { recoveryCodes }, options) : ok(c, {});
  });

  routes.delete('/auth/second-factor/passkeys/:id', async (c) => {
    const attempt = 'Cannot delete the passkey';
    const user = await changing(c, factors, attempt);
    await removeFactor(c, user, { passkey: c.req.param('id') }, attempt, options);
    return ok(c, undefined, { message: 'The passkey does not count any more.' });
  });

  return routes;
}

/** Throws HubError `conflict` where browsers make no passkeys. */
function siteHere(c: Context, { origin }: Pick<SecondFactorOptions, 'origin'>, attempt: string): Site {
  const site = siteOf(origin(c));
  if (site) return site;
  throw new HubError(
    'conflict',
    `${attempt}: browsers make passkeys for a name over https, or for localhost, and this hub is reached at ${origin(c)}. Behind a proxy, set INSTALL_BASE_URL.`,
  );
}
