// A tool server over stdio: node stdio.mjs [options of echoServer as JSON, and `flood`: `stderr` or `messages`, which
// it writes as fast as they are read]
import { echoServer } from './echo.mjs';

const options = JSON.parse(process.argv[2] ?? '{}');
const handle = echoServer(options);
let answers = '';
let unread = '';

function say(text) {
  if (answers === '') queueMicrotask(flush);
  answers += `${text}\n`;
}

function flush() {
  process.stdout.write(answers);
  answers = '';
}

process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (unread + chunk).split('\n');
  unread = lines.pop();
  for (const line of lines) if (line !== '') handle(JSON.parse(line), say);
});
process.stdin.on('end', () => process.exit(0));

if (options.flood === 'stderr') flood(process.stderr, `${'so much to say '.repeat(10)}\n`);
if (options.flood === 'messages') {
  const params = { level: 'info', data: 'so much to say '.repeat(10) };
  flood(process.stdout, `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params })}\n`);
}

function flood(stream, line) {
  const lines = line.repeat(50);
  const more = () => stream.write(lines, () => setImmediate(more));
  more();
}
