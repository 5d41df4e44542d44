import { createHash, randomInt } from 'node:crypto';
import { authLimits } from '../limits.ts';

/** Without what looks alike: 59 bits, so that a fast hash is enough. */
const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
const length = 12;

/** Codes for a user who has lost what gives the others; each counts once. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: authLimits.recoveryCodes }, () => {
    const code = Array.from({ length }, () => letters[randomInt(letters.length)]).join('');
    return code.replace(/(.{4})(?=.)/g, '$1-');
  });
}

/** What is kept of a code. */
export function recoveryHash(username: string, code: string): string {
  return createHash('sha256')
    .update(`${username}\n${plainCode(code)}`)
    .digest('base64url');
}

/** A code of either kind as it was meant: people type spaces and dashes, and write in capitals. */
export function plainCode(code: string): string {
  return code.replace(/[\s-]/g, '').toLowerCase();
}

export function isRecoveryCode(code: string): boolean {
  return plainCode(code).length === length;
}
