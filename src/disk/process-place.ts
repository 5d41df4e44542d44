import { readFileSync, readlinkSync } from 'node:fs';

/**
 * The namespace process ids count in here: a container's process 1 is not ours. Undefined where the system does not
 * tell.
 */
export function pidNamespace(): string | undefined {
  return told(() => readlinkSync('/proc/self/ns/pid'));
}

/** Names one boot of one kernel. Undefined where the system does not tell. */
export function bootId(): string | undefined {
  return told(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
}

function told(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
