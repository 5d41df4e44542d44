import { anyObject, object, ref, text, texts } from '../../core/answers/schema.ts';
import { factorCodeInput, newPasskeyInput } from '../../settings/user/user-input.ts';
import type { Subject } from '../frame/operation.ts';

const codes = object({ recoveryCodes: texts });

export const secondFactor: Subject = {
  name: 'Second factor',
  operations: {
    'GET /auth/second-factor': {
      summary: 'What you have set up for a second factor',
      answer: { data: ref('SecondFactor') },
    },
    'POST /auth/second-factor/totp': {
      summary: 'Begin to set up an authenticator app',
      description:
        'The answer has the secret, and the address that apps read from a QR code. It counts once a code of it is confirmed, within 15 minutes. Like all changes here it takes a login that is not older than 10 minutes (`error: "reauthenticate"`).',
      answer: { data: object({ secret: text, uri: text }) },
    },
    'POST /auth/second-factor/totp/confirm': {
      summary: 'Turn on the codes of the app, with one of them',
      description:
        'The first factor comes with ten recovery codes, which are shown once; every older login, and every app that was let in, ends. A token answers for the one of this request; a session gets new cookies.',
      body: factorCodeInput,
      answer: { data: object({}, { recoveryCodes: texts }), beside: { token: text } },
    },
    'DELETE /auth/second-factor/totp': { summary: 'Turn off the codes of the app' },
    'POST /auth/second-factor/passkeys/options': {
      summary: 'Begin to make a passkey: what the browser is asked (WebAuthn)',
      answer: { data: object({ challenge: text, options: anyObject }) },
    },
    'POST /auth/second-factor/passkeys': {
      summary: 'Keep the passkey that the browser made',
      description: 'Within 5 minutes, once. The first factor comes with recovery codes, as with an app.',
      body: newPasskeyInput,
      answer: { data: object({}, { recoveryCodes: texts }), beside: { token: text } },
    },
    'DELETE /auth/second-factor/passkeys/:id': { summary: 'Delete a passkey' },
    'POST /auth/second-factor/recovery-codes': {
      summary: 'Make new recovery codes, in place of those before',
      answer: { data: codes },
    },
  },
};
