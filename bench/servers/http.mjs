// A tool server over streamable HTTP: node http.mjs [options of echoServer as JSON]. Writes its port on a line of its
// own.
import { overHttp } from './over-http.mjs';

const options = JSON.parse(process.argv[2] ?? '{}');
const server = overHttp(options);
server.listen(options.port ?? 0, '127.0.0.1', 4_096, () => console.log(server.address().port));
process.stdin.resume().on('end', () => process.exit(0));
