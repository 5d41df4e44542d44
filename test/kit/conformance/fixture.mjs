// A server that offers everything the conformance suite asks for.
//   node fixture.mjs <stdio|http> <old|new> [port]
// old: revision 2025-11-25 and its sessions, nothing newer. new: 2026-07-28, nothing older. Over HTTP it prints its URL
// once it listens, and ends with the process that forked it.
import { serveHttp } from './serve-http.mjs';
import { serveStdio } from './serve-stdio.mjs';

const [, , transport, era, port = '0'] = process.argv;

if (!['old', 'new'].includes(era)) usage();
if (transport === 'stdio') await serveStdio(era);
else if (transport === 'http') {
  process.once('disconnect', () => process.exit());
  console.log(await serveHttp(era, Number(port)));
} else usage();

function usage() {
  console.error('usage: fixture.mjs <stdio|http> <old|new> [port]');
  process.exit(2);
}
