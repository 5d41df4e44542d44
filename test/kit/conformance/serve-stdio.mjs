// The fixture over stdin and stdout.
import { StdioServerTransport, serveStdio as serveModern } from '@modelcontextprotocol/server/stdio';
import { offer } from './offer.mjs';

export async function serveStdio(era) {
  if (era === 'new') {
    serveModern(() => offer('new', { live: true }), { legacy: 'reject' });
    return;
  }
  // Connected by hand, as servers of that time are: a client that sends server/discover is told that there is no such
  // method.
  await offer('old', { live: true }).connect(new StdioServerTransport());
}
