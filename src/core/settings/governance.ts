/** `mask`: `••••` stands in place of each; `refuse`: the call is refused, or its result withheld. */
export type SecretsMode = 'allow' | 'mask' | 'refuse';

/** Secrets that show by their form what they are (`core/secrets`). */
export interface SecretsInCalls {
  readonly arguments?: SecretsMode | undefined;
  readonly results?: SecretsMode | undefined;
}

/** How much may be called (CONTRACT §9, Limits); what is undefined is not limited. */
export interface CallLimits {
  /** In any 60 seconds. */
  readonly callsPerMinute?: number | undefined;
  /** At the same time. */
  readonly concurrentCalls?: number | undefined;
  /** From midnight to midnight, UTC. */
  readonly callsPerDay?: number | undefined;
}

/** `hold`: what a server changes answers as what does not exist until it is approved; `warn`: it is told. */
export type PinMode = 'off' | 'warn' | 'hold';

/** A text of Cedar policies (CONTRACT §9, Policies). */
export interface PolicySettings {
  /** What callers are told: the id in the settings, or the name of the file. */
  readonly id: string;
  readonly text: string;
  readonly enabled: boolean;
  /** True for one of a file in `policyFolder`. */
  readonly isFile: boolean;
}

/** An address that is sent messages; they are signed where there is a secret. */
export interface WebhookTarget {
  readonly url: string;
  readonly secret?: string | undefined;
}

/** A webhook that looks at calls, or at their results (`systemConfig.guards`, CONTRACT §9). */
export interface GuardSettings {
  /** What messages call it: its id, or its place in the list, from 1. */
  readonly name: string;
  /** As written: `${VAR}` is filled in when it is asked. */
  readonly url: string;
  readonly on: readonly GuardedMoment[];
  /** Undefined: all. */
  readonly servers: readonly string[] | undefined;
  readonly timeoutMs: number;
  /** What becomes of what it does not answer for. */
  readonly onFailure: 'allow' | 'refuse';
  /** Signs what it is sent; as written. */
  readonly secret: string | undefined;
}

/** `call`: before it is sent to its server. `result`: before it is given to its caller. */
export type GuardedMoment = 'call' | 'result';

/** `systemConfig.audit`. */
export interface AuditOutputs {
  readonly webhook?: WebhookTarget | undefined;
  readonly syslog?: { readonly host: string; readonly port: number; readonly protocol: 'udp' | 'tcp' } | undefined;
}
