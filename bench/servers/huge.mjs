// A tool server over stdio whose results are huge and cost it next to nothing: `huge` with {mb}. One piece is made once
// and written again and again.
import { createInterface } from 'node:readline';

const piece = Buffer.alloc(
  1024 * 1024,
  'a text as long as they come, of which every word is passed on and none is read; ',
);
const list = JSON.stringify({ tools: [{ name: 'huge', inputSchema: { type: 'object' } }] });
let last = Promise.resolve();

async function write(parts) {
  for (const part of parts)
    if (!process.stdout.write(part)) await new Promise((done) => process.stdout.once('drain', done));
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) return;
    const say = (...parts) => {
      last = last.then(() => write([`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`, ...parts, '}\n']));
    };
    if (method === 'initialize')
      say(
        JSON.stringify({
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'huge', version: '1' },
        }),
      );
    else if (method === 'tools/list') say(list);
    else if (method === 'tools/call')
      say('{"content":[{"type":"text","text":"', ...Array(params.arguments.mb).fill(piece), '"}]}');
    else say('{}');
  })
  .on('close', () => process.exit(0));
