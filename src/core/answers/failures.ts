import { anyObject, count, flag, listOf, object, saying, type Schema, type Shape, text } from './schema.ts';

// What stands in answers of all kinds.

const values: Schema<Readonly<Record<string, string>>> = { type: 'object', additionalProperties: text };
export const named = object({ code: text, values });

export const problem = object(
  { path: text, message: text },
  { said: saying('`message` by name, as in the answer as a whole.', named) },
);

export const failure = object(
  { success: { const: false }, message: text },
  {
    errors: listOf(problem),
    requestId: text,
    error: saying(
      '`reauthenticate`, `oauth_required`, `second_factor_required`, `second_factor_setup_required`: what a program can do about it.',
      text,
    ),
    said: saying(
      '`message` by name, for pages in other languages: where `Accept-Language` begins with another than English, and the message has a name.',
      named,
    ),
    challenge: saying('With `second_factor_required`: to be sent in place of the password, with `code`.', text),
    methods: listOf(text),
    passkey: saying('With `second_factor_required`: what the browser is asked for a passkey (WebAuthn).', anyObject),
  },
);

export const bareFailure = object({ error: text, message: text }, { errors: listOf(problem), said: named });

export const pagination = object({
  page: count,
  limit: count,
  total: count,
  totalPages: count,
  hasNextPage: flag,
  hasPrevPage: flag,
});
export type Pagination = Shape<typeof pagination>;
