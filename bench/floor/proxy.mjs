// What a reverse proxy on node:http costs that knows nothing of MCP: node proxy.mjs <url>; writes its port on a line of
// its own.
import { Agent, createServer, request } from 'node:http';

const { hostname, port } = new URL(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: 1_024 });

const server = createServer((req, res) => {
  const { method, headers, url: path } = req;
  const onward = request({ hostname, port, path, method, headers, agent }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers);
    answer.pipe(res);
  });
  onward.on('error', () => res.destroy());
  res.on('close', () => res.writableFinished || onward.destroy());
  req.pipe(onward);
});
server.keepAliveTimeout = 300_000;
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', 4_096, () => console.log(server.address().port));
