import { databaseLimits } from './limits.ts';

/** Channel names go into SQL as they are; they are ours, never a user's. Throws on a programmer's error. */
export function checkChannel(channel: string): string {
  if (!/^[a-z_]{1,50}$/.test(channel)) throw new Error(`Not a channel name: ${JSON.stringify(channel)}`);
  return channel;
}

/** Throws on a programmer's error: a payload PostgreSQL would refuse. */
export function checkPayload(payload: string): string {
  const bytes = Buffer.byteLength(payload);
  if (bytes > databaseLimits.notifyBytes)
    throw new Error(`Notification of ${bytes} bytes; send a pointer to the data instead`);
  return payload;
}
