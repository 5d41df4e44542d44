import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { authLimits } from '../limits.ts';
import type { FactorUser } from './factor-record.ts';
import type { Passkey } from './factor-store.ts';

/** Where browsers use passkeys: a passkey is for the host it was made at, and answers name the origin. */
export interface Site {
  readonly host: string;
  readonly origin: string;
}

/** What a browser answers, as far as its form was looked at (`settings/user/user-input.ts`). */
export type PasskeyAnswer = Readonly<Record<string, unknown>> & { readonly id: string };

/**
 * The site of a hub that is reached at this origin. Undefined where browsers make no passkeys: without https but on
 * this machine, and at an IP address.
 */
export function siteOf(origin: string): Site | undefined {
  const { protocol, hostname: host } = new URL(origin);
  const isLocal = host === 'localhost' || host.endsWith('.localhost');
  const isName = isIP(host.replaceAll(/[[\]]/g, '')) === 0;
  return isName && (protocol === 'https:' || isLocal) ? { host, origin } : undefined;
}

/** Loaded when a passkey is first made or used: half a megabyte. */
const library = () => import('@simplewebauthn/server');

/** What a browser is asked for a new passkey. `nonce` is the challenge. */
export async function newPasskeyOptions(
  site: Site,
  { username, createdAt = '' }: FactorUser,
  passkeys: readonly Passkey[],
  nonce: string,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: 'Tool Hub',
    rpID: site.host,
    userName: username,
    // No name of a person (WebAuthn §6.4.1), and the same for each passkey of an account.
    userID: new Uint8Array(createHash('sha256').update(`${username}\n${createdAt}`).digest()),
    challenge: bytesOf(nonce),
    timeout: authLimits.factorChallengeMs,
    attestationType: 'none',
    excludeCredentials: credentialsOf(passkeys, site),
    // It comes after the password: touching a key is enough, and it need not keep who it is for.
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
  });
}

/** The passkey that a browser made; undefined when its answer does not fit. */
export async function madePasskey(
  site: Site,
  nonce: string,
  answer: PasskeyAnswer,
): Promise<Pick<Passkey, 'id' | 'publicKey' | 'counter' | 'transports' | 'host'> | undefined> {
  const { verifyRegistrationResponse } = await library();
  // The library throws for whatever is wrong with an answer.
  const { registrationInfo } = await verifyRegistrationResponse({
    response: answer as unknown as RegistrationResponseJSON,
    expectedChallenge: nonce,
    expectedOrigin: site.origin,
    expectedRPID: site.host,
    requireUserVerification: false,
  }).catch(() => ({ registrationInfo: undefined }));
  if (!registrationInfo) return undefined;
  const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
  return { id, publicKey: Buffer.from(publicKey).toString('base64url'), counter, transports, host: site.host };
}

/** What a browser is asked at a login; undefined for a user without a passkey that was made at this host. */
export async function passkeyOptions(
  site: Site,
  passkeys: readonly Passkey[],
  nonce: string,
): Promise<PublicKeyCredentialRequestOptionsJSON | undefined> {
  const allowCredentials = credentialsOf(passkeys, site);
  if (allowCredentials.length === 0) return undefined;
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: site.host,
    challenge: bytesOf(nonce),
    timeout: authLimits.factorChallengeMs,
    allowCredentials,
    userVerification: 'preferred',
  });
}

/** The counter of a passkey that was used; undefined when the answer does not fit. */
export async function counterOf(
  site: Site,
  { id, publicKey, counter }: Passkey,
  nonce: string,
  answer: PasskeyAnswer,
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await library();
  const used = await verifyAuthenticationResponse({
    response: answer as unknown as AuthenticationResponseJSON,
    expectedChallenge: nonce,
    expectedOrigin: site.origin,
    expectedRPID: site.host,
    credential: { id, publicKey: bytesOf(publicKey), counter },
    requireUserVerification: false,
  }).catch(() => undefined);
  return used?.verified === true ? used.authenticationInfo.newCounter : undefined;
}

function credentialsOf(passkeys: readonly Passkey[], { host }: Site) {
  return passkeys
    .filter((one) => one.host === host)
    .map(({ id, transports }) => ({ id, transports: [...transports] as AuthenticatorTransport[] }));
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(base64url, 'base64url'));
}
