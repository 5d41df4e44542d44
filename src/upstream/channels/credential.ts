/** A request that the server refused for want of a (better) credential. */
export interface Refusal {
  readonly status: number;
  /** The value of `authorization` it was sent with. */
  readonly sent: string | undefined;
  /** `WWW-Authenticate` (RFC 9110 §11.6.1). */
  readonly challenge: string | undefined;
  /** It was sent again with a new credential already. */
  readonly again: boolean;
}

/**
 * What one channel authorizes its requests with when the server wants people to sign in (sign-in/). Asked by every
 * exchange, so what is at hand comes without a promise.
 */
export interface Credential {
  /** The value of `authorization` for a request that is sent now; undefined: none. */
  header(): string | undefined;
  /**
   * What the next request should wait for, because the credential at hand has expired; undefined when there is no
   * reason to wait. Never rejects.
   */
  pending(): Promise<void> | undefined;
  /** The server took a request. */
  accepted(): void;
  /**
   * Resolves when the request can be sent again with a new credential. Throws HubError, with `SignInRequired` as its
   * cause when only a person can help.
   */
  refused(refusal: Refusal): Promise<void>;
}

/** The `cause` of a HubError for which trying again does not help: a user has to sign in to the server first. */
export class SignInRequired extends Error {
  constructor() {
    super('sign-in required');
    this.name = 'SignInRequired';
  }
}

/** What a user set for a server (`credentialTemplate`), by place and name; headers in lower case. Never expanded. */
export interface OwnValues {
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly args: Readonly<Record<string, string>>;
  /** Equal for equal values; tells nothing of them. */
  readonly hash: string;
}
