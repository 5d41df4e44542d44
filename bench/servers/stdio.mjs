// A tool server over stdio: node stdio.mjs [options of echoServer as JSON]
import { echoServer } from './echo.mjs';

const handle = echoServer(JSON.parse(process.argv[2] ?? '{}'));
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
