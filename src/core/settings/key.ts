import type { CallLimits } from './governance.ts';

/** An access key (CONTRACT §2). `token` is how MCPHub files keep it, `tokenHash` (SHA-256, hex) is how we do. */
export interface KeySettings {
  readonly id: string;
  readonly name: string;
  readonly tokenHash: string;
  readonly enabled: boolean;
  readonly kind: 'system' | 'user';
  readonly owner: string | undefined;
  readonly accessType: 'all' | 'groups' | 'servers' | 'custom';
  readonly allowedGroups: readonly string[];
  readonly allowedServers: readonly string[];
  /** Milliseconds since the epoch, from which on the key is refused; undefined = never. */
  readonly expiresAt?: number | undefined;
  /** IP addresses and ranges that its requests may come from; undefined = any. */
  readonly allowedAddresses?: readonly string[] | undefined;
  /** The token before the last rotation (SHA-256, hex), accepted until then (milliseconds since the epoch). */
  readonly previous?: { readonly tokenHash: string; readonly until: number } | undefined;
  /** Reaches only tools that their server annotates `readOnlyHint: true`. */
  readonly readOnly?: boolean | undefined;
  readonly limits?: CallLimits | undefined;
}
