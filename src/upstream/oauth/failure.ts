/** The `cause` of a HubError that an authorization server gave a reason for (RFC 6749 §5.2). */
export class OAuthFailure extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.name = 'OAuthFailure';
    this.code = code;
  }
}

/** The reason an authorization server gave, if that is what failed. */
export function failureCode(error: unknown): string | undefined {
  return error instanceof Error && error.cause instanceof OAuthFailure ? error.cause.code : undefined;
}

/** A text that does not have the form of an error code is not repeated: it comes from a server that is not trusted. */
export function isFailureCode(text: string): boolean {
  return /^[a-z][a-z0-9_]{1,39}$/.test(text);
}
