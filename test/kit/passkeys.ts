import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

/** An authenticator with one passkey, as browsers speak of it (WebAuthn, ES256, no attestation). */
export interface SoftPasskey {
  readonly id: string;
  /** Answers `navigator.credentials.create`. */
  create(asked: Asked, at?: Partial<Place>): object;
  /** Answers `navigator.credentials.get`. */
  get(asked: Asked, at?: Partial<Place>): object;
}

interface Asked {
  readonly challenge: string;
}

interface Place {
  readonly origin: string;
  readonly host: string;
  /** What its counter says. */
  readonly counter: number;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const text = (data: Uint8Array) => Buffer.from(data).toString('base64url');

export function softPasskey(usual: Place): SoftPasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const credentialId = randomBytes(32);
  const id = text(credentialId);
  let counter = usual.counter;

  function authenticatorData(host: string, said: number, flags: number, more: Buffer): Buffer {
    const head = Buffer.alloc(5);
    head.writeUInt8(flags, 0);
    head.writeUInt32BE(said, 1);
    return Buffer.concat([sha256(host), head, more]);
  }

  const answer = (response: object) => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    authenticatorAttachment: 'cross-platform',
    response,
  });

  const clientData = (type: string, { challenge }: Asked, origin: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

  return {
    id,
    create(asked, at = {}) {
      const { origin, host } = { ...usual, ...at };
      const key = isoCBOR.encode(
        new Map<number, number | Uint8Array>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
          [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
        ]),
      );
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const more = Buffer.concat([Buffer.alloc(16), length, credentialId, key]);
      const authData = new Uint8Array(authenticatorData(host, counter, 0b0100_0001, more));
      const attestation = isoCBOR.encode(
        new Map<string, string | Map<string, string> | Uint8Array>([
          ['fmt', 'none'],
          ['attStmt', new Map<string, string>()],
          ['authData', authData],
        ]),
      );
      const clientDataJSON = text(clientData('webauthn.create', asked, origin));
      return answer({ clientDataJSON, attestationObject: text(attestation), transports: ['usb'] });
    },
    get(asked, at = {}) {
      const { origin, host, counter: said } = { ...usual, counter: usual.counter === 0 ? 0 : ++counter, ...at };
      const data = clientData('webauthn.get', asked, origin);
      const authData = authenticatorData(host, said, 0b0000_0001, Buffer.alloc(0));
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey);
      return answer({ clientDataJSON: text(data), authenticatorData: text(authData), signature: text(signature) });
    },
  };
}
