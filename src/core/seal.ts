import { createCipheriv, createDecipheriv, hkdfSync, randomFillSync } from 'node:crypto';

/** Turns small texts into tokens that only holders of the same secret can read or make, and back. */
export interface Sealer {
  seal(text: string): string;
  /** The text, or undefined when the token was not sealed by us for this purpose, or was altered. */
  open(token: string): string | undefined;
}

const version = 1;
const versionByte = Buffer.of(version);
const ivBytes = 12;
const tagBytes = 16;
/** Random bytes are fetched for so many tokens at a time: one by one they cost as much as the cipher. */
const ivsAhead = 256;

/**
 * AES-256-GCM under a key derived from the hub's secret by HKDF, one key per purpose, so a token made for one use opens
 * nothing else (DESIGN, the wire). Tokens are URL-safe; their first byte is the version of the format.
 */
export function createSealer(secret: Uint8Array, purpose: string): Sealer {
  const key = new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), `toolhub ${purpose} v${version}`, 32));
  const ivs = Buffer.alloc(ivsAhead * ivBytes);
  let ivAt = ivs.length;

  /** Each is given out once. */
  function nextIv(): Buffer {
    if (ivAt === ivs.length) {
      randomFillSync(ivs);
      ivAt = 0;
    }
    return ivs.subarray(ivAt, (ivAt += ivBytes));
  }

  return {
    seal(text) {
      const iv = nextIv();
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const body = [cipher.update(text, 'utf8'), cipher.final()];
      return Buffer.concat([versionByte, iv, ...body, cipher.getAuthTag()]).toString('base64url');
    },
    open(token) {
      const bytes = Buffer.from(token, 'base64url');
      // Decoding forgives stray characters and spare bits; one token shall have one spelling.
      if (bytes.toString('base64url') !== token) return undefined;
      if (bytes.length < 1 + ivBytes + tagBytes || bytes[0] !== version) return undefined;
      const body = bytes.subarray(1 + ivBytes, bytes.length - tagBytes);
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 1 + ivBytes), {
        authTagLength: tagBytes,
      });
      decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
      try {
        return decipher.update(body, undefined, 'utf8') + decipher.final('utf8');
      } catch {
        // Not sealed with this key, or altered: GCM tells by throwing.
        return undefined;
      }
    },
  };
}
