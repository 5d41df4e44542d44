// HTTP/1.1 as a load generator needs it: one connection, one request at a time, as little work of its own as can be.
import { connect } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');
const nothing = Buffer.alloc(0);

/** Opens a connection to `http://host:port`. */
export function openWire(url) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let unread = nothing;
  /**
   * What came after `unread` and is not joined to it yet: joining each piece of seven megabytes again takes longer than
   * the hub needs to send them.
   */
  let pieces = [];
  let pieceBytes = 0;
  let waiting;
  let heard;

  function fail(error) {
    const one = waiting;
    waiting = undefined;
    one?.reject(error ?? new Error('connection closed'));
  }
  socket.on('error', fail);
  socket.on('close', () => fail());
  socket.on('data', (chunk) => {
    if (heard) return heard(chunk);
    pieces.push(chunk);
    pieceBytes += chunk.length;
    if (waiting && !(unread.length + pieceBytes < waiting.end)) take();
  });

  function join() {
    if (pieces.length === 0) return;
    unread = unread.length === 0 && pieces.length === 1 ? pieces[0] : Buffer.concat([unread, ...pieces]);
    pieces = [];
    pieceBytes = 0;
  }

  /** Hands the answer on once it is whole. */
  function take() {
    join();
    if (!waiting.head) {
      const end = unread.indexOf(headEnd);
      if (end === -1) return;
      waiting.head = unread.latin1Slice(0, end);
      waiting.bodyAt = end + headEnd.length;
      const length = /\r\ncontent-length: *(\d+)/i.exec(waiting.head);
      waiting.end = length
        ? waiting.bodyAt + Number(length[1])
        : /\r\ntransfer-encoding: *chunked/i.test(waiting.head)
          ? undefined
          : waiting.bodyAt;
    }
    const { head, bodyAt, resolve, stream } = waiting;
    const status = Number(head.slice(9, 12));
    if (stream) {
      const begun = unread.subarray(bodyAt);
      heard = stream;
      waiting = undefined;
      resolve({ status, head, body: '' });
      // Its first piece often comes together with the head.
      if (begun.length > 0) stream(begun);
      return;
    }
    if (waiting.end === undefined) {
      const last = unread.indexOf('\r\n0\r\n\r\n', bodyAt - 2);
      if (last === -1) return;
      const body = unchunked(unread.subarray(bodyAt, last + 2));
      unread = unread.subarray(last + 7);
      waiting = undefined;
      return resolve({ status, head, body });
    }
    if (unread.length < waiting.end) return;
    const body = unread.utf8Slice(bodyAt, waiting.end);
    unread = unread.length === waiting.end ? nothing : unread.subarray(waiting.end);
    waiting = undefined;
    resolve({ status, head, body });
  }

  return {
    socket,
    /**
     * `head`: the lines of the request with `\r\n` after each, without `content-length`. With `stream` it resolves at
     * the head, and `stream` gets every piece of the body.
     */
    ask(head, body = '', stream) {
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject, stream };
        socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
      });
    },
    close: () => socket.destroy(),
  };
}

function unchunked(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = parseInt(bytes.latin1Slice(at, lineEnd), 16);
    text += bytes.utf8Slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 4 + size;
  }
  return text;
}
