// The hub as the authorization server that the suite looks at, below the same origin as its endpoints.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { letIn } from '../kit/let-in.mjs';
import { adminPassword } from './parties.mjs';
import { runAuthorizationServer } from './suite.mjs';

/** All that the suite has for authorization servers. It freezes no set of them for a revision. */
export const authorizationScenarios = ['authorization-server-metadata-endpoint', 'authorization-code-grant'];

/** As `runSuite`: a client registers itself, a person logs in and lets it in, and it gets a token. */
export async function runAuthorization(hub, revision, folder) {
  const port = await freePort();
  const registered = await fetch(`${hub.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'conformance', redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
  });
  const { client_id: client } = await registered.json();
  const person = { username: 'admin', password: adminPassword };
  const browse = (address) => {
    letIn(address, person).catch((error) => console.error(`authorization  ${error.message}`));
  };
  return runAuthorizationServer({
    issuer: hub.url,
    resource: `${hub.url}/mcp`,
    client,
    port,
    revision,
    folder,
    browse,
  });
}

/** Below those that the system gives to outgoing connections, of which one would take it before the suite does. */
async function freePort() {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    const server = createServer();
    const isFree = await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((done) => server.close(done));
    return port;
  }
}
