/** What passwords may be set (`systemConfig.auth.passwordPolicy`). */
export interface PasswordPolicy {
  readonly minLength: number;
  /** Refuses what is tried first: common passwords, the user's name, rows of keys. */
  readonly refuseCommon: boolean;
}

/** An issuer whose JWTs are credentials at MCP endpoints (`systemConfig.auth.trustedIssuers`, CONTRACT §8). */
export interface TrustedIssuer {
  /** Exactly as tokens have it. */
  readonly issuer: string;
  /** A token has to be for one of these. */
  readonly audiences: readonly string[];
  /** Where its keys are; undefined: where its metadata say. */
  readonly jwksUri: string | undefined;
  /** The claim by which records call the holder of a token; undefined: its subject. */
  readonly usernameClaim: string | undefined;
  readonly groupsClaim: string;
  /** Value of that claim → names or ids of groups. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
}

/** The tokens by which a proxy says who sends a request (`systemConfig.auth.forwardAuth`, CONTRACT §8). */
export interface ForwardAuth {
  /** The header they come in, in lower case. */
  readonly header: string;
  /** Exactly as tokens have it. */
  readonly issuer: string;
  readonly jwksUri: string;
  /** A token has to be for one of these. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  /** The claim by which a new account is called. */
  readonly usernameClaim: string;
  readonly emailClaim: string;
  /** Whether a person without an account gets one. */
  readonly autoCreate: boolean;
}

/** A provider where people log in with OpenID Connect (`systemConfig.auth.oidc`, CONTRACT §8). */
export interface OidcProvider {
  /** In its addresses: `/api/auth/oidc/<id>/start`. */
  readonly id: string;
  /** What login pages call it. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** As written: `${VAR}` is expanded when it is used. Undefined: a public client. */
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  readonly usernameClaim: string;
  readonly groupsClaim: string;
  /** Value of that claim → names or ids of groups. Undefined: logins change no groups. */
  readonly groups: ReadonlyMap<string, readonly string[]> | undefined;
  /** Values of that claim that make an admin. Undefined: logins change no role. */
  readonly adminGroups: readonly string[] | undefined;
  /** `auto`: who logs in there gets an account; `invited`: an admin has made it beforehand. */
  readonly signUp: 'auto' | 'invited';
}
