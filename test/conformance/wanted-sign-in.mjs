// Whether a server of the hub waits for a person to sign in.
import { setTimeout as sleep } from 'node:timers/promises';

/** Looks at a server whose connection stands, or that says what it waits for; all looks are as many as `ready` has. */
const settledLooks = 20;
const looks = 2_400;

/**
 * Whether it waits for that, after a call of it has failed. `server` looks at it, as `GET /api/servers` has it. What it
 * waits for is known once it is asked again, which takes as long as the machine is busy: a look meanwhile says nothing.
 */
export async function wantsSignIn(server, pause = () => sleep(50)) {
  for (let left = looks, settled = 0; left > 0 && settled < settledLooks; left--) {
    const { status, oauth } = await server();
    if (oauth?.authorizationUrl !== undefined) return true;
    if (status !== 'connecting' && status !== 'disconnected') settled++;
    await pause();
  }
  return false;
}
