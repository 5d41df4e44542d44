// What a person does who opens the address that a client gave them: logs in on the page of the hub, lets the client in,
// and goes where the hub then sends the browser. As a module, and as a program in place of a browser:
//   node let-in.mjs <address>      the user is in HUB_USERNAME and HUB_PASSWORD
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const mostTries = 1_000;

/** Resolves with the answer of the client's own address, which was opened too. */
export async function letIn(address, { username, password }) {
  const page = await fetch(address, { redirect: 'manual' });
  const login = await submit(address, { ...hidden(await page.text()), username, password });
  const consent = await submit(address, { ...hidden(await login.text()), decision: 'allow', reach: 'all' });
  const back = consent.headers.get('location');
  if (back === null) throw new Error(`No way back: ${consent.status} ${await consent.text()}`);
  return opened(back);
}

/** Some clients open the browser before they listen, since a person takes longer than that. */
async function opened(back) {
  for (let tries = 0; ; tries++) {
    try {
      return await fetch(back);
    } catch (error) {
      if (error.cause?.code !== 'ECONNREFUSED' || tries === mostTries) throw error;
      await sleep(50);
    }
  }
}

function hidden(page) {
  const fields = page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name, value]) => [name, value]));
}

function submit(address, fields) {
  const { origin, pathname } = new URL(address);
  return fetch(`${origin}${pathname}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams(fields),
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { HUB_USERNAME: username, HUB_PASSWORD: password } = process.env;
  await letIn(process.argv[2], { username, password });
}
