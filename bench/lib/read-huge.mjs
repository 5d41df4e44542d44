// A client of huge results, in a process of its own: node read-huge.mjs '{target, tool, mb}'. Told a number it keeps so
// many calls in flight; told 0 it waits for their ends. Answers with how many results it has read.
import { request } from 'node:http';

const { target, tool, mb } = JSON.parse(process.argv[2]);
let wanted = 0;
let inFlight = 0;
let read = 0;

function call() {
  inFlight++;
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: tool, arguments: { mb } },
  });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const outgoing = request(target.url, { method: 'POST', headers: { ...headers, ...target.headers } }, (incoming) => {
    let bytes = 0;
    incoming.on('data', (chunk) => (bytes += chunk.length));
    incoming.on('end', () => {
      if (bytes < mb * 1024 * 1024) throw new Error(`cut to ${bytes}`);
      read++;
      inFlight--;
      if (inFlight < wanted) call();
      else if (inFlight === 0) process.send(read);
    });
  });
  outgoing.end(body);
}

process.on('message', (count) => {
  wanted = count;
  if (count === 0 && inFlight === 0) process.send(read);
  while (inFlight < wanted) call();
});
process.on('disconnect', () => process.exit(0));
