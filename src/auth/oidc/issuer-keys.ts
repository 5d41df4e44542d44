import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { isProviderAddress } from '../../core/provider.ts';
import { putLast } from '../../core/put-last.ts';
import { authLimits } from '../limits.ts';
import { providerJson } from './provider-fetch.ts';

export interface KeysOf {
  readonly issuer: string;
  /** Undefined: where the issuer's metadata say (OpenID Connect Discovery). */
  readonly jwksUri: string | undefined;
}

/**
 * The keys of an issuer, as `jwtVerify` of jose asks for them. Kept in memory; asked for once however many tokens wait.
 * It throws an Error for a token whose key is not known, and while keys have never been got.
 */
export type IssuerKeys = (of: KeysOf) => JWTVerifyGetKey;

interface Held {
  find: JWTVerifyGetKey | undefined;
  fetchedAt: number;
  /** When they were last asked for, in vain or not. */
  triedAt: number;
  loading: Promise<void> | undefined;
}

export function createIssuerKeys({ log, now = Date.now }: { log: Logger; now?: () => number }): IssuerKeys {
  const held = new Map<string, Held>();

  function heldOf(id: string): Held {
    let keys = held.get(id);
    if (!keys) {
      keys = { find: undefined, fetchedAt: 0, triedAt: 0, loading: undefined };
      // What goes is of settings that were changed.
      putLast(held, id, keys, authLimits.issuers);
    }
    return keys;
  }

  async function load(keys: Held, of: KeysOf): Promise<void> {
    keys.triedAt = now();
    try {
      // It checks what it is given, and throws for anything else.
      keys.find = createLocalJWKSet((await keySetOf(of)) as unknown as JSONWebKeySet);
      keys.fetchedAt = now();
    } catch (error) {
      log.warn('The keys of an issuer cannot be read', { issuer: of.issuer, error: errorText(error) });
    } finally {
      keys.loading = undefined;
    }
  }

  /** Asks for the keys, unless that was done a moment ago. */
  async function reload(keys: Held, of: KeysOf): Promise<void> {
    if (!keys.loading && now() - keys.triedAt < authLimits.issuerKeysPauseMs) return;
    await (keys.loading ??= load(keys, of));
  }

  return (of) => {
    const keys = heldOf(JSON.stringify([of.issuer, of.jwksUri]));
    return async (header, token) => {
      if (now() - keys.fetchedAt >= authLimits.issuerKeysFreshMs) await reload(keys, of);
      const find = now() - keys.fetchedAt < authLimits.issuerKeysKeptMs ? keys.find : undefined;
      try {
        if (find) return await find(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        // A new key, or an invented id.
        await reload(keys, of);
        if (keys.find && keys.find !== find) return await keys.find(header, token);
        throw error;
      }
      throw new errors.JWKSNoMatchingKey('The keys of the issuer are not known');
    };
  };
}

async function keySetOf({ issuer, jwksUri }: KeysOf): Promise<Record<string, unknown>> {
  if (jwksUri !== undefined) return providerJson(jwksUri);
  const about = await providerJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  if (about['issuer'] !== issuer) throw new Error('its metadata name another issuer');
  const address = about['jwks_uri'];
  if (typeof address !== 'string' || !isProviderAddress(address)) throw new Error('its metadata name no jwks_uri');
  return providerJson(address);
}
