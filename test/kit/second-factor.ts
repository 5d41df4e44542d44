import { Secret, TOTP } from 'otpauth';
import { expect } from 'vitest';
import { api, type ApiCall } from './api.ts';
import type { TestHub } from './test-hub.ts';

/** An authenticator app with one entry. */
export interface Authenticator {
  readonly secret: string;
  /** A code that was not given yet. There are two without waiting: hubs take that of the next half minute too. */
  code(): string;
}

export function authenticator(secret: string): Authenticator {
  const totp = new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 });
  let last = 0;
  return {
    secret,
    code() {
      last = Math.max(last + 1, Math.floor(Date.now() / 30_000));
      return totp.generate({ timestamp: last * 30_000 });
    },
  };
}

/** Sets up an app for a user who has logged in just now; the token that goes on, and the recovery codes. */
export async function setUpTotp(hub: Pick<TestHub, 'url'>, who: Pick<ApiCall, 'token' | 'headers'>) {
  const begun = await api(hub, 'POST', '/auth/second-factor/totp', who);
  expect(begun.status, begun.text).toBe(200);
  const app = authenticator((begun.body.data as { secret: string }).secret);
  const body = { code: app.code() };
  const confirmed = await api(hub, 'POST', '/auth/second-factor/totp/confirm', { ...who, body });
  expect(confirmed.status, confirmed.text).toBe(200);
  const { recoveryCodes = [] } = confirmed.body.data as { recoveryCodes?: string[] };
  return { app, recoveryCodes: [...recoveryCodes], token: confirmed.body['token'] as string, confirmed };
}
