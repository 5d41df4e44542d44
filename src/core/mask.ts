/** What stands where a secret stood: in answers, in logs, in what servers say (CONTRACT §4, Servers). */
export const mask = '••••';

/**
 * An access key as lists show it: its first eight and last four characters. Nothing is shown of a short token (for
 * example one that a user invented), because the hidden rest could be guessed (reference: MCPHub §1.7).
 */
export function maskKey(token: string): string {
  return token.length < shown + hidden ? '********' : `${token.slice(0, 8)}...${token.slice(-4)}`;
}

const shown = 12;
/** Sixteen letters and digits cannot be guessed. */
const hidden = 16;
